//! The plans of earlier turns that a later turn builds on.

use protocol::{CallResult, Change, NotePath, ToolEvent};
use serde_json::json;
use store::EarlierPlan;

use super::{decide, plan_in_turn, running_turn};
use crate::test_conversation::{TestConversation, answered, edit, path, result};

fn changed(at: &str, waiting: bool) -> ToolEvent {
    ToolEvent::Changed { path: path(at), created: false, added: 1, removed: 1, waiting }
}

/// A turn calls tools, which have these events for the window.
async fn calls(story: &TestConversation, turn: &str, events: Vec<Vec<ToolEvent>>) {
    let names: Vec<String> = (1..=events.len()).map(|number| format!("c{number}")).collect();
    let made: Vec<_> = names.iter().map(|name| (name.as_str(), "a_tool", json!({}))).collect();
    story.steps(turn, &format!("{turn}-step"), &made).await;
    let with_events = |(name, reactions): (&String, Vec<ToolEvent>)| CallResult {
        reactions,
        ..result(name, "Done.")
    };
    let results: Vec<CallResult> = names.iter().zip(events).map(with_events).collect();
    story.store.store_results(&turn.into(), &results).await.expect("stored");
}

async fn plans_before(story: &TestConversation, turn: &str) -> Vec<(String, NotePath, bool)> {
    let found = story.store.plans_before(&"s".into(), &turn.into()).await.expect("read");
    let flat = |EarlierPlan { turn, path, is_move }: EarlierPlan| (turn.to_string(), path, is_move);
    found.into_iter().map(flat).collect()
}

#[tokio::test]
async fn earlier_plans_are_those_of_the_turns_before_that_were_not_decided_by_themselves() {
    let story = running_turn().await;
    let moved = ToolEvent::Moved { path: path("m.md"), to: path("n.md"), waiting: true };
    let events = vec![
        vec![changed("a.md", true), changed("applied-at-once.md", false)],
        vec![changed("decided.md", true)],
        // A move, with a link that it rewrites.
        vec![changed("link.md", true), moved],
    ];
    calls(&story, "t1", events).await;
    let first = [
        edit("a.md", "1", "2"),
        edit("decided.md", "1", "2"),
        edit("link.md", "1", "2"),
        Change::rename(path("m.md"), path("n.md")),
    ];
    plan_in_turn(&story, "s", ("t1", "c1"), &first).await;
    decide(&story, &[path("decided.md")], &[], 60).await;
    story.ends("t1", &answered("t1", "Planned.", 61)).await;
    story.says("t2", "More", 62).await;
    story.begins().await;
    calls(&story, "t2", vec![vec![changed("a.md", true)]]).await;
    plan_in_turn(&story, "s", ("t2", "c1"), &[edit("a.md", "2", "3")]).await;

    let expected = [("t1".to_owned(), path("a.md"), false), ("t1".to_owned(), path("m.md"), true)];
    assert_eq!(plans_before(&story, "t2").await, expected);
    assert!(plans_before(&story, "t1").await.is_empty());
}
