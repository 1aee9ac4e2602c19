//! The summary of earlier turns: in its own branch, with its sources, paid for.

use protocol::chat::conversation::ChatItem;
use protocol::chat::model::Price;
use protocol::{Compaction, Source, Summary, Timestamp, TokenUsage, TurnStatus, UtilityRequest};
use serde_json::json;

use crate::test_conversation::{
    TestConversation, answered, conversation_id, ending, new_turn, path, read,
};

const PRICE: Price = Price { input: 2, output: 3, cache_read: 0, cache_write: 0 };

/// Turns `t1` to `t9` were answered; in `t2` a note was read.
async fn nine_answered_turns() -> TestConversation {
    let story = TestConversation::begin().await;
    for (n, at) in (1..=9).zip((10..).step_by(10)) {
        let turn = format!("t{n}");
        story.says(&turn, &turn, at).await;
        story.begins().await;
        if n == 2 {
            story.steps(&turn, "s2", &[("a", "read_file", json!({ "path": "a.md" }))]).await;
            let mut end = answered(&turn, "Read.", at + 1);
            end.results = vec![read("a", "a.md", "one")];
            story.ends(&turn, &end).await;
        } else {
            story.ends(&turn, &answered(&turn, "Yes.", at + 1)).await;
        }
    }
    story
}

fn compaction_until(turn: &str) -> Compaction {
    let summary = Some(Summary { words: "They talked.".into(), until: turn.into() });
    Compaction { until: turn.into(), text: format!("<until {turn}>"), summary }
}

fn summary_usage() -> UtilityRequest {
    let usage = TokenUsage { input: 100, output: 10, ..TokenUsage::default() };
    UtilityRequest { model: "cheap".into(), price: Some(PRICE), usage, at: Timestamp(500) }
}

async fn store_summary(conversation: &TestConversation, by: &str, turn: &str) {
    let (new, asked, at) = (compaction_until(turn), summary_usage(), Timestamp(500));
    let stored = conversation.store.store_compaction(&by.into(), &new, "", Some(&asked), at).await;
    stored.expect("stored");
}

/// The history of a turn for the model: the summary, and the user's messages after it.
async fn heard(conversation: &TestConversation, turn: &str) -> (Option<String>, Vec<String>) {
    let (told, rows) =
        conversation.store.recent_history(&conversation_id(), &turn.into()).await.expect("read");
    let mut turns: Vec<String> = rows.iter().map(|row| row.turn.to_string()).collect();
    turns.dedup();
    (told.map(|row| row.compaction.text), turns)
}

fn texts(turns: &[&str]) -> Vec<String> {
    turns.iter().map(|turn| (*turn).to_owned()).collect()
}

#[tokio::test]
async fn later_turns_hear_it_in_place_of_what_it_stands_for_and_earlier_ones_do_not() {
    let story = nine_answered_turns().await;
    assert_eq!(heard(&story, "t9").await.0, None);
    store_summary(&story, "t9", "t3").await;
    let story = story.restart().await;
    let behind = texts(&["t4", "t5", "t6", "t7", "t8", "t9"]);
    assert_eq!(heard(&story, "t9").await, (Some("<until t3>".into()), behind));
    assert_eq!(heard(&story, "t3").await, (None, texts(&["t1", "t2", "t3"])));
    store_summary(&story, "t9", "t5").await;
    let behind = texts(&["t6", "t7", "t8", "t9"]);
    assert_eq!(heard(&story, "t9").await, (Some("<until t5>".into()), behind));
    assert_eq!(heard(&story, "t5").await.0, Some("<until t3>".into()));
    let all = story.store.history(&conversation_id(), &"t9".into()).await.expect("read");
    assert!(all.iter().any(|row| row.turn == "t1".into()), "the turns stay");
}

