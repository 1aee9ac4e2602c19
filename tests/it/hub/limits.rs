//! A hub message whose turn ends at a limit is done only if the hub was told something true: else
//! it is tried again, and kept as it is in the end.

use protocol::Settings;
use protocol::settings::SpendingSettings;
use serde_json::{Value, json};
use testkit::scripted_model::offered_tools;
use testkit::{Reply, ScriptedModel};

use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{home_with_key, settings_with_model, with_hub};

const INBOX: &str = "inbox/Inbox.md";
const NOTES: [(&str, &str); 1] = [("Alpha.md", "# Alpha\n\nThe first line.\n")];
const REMINDER: &str = "remember oat milk";
const SAVED: (&str, &str) = ("Saved to inbox/Inbox.md.", "- remember oat milk\n");

/// The answer to the hub for a message to a model that answers so, and the text of the inbox note
/// then; also how often the model was asked.
async fn told_of_message(
    message: &str,
    spending: SpendingSettings,
    answer: impl Fn(&Value) -> Reply + Send + 'static,
) -> (Vec<String>, String, usize) {
    let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
    let model = ScriptedModel::responder(answer).await;
    let settings = with_hub(settings_with_model(&model), &hub.url());
    let settings = Settings { spending, ..settings };
    let running = home.open(settings).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", message).await;
    assert_eq!(line.next_response().await.kind, "ack");
    let first = line.next_response().await;
    running.app.wait_until_idle(&running.only_conversation().await).await.expect("idle");
    running.quit().await;
    let responses = std::iter::once(first).chain(line.remaining_responses().await);
    let body = |payload: Value| payload["body"].as_str().expect("a text").to_owned();
    let told = responses.map(|response| body(response.payload)).collect();
    (told, home.notes.try_read(INBOX).unwrap_or_default(), model.requests().len())
}

/// The answer to the hub when the rounds go by with this call, and the closing request is answered so.
async fn told_after_rounds(
    message: &str,
    call: fn() -> Vec<(&'static str, Value)>,
    closing: fn() -> Reply,
) -> (Vec<String>, String, usize) {
    let answer = move |request: &Value| match offered_tools(request).is_empty() {
        true => closing(),
        false => Reply::calls(call()),
    };
    told_of_message(message, SpendingSettings::default(), answer).await
}

fn failing_call() -> Vec<(&'static str, Value)> {
    vec![("read_file", json!({ "path": "Missing.md" }))]
}

fn reading_call() -> Vec<(&'static str, Value)> {
    vec![("read_file", json!({ "path": "Alpha.md" }))]
}

fn assert_saved((told, inbox, _): &(Vec<String>, String, usize)) {
    assert_eq!((told.as_slice(), inbox.as_str()), (&[SAVED.0.to_owned()][..], SAVED.1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_at_the_limit_without_a_change_is_not_told_and_the_message_is_kept() {
    assert_saved(
        &told_after_rounds(REMINDER, failing_call, || Reply::text("Done, I added oat milk.")).await,
    );
    // A call beside the claim never runs.
    let with_call = || {
        let add = json!({ "path": INBOX, "content": "- oat milk" });
        Reply::text_and_calls("Done, I added oat milk.", vec![("append_file", add)])
    };
    assert_saved(&told_after_rounds(REMINDER, failing_call, with_call).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_kept_when_the_answer_at_the_limit_is_empty_or_fails() {
    assert_saved(&told_after_rounds(REMINDER, failing_call, || Reply::text("")).await);
    assert_saved(&told_after_rounds(REMINDER, failing_call, || Reply::status(400, "no")).await);
    // Also when it had found something.
    assert_saved(&told_after_rounds(REMINDER, reading_call, || Reply::text("")).await);
    assert_saved(&told_after_rounds(REMINDER, reading_call, || Reply::status(400, "no")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_first_answer_uses_up_the_limit_is_kept_at_once() {
    let limit = SpendingSettings { turn_cents: 1, ..SpendingSettings::default() };
    let search = |_: &Value| Reply::calls(reading_call()).counting(50_000);
    let heard = told_of_message(REMINDER, limit, search).await;
    assert_saved(&heard);
    assert_eq!(heard.2, 1, "the model is not asked again");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_sent_before_an_empty_end_at_the_limit_counts() {
    let call = || {
        let told = json!({ "message": "It has one line." });
        let mut calls = reading_call();
        calls.push(("send_message", told));
        calls
    };
    let (told, inbox, requests) =
        told_after_rounds("How long is it?", call, || Reply::text("")).await;
    assert_eq!(
        (told.as_slice(), inbox.as_str()),
        (&["An answer needs your approval in Vaultmate.".to_owned()][..], "")
    );
    assert!(requests <= 5, "one turn: {requests}");
}
