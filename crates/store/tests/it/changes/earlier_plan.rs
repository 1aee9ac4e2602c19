//! The plans of earlier turns that a later turn builds on.

use std::time::{Duration, Instant};

use protocol::{CallResult, Change, NotePath, Timestamp, ToolEvent};
use serde_json::json;
use store::{ChangeSetDecision, EarlierPlan, PartialDecision};

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

#[tokio::test]
async fn a_change_is_an_earlier_plan_if_a_decision_on_its_hunks_left_some_pending() {
    for (has_rest, is_rest_decided) in [(true, false), (true, true), (false, false)] {
        let story = running_turn().await;
        calls(&story, "t1", vec![vec![changed("a.md", true)]]).await;
        // The other change keeps the set open.
        let first = [edit("a.md", "1", "3"), edit("other.md", "1", "2")];
        plan_in_turn(&story, "s", ("t1", "c1"), &first).await;
        let rest = Some(edit("a.md", "2", "3"));
        let (rejected, left) = if has_rest { (None, rest) } else { (rest, None) };
        let applied = Some(edit("a.md", "1", "2"));
        let parts = PartialDecision { applied, rejected, left, edited: false };
        let parts = vec![(path("a.md"), parts)];
        let decision = ChangeSetDecision { parts, ..ChangeSetDecision::default() };
        story.store.decide(&"s".into(), &decision, Timestamp(60)).await.expect("decided");
        if is_rest_decided {
            decide(&story, &[path("a.md")], &[], 61).await;
        }
        story.ends("t1", &answered("t1", "Planned.", 62)).await;
        story.says("t2", "More", 63).await;
        story.begins().await;
        calls(&story, "t2", vec![vec![changed("a.md", true)]]).await;
        plan_in_turn(&story, "s", ("t2", "c1"), &[edit("a.md", "3", "4")]).await;

        let is_included = has_rest && !is_rest_decided;
        let expected = is_included.then(|| ("t1".to_owned(), path("a.md"), false));
        assert_eq!(plans_before(&story, "t2").await, Vec::from_iter(expected));
    }
}

/// The time to find the earlier plans after a turn that changed so many notes, nearly all of them decided; the least of
/// several, because other programs disturb.
async fn time_to_find(count: usize) -> Duration {
    let story = running_turn().await;
    let notes: Vec<String> = (0..count).map(|n| format!("{n}.md")).collect();
    calls(&story, "t1", vec![notes.iter().map(|at| changed(at, true)).collect()]).await;
    let edits: Vec<Change> = notes.iter().map(|at| edit(at, "1", "2")).collect();
    plan_in_turn(&story, "s", ("t1", "c1"), &edits).await;
    let decided: Vec<NotePath> = notes.iter().skip(1).map(|at| path(at)).collect();
    decide(&story, &decided, &[], 60).await;
    story.ends("t1", &answered("t1", "Planned.", 61)).await;
    story.says("t2", "More", 62).await;
    story.begins().await;
    let mut least = Duration::MAX;
    for _ in 0..4 {
        let begun = Instant::now();
        let found = plans_before(&story, "t2").await;
        least = least.min(begun.elapsed());
        assert_eq!(found, [("t1".to_owned(), path("0.md"), false)]);
    }
    least
}

/// Four times the changes may cost eight times the time; the square would be sixteen times.
#[tokio::test]
async fn earlier_plans_are_found_at_a_cost_that_grows_with_the_changes() {
    let (few, many) = (time_to_find(250).await, time_to_find(1_000).await);
    assert!(many < few * 8 + Duration::from_millis(20), "{many:?} after {few:?}");
}