#[tokio::test]
async fn a_branch_that_forked_earlier_knows_nothing_of_it() {
    let story = nine_answered_turns().await;
    store_summary(&story, "t9", "t5").await;
    for (fork, old, told) in [("f1", "t7", true), ("f2", "t4", false)] {
        story.store.submit_fork(&new_turn(fork, fork, 200), &old.into()).await.expect("stored");
        story.begins().await;
        story.ends(fork, &ending(TurnStatus::Done, 201)).await;
        assert_eq!(heard(&story, fork).await.0.is_some(), told, "{fork}");
        let items = story.items().await;
        let line = items.iter().any(|item| matches!(item, ChatItem::Summary { .. }));
        assert_eq!(line, told, "{fork}");
    }
    store_summary(&story, "f2", "t3").await;
    let (told, turns) = heard(&story, "f2").await;
    assert_eq!((told, turns), (Some("<until t3>".into()), texts(&["f2"])));
    let behind = texts(&["t6", "t7", "t8", "t9"]);
    assert_eq!(heard(&story, "t9").await, (Some("<until t5>".into()), behind));
}

#[tokio::test]
async fn it_names_all_sources_of_the_turns_it_stands_for_and_no_others() {
    let story = nine_answered_turns().await;
    store_summary(&story, "t9", "t1").await;
    let of = |turn: &'static str| {
        let store = story.store.clone();
        async move {
            let row = store.compaction(&conversation_id(), &turn.into()).await.expect("read");
            row.expect("there").sources
        }
    };
    assert_eq!(of("t9").await, [Source::User]);
    store_summary(&story, "t9", "t3").await;
    let sources = [Source::User, Source::Note(path("a.md")), Source::Tool("read_file".into())];
    assert_eq!(of("t9").await, sources);
}

#[tokio::test]
async fn it_stands_in_the_chat_where_the_earlier_messages_end() {
    let story = nine_answered_turns().await;
    store_summary(&story, "t9", "t2").await;
    store_summary(&story, "t9", "t3").await;
    let items = story.items().await;
    let at =
        items.iter().position(|item| matches!(item, ChatItem::Summary { .. })).expect("a line");
    assert!(matches!(&items[at], ChatItem::Summary { text, .. } if text == "<until t3>"));
    assert!(matches!(&items[at - 1], ChatItem::Assistant { id, .. } if id.as_str() == "t3-end"));
    assert!(matches!(&items[at + 1], ChatItem::User { text, .. } if text == "t4"));
    let lines = items.iter().filter(|item| matches!(item, ChatItem::Summary { .. })).count();
    assert_eq!((lines, items.len()), (1, 21), "the one that reaches farthest, and all messages");
}

#[tokio::test]
async fn what_asking_took_is_counted_for_the_turn_at_the_price_of_who_was_asked() {
    let story = nine_answered_turns().await;
    let spent = |turn: &'static str| {
        let store = story.store.clone();
        async move { store.turn_cost(&turn.into()).await.expect("read") }
    };
    assert_eq!(spent("t9").await.requests, 0);
    store_summary(&story, "t9", "t3").await;
    story.store.record_turn_usage(&"t8".into(), &summary_usage()).await.expect("counted");
    for turn in ["t8", "t9"] {
        let spent = spent(turn).await;
        assert_eq!((spent.requests, spent.cost, spent.unpriced), (1, 230, 0), "{turn}");
    }
}

#[tokio::test]
async fn the_last_turn_is_that_of_the_shown_branch() {
    let story = nine_answered_turns().await;
    let last = story.store.last_shown_turn(&conversation_id()).await.expect("read");
    assert_eq!(last.expect("a turn").turn, "t9".into());
    story.store.submit_fork(&new_turn("f1", "f1", 200), &"t4".into()).await.expect("stored");
    let last = story.store.last_shown_turn(&conversation_id()).await.expect("read");
    assert_eq!(last.expect("a turn").turn, "t3".into(), "what is queued has not ended");
    assert_eq!(story.store.last_shown_turn(&"none".into()).await.expect("read"), None);
}
