//! Queued messages can be changed and removed, until their turn begins.

use protocol::{ChangeSet, Timestamp, TurnStatus};

use store::{ChangeSetDecision, RemovedMessage, TurnPlace};

use crate::test_conversation::{TestConversation, answer, conversation_id, edit, ending, path};

#[tokio::test]
async fn a_queued_message_takes_a_new_text_and_keeps_its_context() {
    let story = TestConversation::begin().await;
    story.says("t1", "One", 1).await;
    story.says("t2", "Two", 2).await;
    story.begins().await;
    let reworded = story.store.edit_queued(&"t2-asks".into(), "Two, please").await;
    assert_eq!(reworded.expect("stored"), Some(conversation_id()));
    story.ends("t1", &ending(TurnStatus::Done, 3)).await;
    story.begins().await;
    let history = story.store.history(&conversation_id(), &"t2".into()).await.expect("read");
    let message = history.last().expect("a message");
    assert_eq!((message.text().as_str(), message.parts.len()), ("Two, please", 2));
}

#[tokio::test]
async fn what_runs_or_answers_a_question_is_neither_changed_nor_removed() {
    let story = TestConversation::begin().await;
    story.says("t1", "One", 1).await;
    story.begins().await;
    assert_eq!(story.store.edit_queued(&"t1-asks".into(), "no").await.expect("asked"), None);
    assert_eq!(story.store.remove_queued(&"t1-asks".into()).await.expect("asked"), None);
    story.asks("t1", "Which?", 2).await;
    story.store.submit_turn(&answer("t2", "t1", "This", 3)).await.expect("stored");
    assert_eq!(story.store.remove_queued(&"t2-asks".into()).await.expect("asked"), None);
    assert_eq!(story.store.remove_queued(&"nobody".into()).await.expect("asked"), None);
}

#[tokio::test]
async fn a_turn_counts_as_queued_only_while_it_can_begin() {
    let story = TestConversation::begin().await;
    let is_queued = async || story.store.has_queued_turn(&conversation_id()).await.expect("read");
    assert!(!is_queued().await);
    story.says("t1", "One", 1).await;
    assert!(is_queued().await);
    story.begins().await;
    story.says("t2", "Two", 2).await;
    assert!(!is_queued().await, "one runs");
    story.asks("t1", "Which?", 3).await;
    assert!(!is_queued().await, "it was typed before the question, and is held");
    story.store.submit_turn(&answer("t3", "t1", "This", 4)).await.expect("stored");
    assert!(is_queued().await);
}

#[tokio::test]
async fn a_removed_message_leaves_nothing_and_what_it_would_have_told_is_untold() {
    let story = TestConversation::begin().await;
    story.says("t1", "One", 1).await;
    story.begins().await;
    let plan = ChangeSet::one(edit("a.md", "1", "2"));
    let (store, set) = (&story.store, "s".into());
    store
        .add_planned_changes(&conversation_id(), &set, &plan, &"t1".into(), &"c".into(), at(2))
        .await
        .expect("planned");
    story.ends("t1", &ending(TurnStatus::Done, 3)).await;
    let decision =
        ChangeSetDecision { rejected: vec![path("a.md")], ..ChangeSetDecision::default() };
    store.decide(&set, &decision, at(4)).await.expect("decided");
    let decisions =
        store.unreported_decisions(&conversation_id(), TurnPlace::End).await.expect("read");
    story.says("t2", "Two", 5).await;
    store.mark_decisions_reported(&decisions, &"t2".into()).await.expect("told");
    assert_eq!(
        store.unreported_decisions(&conversation_id(), TurnPlace::End).await.expect("read"),
        []
    );

    let removed = store.remove_queued(&"t2-asks".into()).await.expect("removed");
    let expected = RemovedMessage { conversation: conversation_id(), shown_again: None };
    assert_eq!(removed, Some(expected));
    assert_eq!(store.turn_status(&"t2".into()).await.expect("read"), None);
    assert_eq!(
        store.unreported_decisions(&conversation_id(), TurnPlace::End).await.expect("read"),
        decisions
    );
    assert_eq!(story.begins().await, None);
}

fn at(time: i64) -> Timestamp {
    Timestamp(time)
}
