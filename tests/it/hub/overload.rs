//! More messages than anybody can work on: what fits is kept, the rest is told that we are busy.
//! `Q-sequence-…` are the scenarios by their ids; a thousand that are worked off to their results are
//! in `soak`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use app::TimeScale;
use protocol::AppEvent;
use protocol::chat::conversation_list::{ArchiveState, ListConversations};
use testkit::{Reply, ScriptedModel};

use crate::harness::raw_hub::{LinkResponse, RawHub, RawHubLink};
use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, settings_without_model, with_hub,
};

/// As many as may wait.
const QUEUE_CAPACITY: usize = 1_000;

/// Turns that run at once.
const PARALLEL_TURNS: usize = 2;

/// A window that asks is answered in so long, beside the flood.
const MAX_QUERY_TIME: Duration = Duration::from_secs(1);

/// After so many messages it asks again.
const MESSAGES_PER_QUERY: usize = 500;

/// How long a window waits for its list.
async fn time_query(app: &RunningApp) -> Duration {
    let list = ListConversations { archive_state: ArchiveState::Open, before: None };
    let began = Instant::now();
    app.app.list_conversations(&list).await.expect("a list");
    began.elapsed()
}

/// Says so many things in one go, to an application whose model does not answer.
async fn send_at_once(count: usize) {
    let model = ScriptedModel::start(vec![Reply::hang(), Reply::hang(), Reply::hang()]).await;
    let (home, hub) = (home_with_key(&[]), RawHub::bind().await);
    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    let mut slowest = Duration::ZERO;
    for number in 0..count {
        line.deliver(&format!("m-{number}"), &format!("remember {number}")).await;
        if number.is_multiple_of(MESSAGES_PER_QUERY) {
            slowest = slowest.max(time_query(&running).await);
        }
    }
    // The responses: one for each message, and for each stored message that it is.
    let mut told: BTreeMap<String, LinkResponse> = BTreeMap::new();
    while told.len() < count {
        let answer = line.next_response().await;
        let twice = told.insert(answer.message.clone(), answer);
        assert_eq!(twice, None, "each is answered once");
    }
    assert!(slowest < MAX_QUERY_TIME, "the window waited {slowest:?}");
    for (number, kind) in
        (0..count).map(|number| (number, if number < QUEUE_CAPACITY { "ack" } else { "reject" }))
    {
        let answer = &told[&format!("m-{number}")];
        assert_eq!(answer.kind, kind, "{answer:?}");
        let reason = answer.payload["reason"].as_str();
        assert_eq!(reason.is_some_and(|why| why.starts_with("Busy: ")), number >= QUEUE_CAPACITY);
    }
    model.wait_for_request(1).await;
    assert!(model.requests().len() <= PARALLEL_TURNS, "{} turns run", model.requests().len());
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

/// Sends so many messages, whose ids have their numbers.
async fn deliver_all(line: &mut RawHubLink, count: usize) {
    for number in 0..count {
        line.deliver(&format!("m-{number}"), &format!("remember {number}")).await;
    }
}

/// The number of the message that a notification answers; `None` where the response is none.
fn answered_number(response: &LinkResponse) -> Option<usize> {
    let number = response.message.strip_prefix("m-").filter(|_| response.kind == "notification")?;
    Some(number.parse().expect("a number"))
}

/// The number of the message that the next notification answers.
async fn next_answered(line: &mut RawHubLink) -> usize {
    loop {
        if let Some(number) = answered_number(&line.next_response().await) {
            return number;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_the_hub_shows_no_more_are_told_once_and_together() {
    const MORE: usize = 30;
    let (home, hub) = (TestHome::new(&[]), RawHub::bind().await);
    let settings = with_hub(settings_without_model(), &hub.url());
    let running = home.open_with_time_scale(settings, TimeScale::divided_by(100)).await;
    let mut line = hub.accept().await;
    let count = REMEMBERED + MORE;
    deliver_all(&mut line, count).await;
    let mut answered = Vec::new();
    while answered.len() < count {
        answered.push(next_answered(&mut line).await);
    }
    let each_once: BTreeSet<usize> = answered.iter().copied().collect();
    assert_eq!(each_once.len(), count, "{answered:?}");
    // Answers come while others go out, so only the order of those behind the newest one is certain: all is worked
    // on by then.
    let newest = answered.iter().position(|number| *number == count - 1).expect("it is answered");
    assert!(answered[newest..].is_sorted_by(|one, next| one > next), "{answered:?}");
    running.wait_for_event("that answers are not shown", unshown).await;
    let told = running.heard_so_far(unshown);
    let [told] = told.as_slice() else { panic!("told {} times: {told:#?}", told.len()) };
    assert!(told.contains(&format!("may not show {MORE} answers")), "{told}");

    // Later answers are shown, so no problem is told.
    line.deliver("m-late", "remember the late one").await;
    while line.next_response().await.kind != "notification" {}
    assert_eq!(running.heard_so_far(unshown).len(), 1);
    running.quit().await;
}

/// The numbers of so many messages in the order in which they are answered by an application that worked on all of
/// them while its link was switched off. The first may be one that was under way.
async fn answered_after_pause(count: usize) -> Vec<usize> {
    let (home, hub) = (TestHome::new(&[]), RawHub::bind().await);
    let settings = with_hub(settings_without_model(), &hub.url());
    let running = home.open_with_time_scale(settings, TimeScale::divided_by(100)).await;
    let mut line = hub.accept().await;
    deliver_all(&mut line, count).await;
    let mut left: BTreeSet<usize> = (0..count).collect();
    let mut acknowledged = 0;
    while acknowledged < count {
        let response = line.next_response().await;
        acknowledged += usize::from(response.kind == "ack");
        if let Some(number) = answered_number(&response) {
            left.remove(&number);
        }
    }
    running.app.change_settings(|settings| settings.hub.enabled = false).await.expect("saved");
    for response in line.remaining_responses().await {
        if let Some(number) = answered_number(&response) {
            left.remove(&number);
        }
    }
    for number in 0..count {
        home.notes.wait_for("inbox/Inbox.md", &format!("- remember {number}\n")).await;
    }
    running.app.wait_until_idle(&running.only_conversation().await).await.expect("idle");

    running.app.change_settings(|settings| settings.hub.enabled = true).await.expect("saved");
    let mut line = hub.accept().await;
    let mut answered = Vec::new();
    while !left.is_empty() {
        let number = next_answered(&mut line).await;
        left.remove(&number);
        answered.push(number);
    }
    running.quit().await;
    answered
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_answers_go_first_once_the_hub_is_about_to_drop_their_messages() {
    let answered = answered_after_pause(REMEMBERED + 30).await;
    let (_, rest) = answered.split_first().expect("some were answered after it");
    assert!(rest.len() > REMEMBERED / 2, "too few waited: {answered:?}");
    assert!(rest.is_sorted_by(|one, next| one > next), "{answered:?}");

    // The control: of so few messages the hub drops none soon, so the oldest goes first.
    let answered = answered_after_pause(REMEMBERED / 2).await;
    let (_, rest) = answered.split_first().expect("some were answered after it");
    assert!(rest.len() > REMEMBERED / 4, "too few waited: {answered:?}");
    assert!(rest.is_sorted_by(|one, next| one < next), "{answered:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_thousand_at_once_a_thousand_are_kept_and_the_others_are_told_to_try_again() {
    // Q-sequence-08
    send_at_once(10_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_thousand_none_is_lost_silently() {
    // Q-sequence-09
    send_at_once(100_000).await;
}
