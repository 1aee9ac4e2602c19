//! An answer is regenerated, or its message edited: the old answer is kept and can be returned to.

use protocol::chat::conversation::{ChatItem, ConversationView};
use protocol::request::{OldChanges, RegenerateOutcome, RegenerateRequest};
use protocol::{ConversationId, MessageId};
use serde_json::{Value, json};
use testkit::stories::note_changes::NOTES;
use testkit::{Gate, Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, home_with_key, settings_with_model, user_messages};
use crate::hub::inbox::change_database;

/// All messages of the user and answers of the model.
fn visible_texts(view: &ConversationView) -> Vec<&str> {
    let words = view.items.iter().filter_map(|item| match item {
        ChatItem::User { text, .. } | ChatItem::Assistant { text, .. } => Some(text.as_str()),
        _ => None,
    });
    words.collect()
}

fn message_with_text(view: &ConversationView, words: &str) -> MessageId {
    let found = view.items.iter().find_map(|item| match item {
        ChatItem::User { id, text, .. } if text == words => Some(id.clone()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{words} is not said in {:#?}", view.items))
}

/// The number and count of versions of each message that has several.
fn variants(view: &ConversationView) -> Vec<(u32, u32)> {
    view.variants.iter().map(|variant| (variant.number, variant.count)).collect()
}

async fn regenerate(
    app: &RunningApp,
    message: &MessageId,
    text: Option<&str>,
) -> RegenerateOutcome {
    let text = text.map(str::to_owned);
    let request = RegenerateRequest { message: message.clone(), text, old: None };
    app.app.regenerate(&request).await.expect("an answer")
}

async fn view_when_idle(app: &RunningApp, conversation: &ConversationId) -> ConversationView {
    app.app.wait_until_idle(conversation).await.expect("idle");
    app.view(conversation).await
}

/// All text of a request but its contexts.
fn request_texts(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().expect("messages").iter();
    let blocks =
        messages.flat_map(|message| message["content"].as_array().cloned().expect("blocks"));
    let texts = blocks.filter_map(|block| block["text"].as_str().map(str::to_owned));
    texts.filter(|text| !text.starts_with("<context>")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_message_goes_on_in_a_branch_and_the_old_one_is_gone_back_to() {
    let texts = ["One.", "Two.", "Other two.", "Other three.", "Three."];
    let script = texts.map(Reply::text).into_iter().collect();
    let (home, model) = (home_with_key(&NOTES), ScriptedModel::start(script).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "first").await;
    running.send_and_wait(Some(&conversation), "second").await;
    let view = running.view(&conversation).await;
    assert_eq!(variants(&view), []);
    let second = message_with_text(&view, "second");

    assert_eq!(
        regenerate(&running, &second, Some("second, but other")).await,
        RegenerateOutcome::Begun
    );
    let view = view_when_idle(&running, &conversation).await;
    assert_eq!(visible_texts(&view), ["first", "One.", "second, but other", "Other two."]);
    assert_eq!(variants(&view), [(2, 2)]);
    assert_eq!(
        request_texts(&model.wait_for_request(3).await),
        ["first", "One.", "second, but other"]
    );
    running.send_and_wait(Some(&conversation), "third of the other").await;

    // Back, over a restart, and on from there.
    let other = message_with_text(&view, "second, but other");
    running.app.show_variant(&other, 1).await.expect("shown");
    running.quit().await;
    let running = home.open(settings_with_model(&model)).await;
    let view = running.view(&conversation).await;
    assert_eq!(visible_texts(&view), ["first", "One.", "second", "Two."]);
    assert_eq!(variants(&view), [(1, 2)]);
    running.send_and_wait(Some(&conversation), "third").await;
    assert_eq!(
        request_texts(&model.wait_for_request(5).await),
        ["first", "One.", "second", "Two.", "third"]
    );
    running.app.show_variant(&second, 2).await.expect("shown");
    let view = running.view(&conversation).await;
    assert_eq!(user_messages(&view), ["first", "second, but other", "third of the other"]);
    let missing = running.app.show_variant(&second, 3).await.expect_err("there are two");
    assert!(missing.message.contains("no longer exists"), "{missing}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_message_is_tried_again_and_only_that() {
    let texts = ["One.", "Two.", "Two again.", "Two, the third time."];
    let script = texts.map(Reply::text).into_iter().collect();
    let (home, model) = (home_with_key(&NOTES), ScriptedModel::start(script).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "first").await;
    running.send_and_wait(Some(&conversation), "second").await;
    let view = running.view(&conversation).await;
    let (first, second) = (message_with_text(&view, "first"), message_with_text(&view, "second"));
    let request = RegenerateRequest { message: first, text: None, old: None };
    let refused = running.app.regenerate(&request).await.expect_err("it is not the last");
    assert!(refused.message.contains("Edit this message"), "{refused}");

    regenerate(&running, &second, None).await;
    let view = view_when_idle(&running, &conversation).await;
    assert_eq!(visible_texts(&view), ["first", "One.", "second", "Two again."]);
    regenerate(&running, &message_with_text(&view, "second"), None).await;
    let view = view_when_idle(&running, &conversation).await;
    assert_eq!(visible_texts(&view), ["first", "One.", "second", "Two, the third time."]);
    assert_eq!(variants(&view), [(3, 3)], "they stand beside each other");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_old_answer_changed_is_asked_about_before_anything_happens() {
    let milk = json!({ "path": "List.md", "content": "- milk" });
    let edit = json!({ "path": "Alpha.md", "old_text": "first", "new_text": "FIRST" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("append_file", milk.clone()), ("edit_file", edit)]),
        Reply::text("Done and planned."),
        Reply::calls(vec![("append_file", milk)]),
        Reply::text("Done again."),
        Reply::text("Kept."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "add milk").await;
    let message_of = |view: &ConversationView| message_with_text(view, "add milk");
    let old = message_of(&running.view(&conversation).await);
    let asks = RegenerateOutcome::Asks { changed: 1, waiting: 1, earlier: false };
    assert_eq!(regenerate(&running, &old, None).await, asks);
    assert_eq!(model.requests().len(), 2, "nothing is asked yet");

    let undo = Some(OldChanges::Undo);
    let request = RegenerateRequest { message: old, text: None, old: undo };
    running.app.regenerate(&request).await.expect("regenerated");
    let view = view_when_idle(&running, &conversation).await;
    assert_eq!(home.notes.read("List.md"), "# List\n\n- bread\n- milk\n", "once, not twice");
    assert_eq!(running.pending_paths(&conversation).await, [""; 0]);

    let keep = Some(OldChanges::Keep);
    let text = Some("say something".to_owned());
    let request = RegenerateRequest { message: message_of(&view), text, old: keep };
    running.app.regenerate(&request).await.expect("regenerated");
    view_when_idle(&running, &conversation).await;
    assert_eq!(home.notes.read("List.md"), "# List\n\n- bread\n- milk\n", "it was kept");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_forks_while_an_answer_is_written() {
    let gate = Gate::closed();
    let words = "An answer of several words, so that there is time.";
    let script = vec![Reply::text("One."), Reply::text(words).gated(&gate)];
    let (home, model) = (home_with_key(&NOTES), ScriptedModel::start(script).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "first").await;
    let first = message_with_text(&running.view(&conversation).await, "first");
    running.send(Some(&conversation), "second", None).await.expect("taken");
    gate.wait_until_reached(1).await;
    let text = Some("other".to_owned());
    let request = RegenerateRequest { message: first.clone(), text, old: None };
    let refused = running.app.regenerate(&request).await.expect_err("too early");
    assert!(refused.message.contains("is busy"), "{refused}");
    let refused = running.app.show_variant(&first, 1).await.expect_err("too early");
    assert!(refused.message.contains("is busy"), "{refused}");
    gate.open();
    running.app.wait_until_idle(&conversation).await.expect("idle");
    running.quit().await;
    model.finish();
}

/// A message that is stored while the changes of the old answer are undone.
const MESSAGE_DURING_UNDO: &str = r#"
    CREATE TRIGGER during_undo AFTER INSERT ON effect
    WHEN NOT EXISTS (SELECT 1 FROM turn WHERE id = 'late') BEGIN
        INSERT INTO turn (id, conversation, origin, status, at, branch)
        SELECT 'late', conversation, 'window', 'queued', at, branch FROM turn LIMIT 1;
        INSERT INTO message (id, conversation, turn, position, role, parts, cut, at)
        SELECT 'late', conversation, 'late', 0, 'user', '[{"type":"text","text":"late"}]', 0, at
        FROM turn LIMIT 1;
    END"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_message_sent_while_the_old_changes_are_undone_stays_in_its_branch() {
    let milk = json!({ "path": "List.md", "content": "- milk" });
    let script = vec![Reply::calls(vec![("append_file", milk)]), Reply::text("Done.")];
    let (home, model) = (home_with_key(&NOTES), ScriptedModel::start(script).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "add milk").await;
    let message = message_with_text(&running.view(&conversation).await, "add milk");
    change_database(&home, MESSAGE_DURING_UNDO.to_owned()).await;
    let request = RegenerateRequest { message, text: None, old: Some(OldChanges::Undo) };
    let refused = running.app.regenerate(&request).await.expect_err("another message came");
    assert!(refused.message.contains("are already undone"), "{refused}");
    assert_eq!(home.notes.read("List.md"), NOTES[3].1);
    let view = running.view(&conversation).await;
    assert_eq!((user_messages(&view), variants(&view)), (vec!["add milk", "late"], vec![]));
    assert_eq!(model.requests().len(), 2, "nothing was regenerated");
    running.quit().await;
    model.finish();
}
