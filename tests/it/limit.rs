//! A turn that comes to its limit says what is left, and goes on when the user lets it.

use protocol::conversation::Item;
use protocol::{Settings, TurnStatus};
use serde_json::{Value, json};
use testkit::scripted_model::{last_words, offered_tools};
use testkit::{Reply, ScriptedModel};

use crate::stage::{asking, keyed};

/// Fourteen notes, and an edit of each.
fn notes() -> Vec<(String, String)> {
    (1..=14).map(|n| (format!("Note {n:02}.md"), format!("# Note {n}\n\nold words\n"))).collect()
}

/// Edits the next note that it has not edited yet, one a request; closes when it cannot call.
fn one_by_one(request: &Value) -> Reply {
    let calls = request.to_string().matches("\"tool_use\"").count();
    if last_words(request).contains("no more tools can be called") {
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
    let (home, model) = (keyed(&notes), ScriptedModel::responder(one_by_one).await);
    let running = home.open(Settings { ..asking(&model) }).await;
    let conversation = running.say(None, "write new words everywhere").await;
    let view = running.view(&conversation).await;
    let ended = |item: &Item| matches!(item, Item::Ended { status: TurnStatus::Limit, .. });
    assert!(view.items.last().is_some_and(ended), "{:#?}", view.items.last());
    assert_eq!(model.requests().len(), 11, "ten round trips and the one that closes");
    let first = view.review.expect("ten wait");
    assert_eq!(first.notes.len(), 10);

    running.app.continue_turn(&conversation).await.expect("it goes on");
    running.app.idle(&conversation).await.expect("idle");
    let view = running.view(&conversation).await;
    let all = view.review.expect("all wait");
    assert_eq!((all.id, all.notes.len()), (first.id, 14), "one review");
    assert!(!view.items.last().is_some_and(ended));
    assert!(!offered_tools(&model.request(12).await).is_empty());
    let paths: Vec<&str> = notes.iter().map(|(path, _)| *path).collect();
    running.decide(&conversation, &paths, &[]).await.expect("applied");
    for path in paths {
        assert!(home.notes.read(path).contains("new words"), "{path}");
    }
    running.quit().await;
    model.finish();
}
