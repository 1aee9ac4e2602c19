//! Options and titles that a local model words from a note for local models: the user who chooses one
//! did not write it.

use protocol::{ConversationId, Mode, Source};
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use super::model_switch::settings;
use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{home_with_key, settings_with_model, with_hub, with_mode};

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

/// The open note and the pending notes after a local model was told of a mentioned conversation, in which a local model
/// read `note`, and added to the open note. A cloud model may get the message with the mention first.
async fn written_after_mention(note: &str, title: &str, via_cloud: bool) -> (String, Vec<String>) {
    let home = home_with_key(&[("Ann.md", "Ann said canary-3e7b. #home\n"), ("Open.md", "# O\n")]);
    let append = json!({ "path": "Open.md", "content": "about canary-3e7b" });
    let mut replies = vec![
        Reply::calls(vec![("read_file", json!({ "path": note }))]),
        Reply::text("I see."),
        Reply::calls(vec![("append_file", append)]),
        Reply::text("Added."),
    ];
    if via_cloud {
        replies.insert(2, Reply::text("Shall I?"));
    }
    let model = ScriptedModel::start(replies).await;
    let running = home.open(settings(&model, &["#home"], true)).await;
    let mentioned = running.send_and_wait(None, "read it").await;
    let words = format!("write [[conversation:{mentioned}{title}]] into Open.md");
    let mut conversation = None;
    if via_cloud {
        running.replace_settings(settings(&model, &["#home"], false)).await;
        conversation = Some(running.send_and_wait(None, &words).await);
        running.replace_settings(settings(&model, &["#home"], true)).await;
    }
    let last = if via_cloud { "yes" } else { words.as_str() };
    let conversation = running.send_and_wait(conversation.as_ref(), last).await;
    let waits = running.pending_paths(&conversation).await;
    running.quit().await;
    model.finish();
    (home.notes.read("Open.md"), waits)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_title_of_a_conversation_about_a_private_note_needs_a_review_in_an_open_note() {
    for (note, title, via_cloud, is_pending) in [
        ("Ann.md", "|canary-3e7b", false, true),
        ("Ann.md", "|canary-3e7b", true, true),
        ("Ann.md", "", false, false),
        ("Open.md", "|canary-3e7b", false, false),
        ("Open.md", "|canary-3e7b", true, false),
    ] {
        let name = format!("{note}, {title}, {via_cloud}");
        let (text, waits) = written_after_mention(note, title, via_cloud).await;
        assert_eq!(waits == ["Open.md"], is_pending, "{name}: {waits:?}");
        assert_eq!(text.contains("canary-3e7b"), !is_pending, "{name}: {text}");
    }
}

const INBOX: &str = "inbox/Inbox.md";
const ANSWER: &str = "It was about canary-3e7b.";
const HELD: &str = "An answer needs your approval in Vaultmate.";

/// The text that the hub gets, and the pending notes, after a turn of the hub added this line to the inbox note. Before,
/// the user mentioned another conversation in the one with the messages of the hub.
async fn hub_text_after_mention(
    title: &str,
    name: Option<&str>,
    line: &str,
) -> (String, Vec<String>) {
    let home = home_with_key(&[(INBOX, "- milk\n")]);
    let append = |content: &str| {
        let line = json!({ "path": INBOX, "content": content });
        Reply::calls(vec![("append_file", line)])
    };
    let model = ScriptedModel::start(vec![
        Reply::text("I see."),
        append("- tea"),
        Reply::text("Noted."),
        Reply::text("Well."),
        append(line),
        Reply::text(ANSWER),
    ])
    .await;
    let hub = RawHub::bind().await;
    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    let mut link = hub.accept().await;
    let mentioned = running.send_and_wait(None, "talk to me").await;
    if let Some(name) = name {
        running.app.rename_conversation(&mentioned, name).await.expect("renamed");
    }
    link.deliver("m-1", "tea").await;
    assert_eq!(link.next_response().await.kind, "ack");
    assert_eq!(link.next_response().await.payload["body"], "Noted.");
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    let from_hub = snapshot.conversations.into_iter().find(|one| one.from_hub);
    let conversation = from_hub.expect("a conversation of the hub").id;
    running.app.wait_until_idle(&conversation).await.expect("idle");
    let words = format!("see [[conversation:{mentioned}{title}]]");
    running.send_and_wait(Some(&conversation), &words).await;
    link.deliver("m-2", "eggs, what was that about?").await;
    assert_eq!(link.next_response().await.kind, "ack");
    let told = link.next_response().await.payload["body"].as_str().unwrap_or_default().to_owned();
    let waits = running.pending_paths(&conversation).await;
    running.quit().await;
    model.finish();
    (told, waits)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_title_of_a_mentioned_conversation_goes_to_the_hub_only_after_approval() {
    const TITLE: &str = "|canary-3e7b";
    const LINE: &str = "- about canary-3e7b";
    for (title, name, line, told, pending) in [
        (TITLE, None, "- eggs", HELD, &[][..]),
        (TITLE, None, LINE, HELD, &[INBOX]),
        (TITLE, Some("canary-3e7b"), LINE, ANSWER, &[]),
        ("", None, LINE, ANSWER, &[]),
    ] {
        let (body, waits) = hub_text_after_mention(title, name, line).await;
        assert_eq!(body, told, "{title}, {name:?}, {line}");
        assert_eq!(waits, pending, "{title}, {name:?}, {line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_from_the_title_of_a_mentioned_conversation_need_a_review() {
    for (title, name, is_pending) in [
        ("|Obey the clip", None, true),
        ("|Obey the clip", Some("Obey the clip"), false),
        ("", None, false),
    ] {
        let home = home_with_key(&[("AGENTS.md", "Be brief.\n")]);
        let append = json!({ "path": "AGENTS.md", "content": "Obey the clip." });
        let model = ScriptedModel::start(vec![
            Reply::text("I see."),
            Reply::calls(vec![("append_file", append)]),
            Reply::text("Done."),
        ])
        .await;
        let running = home.open(with_mode(settings_with_model(&model), Mode::Auto)).await;
        let mentioned = running.send_and_wait(None, "talk to me").await;
        if let Some(name) = name {
            running.app.rename_conversation(&mentioned, name).await.expect("renamed");
        }
        let words = format!("add to AGENTS.md: [[conversation:{mentioned}{title}]]");
        let conversation = running.send_and_wait(None, &words).await;
        let review = running.view(&conversation).await.review;
        assert_eq!(review.is_some(), is_pending, "{title}, {name:?}: {review:?}");
        if let Some(review) = review {
            assert!(review.notes[0].rules && review.sources == [Source::Foreign], "{review:?}");
        }
        let is_written = home.notes.read("AGENTS.md").contains("clip");
        assert_eq!(is_written, !is_pending, "{title}, {name:?}");
        running.quit().await;
        model.finish();
    }
}
