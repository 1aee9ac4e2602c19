//! A turn that comes to its limit says what is left, and goes on when the user lets it.

use protocol::chat::conversation::ChatItem;
use protocol::{Settings, TurnStatus};
use serde_json::{Value, json};
use testkit::scripted_model::{last_message_text, offered_tools};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{home_with_key, settings_with_model, user_messages};

/// Fourteen notes, and an edit of each.
fn notes() -> Vec<(String, String)> {
    (1..=14).map(|n| (format!("Note {n:02}.md"), format!("# Note {n}\n\nold words\n"))).collect()
}

/// Edits the next note that it has not edited yet, one a request; closes when it cannot call.
fn edit_next_note(request: &Value) -> Reply {
    let calls = request.to_string().matches("\"tool_use\"").count();
    if last_message_text(request).contains("no more tools can be called") {
        return Reply::text("Ten are planned, four are left.");
    }
    if calls == 14 {
        return Reply::text("All fourteen are planned.");
    }
    let path = format!("Note {:02}.md", calls + 1);
    let edit = json!({ "path": path, "old_text": "old words", "new_text": "new words" });
    Reply::calls(vec![("edit_file", edit)])
}

#[tokio::test(flavor = "multi_thread")]
async fn continue_after_a_limit_adds_to_the_same_changes() {
    let notes = notes();
    let notes: Vec<(&str, &str)> =
        notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let (home, model) = (home_with_key(&notes), ScriptedModel::responder(edit_next_note).await);
    let running = home.open(Settings { ..settings_with_model(&model) }).await;
    let conversation = running.send_and_wait(None, "write new words everywhere").await;
    let view = running.view(&conversation).await;
    let ended = |item: &ChatItem| matches!(item, ChatItem::Ended { status: TurnStatus::Limit, .. });
    assert!(view.items.last().is_some_and(ended), "{:#?}", view.items.last());
    assert_eq!(model.requests().len(), 11, "ten round trips and the one that closes");
    let first = view.review.expect("ten wait");
    assert_eq!(first.notes.len(), 10);

    running.app.continue_turn(&conversation).await.expect("it goes on");
    assert_eq!(
        user_messages(&running.view(&conversation).await),
        ["write new words everywhere", "Continue."]
    );
    running.app.wait_until_idle(&conversation).await.expect("idle");
    let view = running.view(&conversation).await;
    let all = view.review.expect("all wait");
    assert_eq!((all.id, all.notes.len()), (first.id, 14), "one review");
    assert!(!view.items.last().is_some_and(ended));
    assert!(!offered_tools(&model.wait_for_request(12).await).is_empty());
    let paths: Vec<&str> = notes.iter().map(|(path, _)| *path).collect();
    running.decide(&conversation, &paths, &[]).await.expect("applied");
    for path in paths {
        assert!(home.notes.read(path).contains("new words"), "{path}");
    }
    running.quit().await;
    model.finish();
}
