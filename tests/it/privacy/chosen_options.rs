//! Options and titles that a local model words from a note for local models: the user who chooses one
//! did not write it.

use protocol::ConversationId;
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use super::model_switch::settings;
use crate::harness::test_app::home_with_key;

const OPTION: &str = "It is canary-3e7b";
const CHOSEN: &str = "(chose one of the offered answers)";

/// The requests to a cloud model after the user answered a local model's question so.
async fn told_after_answer(local: &[&str], answer: &str) -> String {
    let home = home_with_key(&[("Ann.md", "Ann said canary-3e7b. #home\n"), ("Open.md", "# O\n")]);
    let ask = json!({ "message": "Which?", "is_question": true, "options": [OPTION, "No"] });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": "Ann.md" }))]),
        Reply::calls(vec![("send_message", ask)]),
        Reply::text("Well."),
        Reply::text("Still well."),
    ])
    .await;
    let running = home.open(settings(&model, local, true)).await;
    let conversation = running.send_and_wait(None, "ask me about Ann").await;
    let question = running.view(&conversation).await.question.expect("it is open").id;
    let asked = model.requests().len();
    running.replace_settings(settings(&model, local, false)).await;
    running.send(Some(&conversation), answer, Some(&question)).await.expect("taken");
    running.app.wait_until_idle(&conversation).await.expect("a vault is open");
    running.send_and_wait(Some(&conversation), "go on").await;
    let told = Value::from_iter(model.requests().into_iter().skip(asked)).to_string();
    running.quit().await;
    model.finish();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chosen_option_is_withheld_with_its_question_and_the_users_own_text_is_not() {
    let told = told_after_answer(&["#home"], OPTION).await;
    assert!(!told.contains("canary-3e7b") && told.contains(CHOSEN), "{told}");
    let attached = format!("{OPTION}\n\n[[Open]]");
    let told = told_after_answer(&["#home"], &attached).await;
    assert!(!told.contains("canary-3e7b"), "{told}");
    assert!(told.contains(CHOSEN) && told.contains("[[Open]]"), "{told}");
    let told = told_after_answer(&["#home"], "Neither of them.").await;
    assert!(told.contains("Neither of them.") && !told.contains(CHOSEN), "{told}");
    assert!(!told.contains("canary-3e7b"), "{told}");
    let told = told_after_answer(&[], OPTION).await;
    assert!(told.contains(OPTION) && !told.contains(CHOSEN), "the control: {told}");
}

