//! The order in which things come over the hub, and the moments at which they are cut.
//! `Q-sequence-…` are the scenarios by their ids; those about clocks, pings and frames alone are in
//! `crates/hub`, those about duplicates after an acknowledgement, kills after the insert (-01, -03)
//! and a link that is down (-23) in `inbox.rs`.

use std::time::Duration;

use app::TimeScale;
use protocol::hub::approval::{ApprovalDecision, ApprovalReason};
use protocol::{AppEvent, ErrorCode, HubState, Settings};
use testkit::{Gate, Reply, ScriptedModel};

use crate::harness::raw_hub::{LinkResponse, RawHub, RawHubLink};
use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, settings_without_model, with_hub,
};

const INBOX: &str = "inbox/Inbox.md";
const NOTES: [(&str, &str); 1] = [("Alpha.md", "# Alpha\n")];

/// Skips to the acknowledgement of a message; answers what came before it.
async fn skip_to_ack(line: &mut RawHubLink, message: &str) -> Vec<LinkResponse> {
    let mut before = Vec::new();
    loop {
        let answer = line.next_response().await;
        if answer.message == message && answer.kind == "ack" {
            return before;
        }
        before.push(answer);
    }
}

/// Skips to the notification of a message, and returns its text.
async fn skip_to_notification(line: &mut RawHubLink, message: &str) -> String {
    loop {
        let answer = line.next_response().await;
        if answer.message == message && answer.kind == "notification" {
            return answer.payload["body"].as_str().unwrap_or_default().to_owned();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_line_was_cut_before_its_acknowledgement_is_worked_on_once() {
    // Q-sequence-02
    let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    drop(line);
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    line.deliver("m-2", "and bread").await;
    let before = skip_to_ack(&mut line, "m-2").await;
    assert!(before.iter().any(|answer| answer.message == "m-1" && answer.kind == "ack"));
    skip_to_notification(&mut line, "m-2").await;
    assert_eq!(home.notes.read(INBOX), "- remember milk\n- and bread\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_stored_was_not_acknowledged_and_comes_again() {
    // Q-sequence-04
    let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
    let url = [("VAULTMATE_HUB_URL", hub.url())];
    let mut killed = home.spawn_story_killed_at("store.inbox_insert.before", "listen", &url);
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    killed.wait().await.expect("it kills itself");
    assert_eq!(line.remaining_responses().await, [], "nothing is answered before it is stored");
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    assert_eq!(skip_to_ack(&mut line, "m-1").await, []);
    skip_to_notification(&mut line, "m-1").await;
    assert_eq!(home.notes.read(INBOX), "- remember milk\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_was_cut_in_its_change_has_one_effect_and_is_told() {
    // Q-sequence-05
    for point in ["store.intend.before", "store.intend.after", "store.settle.before"] {
        let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
        let url = [("VAULTMATE_HUB_URL", hub.url())];
        let mut killed = home.spawn_story_killed_at(point, "listen", &url);
        let mut line = hub.accept().await;
        line.deliver("m-1", "remember milk").await;
        killed.wait().await.expect("it kills itself");
        drop(line);
        let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
        let mut line = hub.accept().await;
        let told = skip_to_notification(&mut line, "m-1").await;
        assert!(told.contains("Inbox"), "{point}: {told}");
        assert_eq!(home.notes.read(INBOX), "- remember milk\n", "{point}");
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_messages_with_one_id_the_first_wins_and_the_order_of_others_is_theirs() {
    // Q-sequence-06 and -07
    let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let mut line = hub.accept().await;
    for (id, text) in [("m-2", "first"), ("m-2", "other words"), ("m-1", "second")] {
        line.deliver(id, text).await;
    }
    let mut answers = Vec::new();
    while !answers.iter().any(|(id, kind)| id == "m-1" && kind == "notification") {
        let answer = line.next_response().await;
        answers.push((answer.message, answer.kind));
    }
    assert_eq!(home.notes.read(INBOX), "- first\n- second\n");
    // The hub hears that the other words were not taken.
    let count = |kind: &str| answers.iter().filter(|(id, is)| id == "m-2" && is == kind).count();
    assert_eq!((count("ack"), count("reject")), (1, 1), "{answers:?}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_comes_while_we_end_is_kept_or_not_acknowledged() {
    // Q-sequence-25
    let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
    let settings = with_hub(settings_without_model(), &hub.url());
    let mut acknowledged = Vec::new();
    for number in 0..4 {
        let running = home.open(settings.clone()).await;
        let mut line = hub.accept().await;
        let id = format!("m-{number}");
        line.deliver(&id, &format!("word {number}")).await;
        if number % 2 == 1 {
            // An answer to an earlier message may come first.
            skip_to_ack(&mut line, &id).await;
            acknowledged.push(id.clone());
        }
        running.quit().await;
        let is_acked = |answer: &LinkResponse| answer.message == id && answer.kind == "ack";
        acknowledged
            .extend(line.remaining_responses().await.iter().any(is_acked).then(|| id.clone()));
    }
    let running = home.open(settings).await;
    let mut line = hub.accept().await;
    line.deliver("last", "the last").await;
    skip_to_notification(&mut line, "last").await;
    let inbox = home.notes.read(INBOX);
    assert!(acknowledged.len() >= 2, "the control: {acknowledged:?}");
    for id in acknowledged {
        let word = id.replace("m-", "- word ");
        assert_eq!(inbox.matches(&word).count(), 1, "{id} was acknowledged: {inbox}");
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_application_is_refused_the_vault_and_its_hub_name() {
    // Q-sequence-26
    let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
    let settings = with_hub(settings_without_model(), &hub.url());
    let running = home.open(settings.clone()).await;
    let mut line = hub.accept().await;
    let second = home.start(settings).await;
    let refused = second.app.open_vault(home.notes.root()).await.expect_err("it is held");
    assert_eq!(refused.code, ErrorCode::Busy, "{refused}");
    second.quit().await;
    line.deliver("m-1", "remember milk").await;
    assert_eq!(skip_to_ack(&mut line, "m-1").await, [], "the first goes on");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_is_switched_off_in_the_middle_of_a_message_leaves_nothing_behind() {
    // Q-sequence-27
    let gate = Gate::closed();
    let model = ScriptedModel::start(vec![Reply::text("It leaves at nine.").gated(&gate)]).await;
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let settings = with_hub(settings_with_model(&model), &hub.url());
    let running = home.open(settings.clone()).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "when does the ferry leave").await;
    assert_eq!(skip_to_ack(&mut line, "m-1").await, []);
    gate.wait_until_reached(1).await;
    let off = Settings { hub: protocol::settings::HubSettings::default(), ..settings.clone() };
    running.app.save_settings(off).await.expect("saved");
    assert_eq!(line.remaining_responses().await, [], "it leaves at once");
    gate.open();
    let conversation = running.only_conversation().await;
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert!(!running.view(&conversation).await.conversation.working);
    running.app.save_settings(settings).await.expect("saved");
    let mut line = hub.accept().await;
    assert_eq!(skip_to_notification(&mut line, "m-1").await, "It leaves at nine.");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_kept_as_it_is_after_a_model_has_failed_on_it_three_times() {
    let model = ScriptedModel::responder(|_| Reply::status(500, "not today")).await;
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let settings = with_hub(settings_with_model(&model), &hub.url());
    let running = home.open_with_time_scale(settings, TimeScale::divided_by(50)).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    assert_eq!(skip_to_ack(&mut line, "m-1").await, []);
    assert_eq!(skip_to_notification(&mut line, "m-1").await, "Saved to inbox/Inbox.md.");
    assert_eq!(home.notes.read(INBOX), "- remember milk\n");
    assert_eq!(model.requests().len(), 9, "three turns, each of three attempts");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_cannot_even_be_kept_needs_the_user_and_is_tried_again() {
    let no_note = [("inbox/Inbox.md/a.md", "A folder stands where the note should be.\n")];
    let (home, hub) = (TestHome::new(&no_note), RawHub::bind().await);
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    assert_eq!(skip_to_ack(&mut line, "m-1").await, []);
    let told = skip_to_notification(&mut line, "m-1").await;
    assert_eq!(told, "Not saved. Open Vaultmate to see why.");
    let view = pending_approvals(&running).await;
    let conversation = running.only_conversation().await;
    assert_eq!(view.len(), 1, "{view:?}");
    assert!(
        matches!(&view[0].why, ApprovalReason::Failed { error } if !error.is_empty()),
        "{view:?}"
    );
    assert_eq!(view[0].text, "remember milk");
    assert_eq!(running.view(&conversation).await.conversation.held, 1);
    std::fs::remove_dir_all(home.notes.root().join(INBOX)).expect("it is there");
    running.app.decide_approval(view[0].number, ApprovalDecision::Send).await.expect("tried again");
    assert_eq!(skip_to_notification(&mut line, "m-1").await, "Saved to inbox/Inbox.md.");
    assert_eq!(home.notes.read(INBOX), "- remember milk\n");
    assert_eq!(running.view(&conversation).await.held, []);
    running.quit().await;
}

/// The pending approvals that the window is told.
async fn pending_approvals(app: &RunningApp) -> Vec<protocol::hub::approval::PendingApproval> {
    app.wait_for_event("the approvals", |event| match event {
        AppEvent::HeldChanged { held, .. } if !held.is_empty() => Some(held.clone()),
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_are_ignored_are_counted_where_the_user_looks_and_a_wait_says_its_end() {
    let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let mut line = hub.accept().await;
    for id in ["", "a\nb"] {
        line.deliver(id, "remember milk").await;
    }
    running
        .wait_for_event("the count", |event| match event {
            AppEvent::HubChanged { hub } => (hub.ignored == 2).then_some(()),
            _ => None,
        })
        .await;
    drop(line);
    let retry_at = running
        .wait_for_event("the wait", |event| match event {
            AppEvent::HubChanged { hub } if hub.state == HubState::Waiting => hub.retry_at,
            _ => None,
        })
        .await;
    let now = jiff::Timestamp::now().as_millisecond();
    let ahead = Duration::from_millis(retry_at.0.abs_diff(now));
    assert!(ahead < Duration::from_secs(60), "{ahead:?}");
    running.quit().await;
}
