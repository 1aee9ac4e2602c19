//! Messages from the hub are kept before they are acknowledged, worked on once, and answered.

mod ignored_messages;
mod private_inbox;

use std::time::Duration;

use protocol::chat::conversation::ChatItem;
use protocol::{AppEvent, Mode, NoteDiff, TurnStatus};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};
use testkit::{Gate, Reply, ScriptedModel, TestHub};

use crate::harness::raw_hub::{LinkResponse, RawHub};
use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, settings_without_model, with_hub,
    with_mode,
};

const INBOX: &str = "inbox/Inbox.md";
const NOTES: [(&str, &str); 1] = [("Alpha.md", "# Alpha\n\nThe first line.\n")];

/// The time in which a hub wants its message taken.
const MAX_ACK_TIME: Duration = Duration::from_secs(1);

fn saved_notification(message: &str, title: &str) -> LinkResponse {
    notification(message, title, "Saved to inbox/Inbox.md.", "normal")
}

fn notification(message: &str, title: &str, body: &str, priority: &str) -> LinkResponse {
    LinkResponse {
        message: message.into(),
        kind: "notification".into(),
        payload: json!({ "title": title, "body": body, "priority": priority }),
    }
}

fn acknowledgement(message: &str) -> LinkResponse {
    LinkResponse { message: message.into(), kind: "ack".into(), payload: json!({}) }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_the_message_is_kept_as_it_is_and_the_hub_is_told() {
    let (home, hub) = (TestHome::new(&NOTES), TestHub::start().await);
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    assert_eq!(hub.wait_for_registration().await, "Notes");
    let id = hub.send("remember milk\nand *two* eggs").await;
    let taken = hub.wait_for_ack(&id).await;
    assert!(taken < MAX_ACK_TIME, "acknowledged after {taken:?}");
    let notice = hub.wait_for_notification(&id).await;
    assert_eq!(
        (notice.title.as_str(), notice.body.as_str()),
        ("remember milk", "Saved to inbox/Inbox.md.")
    );
    assert_eq!(home.notes.read(INBOX), "- remember milk\n  and *two* eggs\n");
    let view = running.view(&running.only_conversation().await).await;
    assert!(view.conversation.from_hub, "{:?}", view.conversation);
    running.quit().await;
}

/// Lets the database refuse new turns under a condition, as a full disk may.
async fn refuse_turns(home: &TestHome, condition: &str) {
    let refusal = format!(
        "CREATE TRIGGER no_turn BEFORE INSERT ON turn WHEN {condition}
         BEGIN SELECT RAISE(ABORT, 'full'); END"
    );
    change_database(home, refusal).await;
}

async fn take_turns_again(home: &TestHome) {
    change_database(home, "DROP TRIGGER no_turn".to_owned()).await;
}

pub(crate) async fn change_database(home: &TestHome, statement: String) {
    let options = SqliteConnectOptions::new().filename(home.database_path());
    let mut database = SqliteConnection::connect_with(&options).await.expect("a database");
    sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&mut database).await.expect("changed");
    database.close().await.expect("closed");
}