/// The id of a conversation in which a local model read this note, and what a cloud model gets of
/// another one: there the user mentioned the first one with its title, to the local model and then to
/// the cloud model.
async fn told_after_mention(note: &str) -> (ConversationId, String) {
    let home = home_with_key(&[("Ann.md", "Ann said canary-3e7b. #home\n"), ("Open.md", "# O\n")]);
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": note }))]),
        Reply::text("I see."),
        Reply::text("So it is about echo-91d4."),
        Reply::text("Well."),
    ])
    .await;
    let running = home.open(settings(&model, &["#home"], true)).await;
    let mentioned = running.send_and_wait(None, "read it").await;
    let words = format!("go on with [[conversation:{mentioned}|canary-3e7b]], please");
    let conversation = running.send_and_wait(None, &words).await;
    running.replace_settings(settings(&model, &["#home"], false)).await;
    running.send_and_wait(Some(&conversation), &words).await;
    let told = model.requests().last().map(|request| request["messages"].to_string());
    running.quit().await;
    model.finish();
    (mentioned, told.expect("a request"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_title_of_a_mentioned_conversation_is_withheld_with_the_text_that_it_is_about() {
    let (mentioned, told) = told_after_mention("Ann.md").await;
    assert!(!told.contains("canary-3e7b"), "{told}");
    let mention = format!("go on with [[conversation:{mentioned}]], please");
    assert_eq!(told.matches(&mention).count(), 2, "{told}");
    assert!(!told.contains("echo-91d4"), "its model was told the title: {told}");
    let (mentioned, told) = told_after_mention("Open.md").await;
    let mention = format!("go on with [[conversation:{mentioned}|canary-3e7b]], please");
    assert_eq!(told.matches(&mention).count(), 2, "the control: it is open, {told}");
    assert!(told.contains("echo-91d4"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_from_the_title_in_an_earlier_message_is_withheld_with_the_title() {
    for (note, is_withheld) in [("Ann.md", true), ("Open.md", false)] {
        let home =
            home_with_key(&[("Ann.md", "Ann said canary-3e7b. #home\n"), ("Open.md", "# O\n")]);
        let model = ScriptedModel::start(vec![
            Reply::calls(vec![("read_file", json!({ "path": note }))]),
            Reply::text("I see."),
            Reply::text("What about it?"),
            Reply::text("It is about echo-91d4."),
            Reply::text("Well."),
        ])
        .await;
        let local = settings(&model, &["#home"], true);
        let cloud = settings(&model, &["#home"], false);
        let running = home.open(local.clone()).await;
        let mentioned = running.send_and_wait(None, "read it").await;
        running.replace_settings(cloud.clone()).await;
        let words = format!("see [[conversation:{mentioned}|canary-3e7b]]");
        let conversation = running.send_and_wait(None, &words).await;
        running.replace_settings(local).await;
        running.send_and_wait(Some(&conversation), "what is it about?").await;
        running.replace_settings(cloud).await;
        running.send_and_wait(Some(&conversation), "go on").await;
        let told = model.requests().last().map(|request| request["messages"].to_string());
        let told = told.expect("a request");
        assert_eq!(told.contains("echo-91d4"), !is_withheld, "{note}: {told}");
        running.quit().await;
        model.finish();
    }
}

/// What a cloud model reads in an open note, after a local model that was told the title of a mentioned
/// conversation planned to write it there. In that conversation a local model read `note`.
async fn read_after_plan_with_title(note: &str) -> String {
    let home = home_with_key(&[("Ann.md", "Ann said canary-3e7b. #home\n"), ("Open.md", "# O\n")]);
    let edit = json!({ "path": "Open.md", "old_text": "# O", "new_text": "# Open" });
    let append = json!({ "path": "Open.md", "content": "about canary-3e7b" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": note }))]),
        Reply::text("I see."),
        Reply::calls(vec![("edit_file", edit)]),
        Reply::text("Planned."),
        Reply::calls(vec![("append_file", append)]),
        Reply::text("Planned too."),
        Reply::calls(vec![("read_file", json!({ "path": "Open.md" }))]),
        Reply::text("Well."),
    ])
    .await;
    let running = home.open(settings(&model, &["#home"], true)).await;
    let mentioned = running.send_and_wait(None, "read it").await;
    running.replace_settings(settings(&model, &["#home"], false)).await;
    let conversation = running.send_and_wait(None, "give it a title").await;
    running.replace_settings(settings(&model, &["#home"], true)).await;
    let words = format!("write [[conversation:{mentioned}|canary-3e7b]] there");
    running.send_and_wait(Some(&conversation), &words).await;
    assert_eq!(running.pending_paths(&conversation).await, ["Open.md"]);
    running.replace_settings(settings(&model, &["#home"], false)).await;
    running.send_and_wait(Some(&conversation), "and now?").await;
    let told = model.requests().last().map(|request| request["messages"].to_string());
    running.quit().await;
    model.finish();
    told.expect("a request")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_text_with_the_title_of_a_mentioned_conversation_is_withheld_with_it() {
    let told = read_after_plan_with_title("Ann.md").await;
    assert!(!told.contains("canary-3e7b"), "{told}");
    let told = read_after_plan_with_title("Open.md").await;
    assert!(told.contains("about canary-3e7b"), "the control: it is open, {told}");
}
