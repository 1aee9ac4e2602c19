//! Messages are read once where nothing changes them, and judged for each request.

use std::collections::HashSet;

use protocol::{ConversationId, Privacy, Timestamp, TurnId};

use super::*;
use crate::adapters::stored_conversations::{StoredConversations, message, private_folders};
use crate::privacy::{PrivacyGuard, SourcesByTurn};

async fn turns_of(stored: &StoredConversations, conversation: &str) -> Vec<i64> {
    let id = ConversationId::from(conversation);
    let outline = stored.store.conversation_outline(&id).await.expect("read");
    outline.expect("it is there").turns
}

#[tokio::test]
async fn an_ended_turn_is_read_once_and_a_running_one_for_each_request() {
    let stored = StoredConversations::new().await;
    stored.begin("c").await;
    stored.ask("c", "one", "what is new?").await;
    stored.answer("c", "one", None, "Nothing.").await;
    stored.ask("c", "two", "really?").await;
    let turns = turns_of(&stored, "c").await;
    let cache = MentionedTurnCache::default();
    let read = async || cache.messages(&stored.store, &turns).await.expect("read");
    let first = read().await;
    stored.step("c", "two", "I look again.").await;
    let second = read().await;
    assert!(Arc::ptr_eq(&first[0], &second[0]), "it is read once");
    assert_eq!((first[1].len(), second[1].len()), (1, 2), "it runs");
    stored.answer("c", "two", None, "Nothing at all.").await;
    let (third, fourth) = (read().await, read().await);
    assert!(Arc::ptr_eq(&third[1], &fourth[1]), "it has ended by now");
    let uncached = MentionedTurnCache::default();
    assert_eq!(third, uncached.messages(&stored.store, &turns).await.expect("read"));
    assert_eq!(third[1].len(), 3);
}

#[tokio::test]
async fn a_turn_that_is_no_longer_stored_is_left_out() {
    let stored = StoredConversations::new().await;
    stored.end_with("c", None, "Nothing.").await;
    let mut turns = turns_of(&stored, "c").await;
    let cache = MentionedTurnCache::default();
    let all = cache.messages(&stored.store, &turns).await.expect("read");
    turns.insert(0, turns[0] + 1);
    assert_eq!(cache.messages(&stored.store, &turns).await.expect("read"), all);
}

#[test]
fn only_turns_that_nothing_goes_on_with_are_kept() {
    for (status, expected) in [
        (TurnStatus::Queued, true),
        (TurnStatus::Running, true),
        (TurnStatus::Interrupted, true),
        (TurnStatus::Done, false),
        (TurnStatus::Asked, false),
        (TurnStatus::Limit, false),
        (TurnStatus::Cancelled, false),
        (TurnStatus::Failed, false),
    ] {
        assert_eq!(may_change(status), expected, "{status:?}");
    }
}

#[test]
fn the_cache_of_a_turn_has_a_limit() {
    let mut cached = CachedMessages::default();
    let half = "x".repeat(MAX_CACHED_BYTES / 2);
    let messages: Arc<[Message]> = [message("c", "t", Role::User, &half)].into();
    for turn in [0, 0, 1, 2, 3] {
        cached.add(turn, &messages);
    }
    let kept: HashSet<i64> = cached.by_turn.into_keys().collect();
    assert_eq!((kept, cached.bytes), (HashSet::from([0, 1]), MAX_CACHED_BYTES));
}

#[tokio::test]
async fn messages_for_one_conversation_are_kept_for_the_next_one() {
    let stored = StoredConversations::new().await;
    stored.end_with("m", None, "Nothing.").await;
    let (guard, cache) = (stored.guard(&["Work"]), MentionedTurnCache::default());
    let turns = turns_of(&stored, "m").await;
    let mut kept = Vec::new();
    for conversation in ["c", "d"] {
        let text = "as in [[conversation:m|Milk]]";
        let rows = vec![message(conversation, conversation, Role::User, text)];
        guard.redact_for_any(rows, &SourcesByTurn::new(), &cache).await.expect("heard");
        kept.extend(cache.cached(&turns).into_values());
    }
    assert_eq!(kept.len(), 2);
    assert!(Arc::ptr_eq(&kept[0], &kept[1]), "they are read once");
}

/// Whether the next request of the turn has the title of the mentioned conversation.
async fn has_title(guard: &PrivacyGuard, turn: &TurnId) -> bool {
    let rows = vec![message("c", turn.as_str(), Role::User, "as in [[conversation:m|Milk]]")];
    let heard = guard.redact_for_turn(turn, rows, &SourcesByTurn::new()).await;
    let (heard, _) = heard.expect("heard");
    heard.iter().any(|row| row.text().contains("[[conversation:m|Milk]]"))
}

#[tokio::test]
async fn each_request_of_a_turn_counts_the_rules_and_the_messages_of_its_moment() {
    let stored = StoredConversations::new().await;
    stored.begin("m").await;
    stored.ask("m", "one", "where is it?").await;
    stored.answer("m", "one", None, "It is in Diary/a.md.").await;
    let (guard, turn) = (stored.guard(&["Work"]), TurnId::from("asking"));
    guard.begin(&turn, Privacy::Open).await.expect("begun");
    assert!(has_title(&guard, &turn).await);
    assert!(!guard.mentioned_turn_cache(&turn).lock().by_turn.is_empty(), "the control");
    for (never, expected) in [("Diary", false), ("Work", true)] {
        guard.set_rules(private_folders(&[never]));
        assert_eq!(has_title(&guard, &turn).await, expected, "{never}");
    }
    let id = ConversationId::from("m");
    stored.store.delete(&id, Timestamp(1)).await.expect("deleted");
    assert!(!has_title(&guard, &turn).await, "it is deleted");
    stored.store.restore(&id).await.expect("restored");
    assert!(has_title(&guard, &turn).await);
    stored.ask("m", "two", "and the other one?").await;
    assert!(has_title(&guard, &turn).await, "nothing was answered yet");
    stored.step("m", "two", "I look into Work/b.md.").await;
    assert!(!has_title(&guard, &turn).await, "its messages are read again");
    guard.end(&turn);
    assert!(guard.mentioned_turn_cache(&turn).lock().by_turn.is_empty(), "nobody needs it");
}