async fn wait_for_problem(running: &RunningApp) {
    let is_problem = |event: &AppEvent| matches!(event, AppEvent::Problem { .. }).then_some(());
    running.wait_for_event("a problem", is_problem).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_turn_cannot_be_stored_is_worked_on_when_it_can() {
    let (home, hub) = (TestHome::new(&NOTES), TestHub::start().await);
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    hub.wait_for_registration().await;
    refuse_turns(&home, "true").await;
    let first = hub.send("remember milk").await;
    hub.wait_for_ack(&first).await;
    wait_for_problem(&running).await;
    take_turns_again(&home).await;
    // The next message wakes the loop, which tries again after a while without one.
    let second = hub.send("remember eggs").await;
    for id in [&first, &second] {
        assert_eq!(hub.wait_for_notification(id).await.body, "Saved to inbox/Inbox.md.");
    }
    assert_eq!(home.notes.read(INBOX), "- remember milk\n- remember eggs\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_second_turn_cannot_be_stored_is_worked_on_when_it_can() {
    let answers = [Reply::status(400, "no"), Reply::text("Noted."), Reply::text("Noted too.")];
    let model = ScriptedModel::start(answers.into()).await;
    let (home, hub) = (home_with_key(&NOTES), TestHub::start().await);
    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    hub.wait_for_registration().await;
    refuse_turns(&home, "(SELECT max(attempts) FROM inbox) > 0").await;
    let first = hub.send("remember milk").await;
    wait_for_problem(&running).await;
    take_turns_again(&home).await;
    let second = hub.send("what is new?").await;
    for id in [&first, &second] {
        hub.wait_for_notification(id).await;
    }
    // The model did nothing about either.
    assert_eq!(home.notes.read(INBOX), "- remember milk\n- what is new?\n");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_lands_in_the_inbox_note_that_the_user_chose() {
    for (inbox_note, lands_in, stays_away) in
        [("Journal/In.md", "Journal/In.md", INBOX), ("", INBOX, "Journal/In.md")]
    {
        let notes = [("Journal/Today.md", "# Today\n")];
        let (home, hub) = (TestHome::new(&notes), TestHub::start().await);
        let mut settings = with_hub(settings_without_model(), &hub.url());
        settings.hub.inbox_note = inbox_note.to_owned();
        let running = home.open(settings).await;
        hub.wait_for_registration().await;
        let id = hub.send("remember milk").await;
        let notice = hub.wait_for_notification(&id).await;
        assert_eq!(notice.body, format!("Saved to {lands_in}."));
        running.quit().await;
        assert_eq!(home.notes.read(lands_in), "- remember milk\n");
        assert_eq!(home.notes.try_read(stays_away), None, "{inbox_note}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_lands_in_an_inbox_note_at_the_top_although_other_notes_have_its_name() {
    let others = [("Work/Inbox.md", "# Work\n"), ("Diary/Inbox.md", "# Diary\n")];
    for others in [&others[..1], &others[..]] {
        let (home, hub) = (TestHome::new(others), TestHub::start().await);
        let mut settings = with_hub(settings_without_model(), &hub.url());
        settings.hub.inbox_note = "Inbox.md".to_owned();
        let running = home.open(settings).await;
        hub.wait_for_registration().await;
        for words in ["remember milk", "remember eggs"] {
            let id = hub.send(words).await;
            assert_eq!(hub.wait_for_notification(&id).await.body, "Saved to Inbox.md.");
        }
        running.quit().await;
        assert_eq!(home.notes.read("Inbox.md"), "- remember milk\n- remember eggs\n");
        for (path, text) in others {
            assert_eq!(home.notes.read(path), *text, "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inbox_note_with_a_name_of_the_daily_note_is_created() {
    let (home, hub) = (TestHome::new(&NOTES), TestHub::start().await);
    let mut settings = with_hub(settings_without_model(), &hub.url());
    settings.hub.inbox_note = "Daily note.md".to_owned();
    let running = home.open(settings).await;
    hub.wait_for_registration().await;
    let id = hub.send("remember milk").await;
    assert_eq!(hub.wait_for_notification(&id).await.body, "Saved to Daily note.md.");
    running.quit().await;
    assert_eq!(home.notes.read("Daily note.md"), "- remember milk\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_works_with_its_tools_and_its_answer_reaches_the_hub() {
    let append = json!({ "path": INBOX, "content": "- milk, two litres" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![
            ("append_file", append),
            ("send_message", json!({ "message": "Milk is on the list." })),
        ]),
        Reply::text("Milk is on the list."),
    ])
    .await;
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    assert_eq!(line.next_response().await, acknowledgement("m-1"));
    // It does not repeat what it has said.
    assert_eq!(
        line.next_response().await,
        notification("m-1", "remember milk", "Milk is on the list.", "normal")
    );
    assert_eq!(home.notes.read(INBOX), "- milk, two litres\n");
    line.deliver("m-2", "x").await;
    assert_eq!(
        line.next_response().await,
        acknowledgement("m-2"),
        "no second notification stands before it"
    );
    let request = model.wait_for_request(1).await;
    let system = request["system"].to_string();
    assert!(system.contains("through their message hub"), "{system}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hub_adds_in_the_inbox_and_everything_else_needs_the_user() {
    let edit = json!({ "path": "Alpha.md", "old_text": "first", "new_text": "FIRST" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![
            ("append_file", json!({ "path": INBOX, "content": "- here" })),
            ("append_file", json!({ "path": "Elsewhere.md", "content": "there" })),
            ("edit_file", edit),
        ]),
        Reply::text("Look at it."),
    ])
    .await;
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let settings = with_mode(with_hub(settings_with_model(&model), &hub.url()), Mode::Auto);
    let running = home.open(settings).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "change Alpha.md and [[Elsewhere]]").await;
    assert_eq!(line.next_response().await, acknowledgement("m-1"));
    // That there was something to edit in Alpha.md is not the hub's to know.
    let held = line.next_response().await.payload;
    assert_eq!(held["body"], "An answer needs your approval in Vaultmate.");
    assert_eq!(home.notes.read(INBOX), "- here\n");
    assert_eq!(home.notes.try_read("Elsewhere.md"), None);
    assert_eq!(home.notes.read("Alpha.md"), NOTES[0].1);
    let conversation = running.only_conversation().await;
    assert_eq!(running.pending_paths(&conversation).await, ["Elsewhere.md", "Alpha.md"]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_comes_twice_is_acknowledged_twice_and_worked_on_once() {
    // Q-sequence-01
    let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    assert_eq!(line.next_response().await, acknowledgement("m-1"));
    assert_eq!(line.next_response().await, saved_notification("m-1", "remember milk"));
    line.deliver("m-1", "remember milk").await;
    assert_eq!(line.next_response().await, acknowledgement("m-1"));
    line.deliver("m-2", "and bread").await;
    assert_eq!(line.next_response().await, acknowledgement("m-2"));
    assert_eq!(
        line.next_response().await,
        saved_notification("m-2", "and bread"),
        "nothing more about m-1"
    );
    assert_eq!(home.notes.read(INBOX), "- remember milk\n- and bread\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_waits_for_the_hub_that_was_away_and_for_a_restart_of_ours() {
    // Q-sequence-23
    let gate = Gate::closed();
    let model = ScriptedModel::start(vec![Reply::text("It leaves at nine.").gated(&gate)]).await;
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let settings = with_hub(settings_with_model(&model), &hub.url());
    let running = home.open(settings.clone()).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "when does the ferry leave").await;
    assert_eq!(line.next_response().await, acknowledgement("m-1"));
    gate.wait_until_reached(1).await;
    drop(line);
    running
        .wait_for_event("the loss", |event| match event {
            AppEvent::HubChanged { hub } => hub.trouble.clone(),
            _ => None,
        })
        .await;
    gate.open();
    running.app.wait_until_idle(&running.only_conversation().await).await.expect("idle");
    running.quit().await;

    let running = home.open(settings).await;
    let mut line = hub.accept().await;
    let told = notification("m-1", "when does the ferry leave", "It leaves at nine.", "normal");
    assert_eq!(line.next_response().await, told);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_goes_out_when_the_link_reconnects_automatically() {
    let gate = Gate::closed();
    let model = ScriptedModel::start(vec![Reply::text("It leaves at nine.").gated(&gate)]).await;
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "when does the ferry leave").await;
    assert_eq!(line.next_response().await, acknowledgement("m-1"));
    gate.wait_until_reached(1).await;
    drop(line);
    gate.open();
    running.app.wait_until_idle(&running.only_conversation().await).await.expect("idle");
    let mut line = hub.accept().await;
    let told = notification("m-1", "when does the ferry leave", "It leaves at nine.", "normal");
    assert_eq!(line.next_response().await, told);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_model_fails_the_message_is_kept_as_it_is() {
    let model = ScriptedModel::start(Vec::new()).await;
    let home = TestHome::new(&NOTES).with_key("not-a-key");
    let hub = RawHub::bind().await;
    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    assert_eq!(line.next_response().await, acknowledgement("m-1"));
    assert_eq!(line.next_response().await, saved_notification("m-1", "remember milk"));
    assert_eq!(home.notes.read(INBOX), "- remember milk\n");
    assert_eq!(model.refused_key_count(), 1, "the model was asked first, and once");
    let conversation = running.only_conversation().await;
    let items = running.view(&conversation).await.items;
    let words = items.iter().filter(|item| matches!(item, ChatItem::User { .. }));
    assert_eq!(words.count(), 1, "the words stand once, however often they are tried: {items:?}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_was_stored_and_not_yet_acknowledged_is_worked_on_once_after_a_kill() {
    // Q-sequence-03
    let (home, hub) = (TestHome::new(&NOTES), RawHub::bind().await);
    let url = [("VAULTMATE_HUB_URL", hub.url())];
    let mut killed = home.spawn_story_killed_at("store.inbox_insert.after", "listen", &url);
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    killed.wait().await.expect("it kills itself");
    drop(line);
    assert_eq!(home.notes.try_read(INBOX), None);

    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let mut line = hub.accept().await;
    assert_eq!(line.next_response().await, saved_notification("m-1", "remember milk"));
    // The hub, which saw no acknowledgement, sends it again.
    line.deliver("m-1", "remember milk").await;
    assert_eq!(line.next_response().await, acknowledgement("m-1"));
    line.deliver("m-2", "and bread").await;
    assert_eq!(line.next_response().await, acknowledgement("m-2"));
    assert_eq!(line.next_response().await, saved_notification("m-2", "and bread"));
    assert_eq!(home.notes.read(INBOX), "- remember milk\n- and bread\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_message_is_told_as_stopped_and_not_begun_again() {
    let model = ScriptedModel::start(vec![Reply::hang()]).await;
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let settings = with_hub(settings_with_model(&model), &hub.url());
    let running = home.open(settings.clone()).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "do something long").await;
    assert_eq!(line.next_response().await, acknowledgement("m-1"));
    model.wait_for_request(1).await;
    let conversation = running.only_conversation().await;
    running.app.stop(&conversation).await.expect("a vault is open");
    let stopped = notification("m-1", "do something long", "Stopped before it was done.", "normal");
    assert_eq!(line.next_response().await, stopped);
    assert_eq!(turn_status(&running, &conversation).await, Some(TurnStatus::Cancelled));
    model.wait_for_disconnects(1).await;
    running.quit().await;
    drop(line);

    let running = home.open(settings).await;
    let _line = hub.accept().await;
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert_eq!(model.requests().len(), 1);
    running.quit().await;
    model.finish();
}

async fn turn_status(
    app: &RunningApp,
    conversation: &protocol::ConversationId,
) -> Option<TurnStatus> {
    let items = app.view(conversation).await.items;
    items.iter().rev().find_map(|item| match item {
        ChatItem::Ended { status, .. } => Some(*status),
        _ => None,
    })
}

/// A hub message after which a model plans this call, and then one about which it does nothing.
async fn capture_after_pending(tool: &'static str, call: Value) -> (String, NoteDiff) {
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![(tool, call)]),
        Reply::text("It needs your review."),
        Reply::text("Always remember to buy oat milk."),
    ])
    .await;
    let home = home_with_key(&[NOTES[0], (INBOX, "# Inbox\n\n- tea\n")]);
    let hub = RawHub::bind().await;
    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    for (id, words) in [("m-1", "tidy the inbox up"), ("m-2", "remember oat milk")] {
        line.deliver(id, words).await;
        assert_eq!(line.next_response().await, acknowledgement(id));
        assert_eq!(line.next_response().await.kind, "notification");
    }
    let conversation = running.only_conversation().await;
    running.app.wait_until_idle(&conversation).await.expect("a vault is open");
    let saved = home.notes.read(INBOX);
    assert_eq!(saved, "# Inbox\n\n- tea\n- remember oat milk\n", "before anything is decided");
    let mut review = running.view(&conversation).await.review.expect("it still waits");
    let accepted = running.decide(&conversation, &[INBOX], &[]).await;
    let note = review.notes.remove(0);
    assert_eq!(accepted.is_ok(), note.problem.is_none(), "{accepted:?}");
    let inbox = home.notes.read(INBOX);
    running.quit().await;
    model.finish();
    (inbox, note)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capture_is_saved_although_a_deletion_of_the_inbox_note_is_pending() {
    let call = json!({ "path": INBOX });
    let (inbox, note) = capture_after_pending("delete_file", call).await;
    assert_eq!(inbox, "# Inbox\n\n- tea\n- remember oat milk\n");
    let problem = note.problem.expect("told in the review");
    assert!(problem.starts_with("A hub message was added to this note since."), "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capture_is_saved_and_a_pending_edit_of_the_inbox_note_is_rebased() {
    let call = json!({ "path": INBOX, "old_text": "# Inbox", "new_text": "# In" });
    let (inbox, note) = capture_after_pending("edit_file", call).await;
    assert_eq!((inbox.as_str(), note.problem), ("# In\n\n- tea\n- remember oat milk\n", None));
}
