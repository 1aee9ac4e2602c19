//! More messages than anybody can work on: what fits is kept, the rest is told that we are busy.
//! `Q-sequence-…` are the scenarios by their ids; a thousand that are worked off to their results are
//! in `soak`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use app::Pace;
use protocol::AppEvent;
use protocol::shelf::{ListConversations, Shelf};
use testkit::{Reply, ScriptedModel};

use crate::bare_hub::{Answered, BareHub};
use crate::stage::{Home, Running, asking, keyed, linked, without_model};

/// As many as may wait.
const QUEUE: usize = 1_000;

/// Turns that run at once.
const RUNNING: usize = 2;

/// A window that asks is answered in so long, beside the flood.
const LIVE: Duration = Duration::from_secs(1);

/// After so many messages it asks again.
const LOOKED: usize = 500;

/// What a window waits for its list.
async fn asked(running: &Running) -> Duration {
    let list = ListConversations { shelf: Shelf::Open, before: None };
    let began = Instant::now();
    running.app.list_conversations(&list).await.expect("a list");
    began.elapsed()
}

/// Says so many things in one go, to an application whose model does not answer.
async fn flood(count: usize) {
    let model = ScriptedModel::start(vec![Reply::hang(), Reply::hang(), Reply::hang()]).await;
    let (home, hub) = (keyed(&[]), BareHub::bind().await);
    let running = home.open(linked(asking(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    let mut slowest = Duration::ZERO;
    for number in 0..count {
        line.say(&format!("m-{number}"), &format!("remember {number}")).await;
        if number.is_multiple_of(LOOKED) {
            slowest = slowest.max(asked(&running).await);
        }
    }
    // Who was told what: each once, and of what is kept that it is.
    let mut told: BTreeMap<String, Answered> = BTreeMap::new();
    while told.len() < count {
        let answer = line.answer().await;
        let twice = told.insert(answer.message.clone(), answer);
        assert_eq!(twice, None, "each is answered once");
    }
    assert!(slowest < LIVE, "the window waited {slowest:?}");
    for (number, kind) in
        (0..count).map(|number| (number, if number < QUEUE { "ack" } else { "reject" }))
    {
        let answer = &told[&format!("m-{number}")];
        assert_eq!(answer.kind, kind, "{answer:?}");
        let reason = answer.payload["reason"].as_str();
        assert_eq!(reason.is_some_and(|why| why.starts_with("Busy: ")), number >= QUEUE);
    }
    model.request(1).await;
    assert!(model.requests().len() <= RUNNING, "{} turns run", model.requests().len());
    running.quit().await;
}

/// A hub takes answers to so many of its last messages.
const REMEMBERED: usize = 100;

/// The problem that the window is told when the hub may not show answers.
fn unshown(event: &AppEvent) -> Option<String> {
    match event {
        AppEvent::Problem { error } if error.message.contains("may not show") => {
            Some(error.message.clone())
        }
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_the_hub_shows_no_more_are_told_once_and_together() {
    const MORE: usize = 30;
    let (home, hub) = (Home::new(&[]), BareHub::bind().await);
    let settings = linked(without_model(), &hub.url());
    let running = home.open_at(settings, Pace::divided_by(100)).await;
    let mut line = hub.accept().await;
    let count = REMEMBERED + MORE;
    for number in 0..count {
        line.say(&format!("m-{number}"), &format!("remember {number}")).await;
    }
    let mut answered = 0;
    while answered < count {
        answered += usize::from(line.answer().await.kind == "notification");
    }
    running.hears("that answers are not shown", unshown).await;
    let told = running.heard_so_far(unshown);
    let [told] = told.as_slice() else { panic!("told {} times: {told:#?}", told.len()) };
    assert!(told.contains(&format!("may not show {MORE} answers")), "{told}");

    // Later answers are shown, so no problem is told.
    line.say("m-late", "remember the late one").await;
    while line.answer().await.kind != "notification" {}
    assert_eq!(running.heard_so_far(unshown).len(), 1);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_thousand_at_once_a_thousand_are_kept_and_the_others_are_told_to_try_again() {
    // Q-sequence-08
    flood(10_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_thousand_none_is_lost_without_a_word() {
    // Q-sequence-09
    flood(100_000).await;
}
