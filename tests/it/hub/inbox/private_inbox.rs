//! Messages are kept in an inbox note that the model may not see, and it is told nothing of that note.

use protocol::Settings;
use protocol::settings::PrivateSettings;
use serde_json::json;
use testkit::scripted_model::tool_results;
use testkit::{Gate, Reply, ScriptedModel};

use super::{INBOX, NOTES, acknowledgement};
use crate::harness::raw_hub::{LinkResponse, RawHub, RawHubLink};
use crate::harness::test_app::{TestHome, home_with_key, settings_with_model, with_hub};

/// A rule for notes that only models on this computer may see, and the inbox note that it covers, if there is one.
const PRIVATE_INBOXES: [(&str, Option<&str>); 3] =
    [("inbox/", Some("- a zeppelin\n")), ("inbox/", None), ("#home", Some("- a zeppelin #home\n"))];

fn home_with_inbox(inbox: Option<&str>) -> TestHome {
    let home = home_with_key(&NOTES);
    if let Some(text) = inbox {
        home.notes.write(INBOX, text);
    }
    home
}

/// Settings with a model on another computer.
fn settings(model: &ScriptedModel, hub: &RawHub, rule: &str) -> Settings {
    let private = PrivateSettings { local: vec![rule.to_owned()], ..PrivateSettings::default() };
    Settings { private, ..with_hub(settings_with_model(model), &hub.url()) }
}

/// Delivers a message that is answered so and then saved.
async fn deliver_and_hear(line: &mut RawHubLink, id: &str, message: &str, answer: &str) {
    line.deliver(id, message).await;
    assert_eq!(next_about(line, id).await, acknowledgement(id));
    for body in [answer, "Saved to inbox/Inbox.md."] {
        assert_eq!(next_about(line, id).await.payload["body"], body, "{message}");
    }
}

/// The next response to the message. One to a message before, of which the link did not know before a restart that it
/// arrived, is sent again.
async fn next_about(line: &mut RawHubLink, id: &str) -> LinkResponse {
    loop {
        let response = line.next_response().await;
        if response.message == id {
            return response;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_and_kept_once_in_an_inbox_note_that_the_model_may_not_see() {
    for (rule, inbox) in PRIVATE_INBOXES {
        let case = format!("{rule}, {inbox:?}");
        let (home, hub) = (home_with_inbox(inbox), RawHub::bind().await);
        let replies = ["Paris.", "Madrid.", "Rome."].map(Reply::text);
        let model = ScriptedModel::start(replies.into()).await;
        let open = async || home.open(settings(&model, &hub, rule)).await;
        let running = open().await;
        let mut line = hub.accept().await;
        deliver_and_hear(&mut line, "m-1", "What's the capital of France?", "Paris.").await;
        deliver_and_hear(&mut line, "m-2", "And of Spain?", "Madrid.").await;
        running.quit().await;
        assert_eq!(line.remaining_responses().await, [], "nothing else is told: {case}");
        // After a restart it is not known what was hidden from the turns before.
        let running = open().await;
        let mut line = hub.accept().await;
        deliver_and_hear(&mut line, "m-3", "And of Italy?", "Rome.").await;
        running.quit().await;
        let added = "- What's the capital of France?\n- And of Spain?\n- And of Italy?\n";
        assert_eq!(home.notes.read(INBOX), format!("{}{added}", inbox.unwrap_or_default()));
        let requests = model.requests();
        assert_eq!(requests.len(), 3, "one for each message: {case}");
        for request in &requests[1..] {
            let told = request["messages"].to_string();
            assert!(told.contains("Paris."), "{case}: {told}");
            for hidden in ["zeppelin", "Inbox.md", "1 line"] {
                assert!(!told.contains(hidden), "{case}, {hidden}: {told}");
            }
        }
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_kept_in_a_private_inbox_note_while_a_model_answers_elsewhere() {
    for (rule, inbox) in PRIVATE_INBOXES {
        let (home, hub) = (home_with_inbox(inbox), RawHub::bind().await);
        let gate = Gate::closed();
        let story = Reply::text("Once upon a time there was a boat.").gated(&gate);
        let model = ScriptedModel::start(vec![story]).await;
        let running = home.open(settings(&model, &hub, rule)).await;
        let mut line = hub.accept().await;
        let chat = running.send(None, "tell me a story", None).await.expect("taken");
        gate.wait_until_reached(1).await;
        // So long a message is kept, and no model is asked what it means.
        let long = "a".repeat((256 << 10) + 1);
        line.deliver("m-1", &long).await;
        assert_eq!(line.next_response().await, acknowledgement("m-1"));
        let told = line.next_response().await.payload["body"].clone();
        assert_eq!(told, "Saved to inbox/Inbox.md.", "{rule}");
        let saved = home.notes.read(INBOX);
        assert!(saved == format!("{}- {long}\n", inbox.unwrap_or_default()), "{rule}");
        gate.open();
        running.app.wait_until_idle(&chat).await.expect("idle");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_neither_reads_nor_adds_to_an_inbox_note_that_it_may_not_see() {
    let calls = [
        ("append_file", json!({ "path": INBOX, "content": "- an intruder" })),
        ("read_file", json!({ "path": INBOX })),
    ];
    for (rule, inbox) in PRIVATE_INBOXES {
        // Also with the id of a call of ours.
        for id in ["1", "capture-1"] {
            let case = format!("{rule}, {inbox:?}, {id}");
            let (home, hub) = (home_with_inbox(inbox), RawHub::bind().await);
            let [add, read] = calls.clone().map(|call| Reply::calls(vec![call]).with_call_id(id));
            let model = ScriptedModel::start(vec![add, read, Reply::text("I know it.")]).await;
            let running = home.open(settings(&model, &hub, rule)).await;
            let mut line = hub.accept().await;
            line.deliver("m-1", "remember milk").await;
            assert_eq!(line.next_response().await, acknowledgement("m-1"));
            assert_eq!(line.next_response().await.kind, "notification", "{case}");
            for number in [2, 3] {
                let results = tool_results(&model.wait_for_request(number).await);
                assert_eq!(results.len(), 1, "{case}: {results:?}");
                let text = &results[0].1;
                assert!(!text.contains("Applied") && !text.contains("zeppelin"), "{case}: {text}");
            }
            let kept = format!("{}- remember milk\n", inbox.unwrap_or_default());
            assert_eq!(home.notes.read(INBOX), kept, "{case}");
            running.quit().await;
            model.finish();
        }
    }
}
