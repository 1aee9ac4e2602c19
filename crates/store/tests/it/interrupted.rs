//! Turns that were cut: taken up again from their rows, offered, left.

use protocol::chat::conversation::{ChatItem, Interruption};
use protocol::{Timestamp, TurnStatus, UserError};
use serde_json::json;
use store::StoreError;

use crate::changes::reverts::{edited, happened, plans, undoes};
use crate::test_conversation::{TestConversation, conversation_id, ending, new_turn, result};

/// Turn `t1` runs and has called; `t2` waits behind it.
async fn interrupted_turn() -> TestConversation {
    let story = TestConversation::begin().await;
    story.says("t1", "One", 1).await;
    story.says("t2", "Two", 2).await;
    story.begins().await;
    let calls = [("a", "read_file", json!({})), ("b", "read_file", json!({}))];
    story.steps("t1", "s1", &calls).await;
    story
}

async fn offered(conversation: &TestConversation) -> Option<Interruption> {
    let items = conversation.items().await;
    items.into_iter().find_map(|item| match item {
        ChatItem::Ended { offer, .. } => offer,
        _ => None,
    })
}

#[tokio::test]
async fn a_turn_that_is_taken_up_goes_on_before_all_others_in_its_old_place() {
    let story = interrupted_turn().await;
    let results = [result("a", "Cut."), result("b", "Cut.")];
    story.store.resume_turn(&"t1".into(), &results).await.expect("taken up");
    let story = story.restart().await;
    let begun = story.store.begin_turn(&conversation_id()).await.expect("begun").expect("a turn");
    assert_eq!((begun.turn.as_str(), begun.resumed), ("t1", 1));
    let history = story.store.history(&conversation_id(), &"t1".into()).await.expect("read");
    assert_eq!(history.len(), 3, "its words, its calls, their results");
    story.ends("t1", &ending(TurnStatus::Done, 9)).await;
    let again = story.store.resume_turn(&"t1".into(), &[]).await;
    assert!(matches!(again, Err(StoreError::NotFound { .. })), "a turn ends once: {again:?}");
}

#[tokio::test]
async fn while_a_cut_turn_is_offered_what_was_typed_behind_it_waits() {
    let story = interrupted_turn().await;
    let mut end = ending(TurnStatus::Interrupted, 3);
    end.results = vec![result("a", "Cut."), result("b", "Cut.")];
    end.error = Some(UserError::other("cut"));
    story.store.offer_resume(&"t1".into(), &end).await.expect("offered");
    assert_eq!(offered(&story).await, Some(Interruption { changed: 0, waiting: 0 }));
    let row = story.store.conversation(&conversation_id()).await.expect("read").expect("a row");
    assert_eq!((row.interrupted, row.working), (true, false));
    assert_eq!(story.begins().await, None);
    let cut = story.store.resume_offer(&conversation_id()).await.expect("read");
    assert_eq!(cut, Some("t1".into()));

    assert_eq!(
        story.store.decline_resume(&"t1".into()).await.expect("left"),
        Some(conversation_id())
    );
    assert_eq!(story.store.decline_resume(&"t1".into()).await.expect("asked"), None);
    assert_eq!(offered(&story).await, None);
    assert_eq!(story.begins().await, Some("t2".into()));
    let late = story.store.resume_turn(&"t1".into(), &[]).await;
    assert!(matches!(late, Err(StoreError::NotFound { .. })), "it was decided: {late:?}");
}

#[tokio::test]
async fn a_change_that_an_undo_planned_and_did_not_undo_counts_in_the_offer() {
    let story = interrupted_turn().await;
    edited(&story, "e1", "a.md").await;
    edited(&story, "e2", "a.md").await;
    plans(&story, "c1", &[undoes("a.md", "e1", None)]).await;
    happened(&story, "c1", "u1", "a.md").await;
    plans(&story, "c2", &[undoes("a.md", "e2", None)]).await;
    story.store.offer_resume(&"t1".into(), &ending(TurnStatus::Interrupted, 3)).await.expect("cut");
    assert_eq!(offered(&story).await, Some(Interruption { changed: 1, waiting: 0 }));
    // The control: once the second plan is carried out, no change is left.
    happened(&story, "c2", "u2", "a.md").await;
    assert_eq!(offered(&story).await, Some(Interruption { changed: 0, waiting: 0 }));
}

#[tokio::test]
async fn a_new_message_is_the_end_of_what_was_offered() {
    let story = interrupted_turn().await;
    story.store.offer_resume(&"t1".into(), &ending(TurnStatus::Interrupted, 3)).await.expect("cut");
    story.says("t3", "Three", 4).await;
    assert_eq!(offered(&story).await, None);
    assert_eq!(story.begins().await, Some("t2".into()));
}

#[tokio::test]
async fn a_cut_turn_of_a_version_that_is_not_shown_is_not_taken_up() {
    let story = TestConversation::begin().await;
    story.says("t1", "One", 1).await;
    story.begins().await;
    story.ends("t1", &ending(TurnStatus::Limit, 2)).await;
    story.store.submit_fork(&new_turn("t1b", "Other", 3), &"t1".into()).await.expect("stored");
    story.begins().await;
    let cut = ending(TurnStatus::Interrupted, 4);
    story.store.offer_resume(&"t1b".into(), &cut).await.expect("offered");
    for (number, taken_up) in [(1, None), (2, Some("t1b".into()))] {
        story.store.show_variant(&"t1b-asks".into(), number).await.expect("shown");
        let offer = story.store.resume_offer(&conversation_id()).await.expect("read");
        assert_eq!(offer, taken_up, "version {number}");
    }
}

#[tokio::test]
async fn a_resumed_turn_of_a_deleted_conversation_counts_as_open_once_that_is_restored() {
    let story = interrupted_turn().await;
    let results = [result("a", "Cut."), result("b", "Cut.")];
    story.store.resume_turn(&"t1".into(), &results).await.expect("resumed");
    let open = async |story: &TestConversation| {
        let open = story.store.open_turns().await.expect("read").into_iter();
        open.map(|turn| turn.turn.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(open(&story).await, ["t1", "t2"]);
    story.store.delete(&conversation_id(), Timestamp(5)).await.expect("deleted");
    let story = story.restart().await;
    assert_eq!(open(&story).await, [""; 0]);
    assert_eq!(story.begins().await, None);
    story.store.restore(&conversation_id()).await.expect("restored");
    assert_eq!(open(&story).await, ["t1", "t2"]);
    assert_eq!(story.begins().await, Some("t1".into()));
}
