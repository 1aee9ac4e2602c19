//! A conversation goes on in branches: each sees the messages before it began, and nothing else.

use protocol::TurnStatus;
use protocol::chat::conversation::ChatItem;
use serde_json::json;
use store::{ShownVersion, StoreError, TurnPlace};

use crate::test_conversation::{
    TestConversation, answer, conversation_id, ending, new_turn, result,
};

/// Turns `t1` and `t2` were answered.
async fn two_answered_turns() -> TestConversation {
    let story = TestConversation::begin().await;
    for (turn, at) in [("t1", 1), ("t2", 3)] {
        story.says(turn, turn, at).await;
        story.begins().await;
        story.ends(turn, &ending(TurnStatus::Done, at + 1)).await;
    }
    story
}

/// Turn `id` stands in for `old`, and is answered.
async fn fork(conversation: &TestConversation, id: &str, old: &str, at: i64) {
    conversation.store.submit_fork(&new_turn(id, id, at), &old.into()).await.expect("stored");
    assert_eq!(conversation.begins().await, Some(id.into()));
    conversation.ends(id, &ending(TurnStatus::Done, at + 1)).await;
}

async fn heard(conversation: &TestConversation, turn: &str) -> Vec<String> {
    let history = conversation.store.history(&conversation_id(), &turn.into()).await.expect("read");
    history.iter().map(|message| message.text()).collect()
}

async fn shown(conversation: &TestConversation) -> Vec<String> {
    let items = conversation.items().await;
    let words = items.into_iter().filter_map(|item| match item {
        ChatItem::User { text, .. } => Some(text),
        _ => None,
    });
    words.collect()
}

#[tokio::test]
async fn nothing_forks_and_nothing_continues_while_a_turn_is_queued_or_runs() {
    let story = two_answered_turns().await;
    let refused = async || {
        let forked = story.store.submit_fork(&new_turn("t2b", "t2b", 10), &"t2".into()).await;
        assert!(matches!(forked, Err(StoreError::Working)), "{forked:?}");
        let behind = story.store.submit_turn_when_idle(&new_turn("t4", "t4", 10)).await;
        assert!(matches!(behind, Err(StoreError::Working)), "{behind:?}");
        assert_eq!(shown(&story).await, ["t1", "t2", "t3"], "nothing is stored");
    };
    story.says("t3", "t3", 5).await;
    refused().await;
    story.begins().await;
    refused().await;
    story.ends("t3", &ending(TurnStatus::Done, 6)).await;
    story.store.submit_turn_when_idle(&new_turn("t4", "t4", 7)).await.expect("nothing runs");
    story.begins().await;
    story.ends("t4", &ending(TurnStatus::Done, 8)).await;
    fork(&story, "t2b", "t2", 10).await;
}

#[tokio::test]
async fn branches_of_branches_hear_their_own_past_only() {
    let story = two_answered_turns().await;
    fork(&story, "t2b", "t2", 10).await;
    story.says("t3b", "t3b", 12).await;
    story.begins().await;
    story.ends("t3b", &ending(TurnStatus::Done, 13)).await;
    fork(&story, "t3c", "t3b", 14).await;
    assert_eq!(heard(&story, "t3c").await, ["t1", "t2b", "t3c"]);
    assert_eq!(heard(&story, "t3b").await, ["t1", "t2b", "t3b"]);
    assert_eq!(heard(&story, "t2").await, ["t1", "t2"]);
    // A version of a version stands next to it, not below.
    fork(&story, "t2c", "t2b", 20).await;
    assert_eq!(heard(&story, "t2c").await, ["t1", "t2c"]);
    let variants = story.store.variants(&conversation_id()).await.expect("read");
    let variants: Vec<_> =
        variants.iter().map(|v| (v.message.as_str(), v.number, v.count)).collect();
    assert_eq!(variants, [("t2c-asks", 3, 3)]);
    story.store.show_variant(&"t2c-asks".into(), 2).await.expect("shown");
    assert_eq!(shown(&story).await, ["t1", "t2b", "t3b"]);
    let variants = story.store.variants(&conversation_id()).await.expect("read");
    assert_eq!(variants.iter().map(|v| (v.number, v.count)).collect::<Vec<_>>(), [(2, 3), (1, 2)]);
    let left = story.store.turns_from(&"t2b".into()).await.expect("read");
    assert_eq!(left, ["t2b".into(), "t3b".into()]);
}

#[tokio::test]
async fn the_branch_of_a_turn_is_not_shown_while_another_turn_is_queued_or_runs() {
    let story = two_answered_turns().await;
    fork(&story, "t2b", "t2", 10).await;
    let show = async |turn: &str| story.store.show_turn(&conversation_id(), &turn.into()).await;
    let refused = async || {
        let other = show("t2").await;
        assert!(matches!(other, Err(StoreError::Working)), "{other:?}");
        show("t2b").await.expect("it is shown already");
        show("t1").await.expect("it is heard in both");
        assert_eq!(shown(&story).await, ["t1", "t2b", "t3b"]);
    };
    story.says("t3b", "t3b", 12).await;
    refused().await;
    story.begins().await;
    refused().await;
    story.ends("t3b", &ending(TurnStatus::Done, 13)).await;
    show("t2").await.expect("nothing runs");
    assert_eq!(shown(&story).await, ["t1", "t2"]);
}

#[tokio::test]
async fn the_first_message_can_have_versions_too() {
    let story = two_answered_turns().await;
    fork(&story, "t1b", "t1", 10).await;
    assert_eq!(heard(&story, "t1b").await, ["t1b"]);
    assert_eq!(shown(&story).await, ["t1b"]);
    let story = story.restart().await;
    assert_eq!(shown(&story).await, ["t1b"]);
    for (number, first, all) in [(1, "t1", vec!["t1", "t2"]), (2, "t1b", vec!["t1b"])] {
        let version = story.store.show_variant(&"t1b-asks".into(), number).await.expect("shown");
        let message = format!("{first}-asks").into();
        assert_eq!(version, ShownVersion { conversation: conversation_id(), message });
        assert_eq!(shown(&story).await, all);
    }
}

#[tokio::test]
async fn what_was_read_in_another_branch_is_not_known() {
    let story = TestConversation::begin().await;
    story.says("t1", "t1", 1).await;
    story.begins().await;
    story.steps("t1", "s1", &[("a", "read_file", json!({}))]).await;
    let mut end = ending(TurnStatus::Done, 2);
    let mut read = result("a", "read");
    read.seen = vec![(crate::test_conversation::path("a.md"), protocol::ContentHash::of(b"1"))];
    end.results = vec![read];
    story.ends("t1", &end).await;
    assert_eq!(
        story.store.read_state(&conversation_id(), TurnPlace::End).await.expect("read").len(),
        1
    );
    fork(&story, "t1b", "t1", 10).await;
    assert_eq!(
        story.store.read_state(&conversation_id(), TurnPlace::End).await.expect("read").len(),
        0
    );
    let before =
        story.store.read_state_before(&conversation_id(), &"t1b".into()).await.expect("read");
    assert_eq!(before.len(), 0);
}

#[tokio::test]
async fn an_answer_goes_on_in_the_branch_that_asked() {
    let story = two_answered_turns().await;
    story.store.submit_fork(&new_turn("t2b", "t2b", 10), &"t2".into()).await.expect("stored");
    story.begins().await;
    story.asks("t2b", "Which?", 11).await;
    story.store.show_variant(&"t2b-asks".into(), 1).await.expect("shown");
    assert_eq!(shown(&story).await, ["t1", "t2"]);
    story.store.submit_turn(&answer("t3b", "t2b", "This", 12)).await.expect("stored");
    story.begins().await;
    assert_eq!(shown(&story).await, ["t1", "t2b", "This"]);
    assert_eq!(heard(&story, "t3b").await, ["t1", "t2b", "One moment.", "", "This"]);
}

#[tokio::test]
async fn removing_a_queued_version_shows_the_messages_that_it_stood_in_for() {
    let story = two_answered_turns().await;
    fork(&story, "t2b", "t2", 10).await;
    story.store.submit_fork(&new_turn("t1b", "t1b", 20), &"t1".into()).await.expect("stored");
    // The control: the version stands in for all of them while it is queued.
    assert_eq!(shown(&story).await, ["t1b"]);
    let removed = story.store.remove_queued(&"t1b-asks".into()).await.expect("removed");
    assert_eq!(removed.expect("it was queued").shown_again, Some("t1-asks".into()));
    assert_eq!(shown(&story).await, ["t1", "t2"]);
    let variants = story.store.variants(&conversation_id()).await.expect("read");
    let variants: Vec<_> = variants.iter().map(|v| (v.message.as_str(), v.count)).collect();
    assert_eq!(variants, [("t2-asks", 2)], "no empty version is left");
    fork(&story, "t2c", "t2", 30).await;
    assert_eq!(heard(&story, "t2c").await, ["t1", "t2c"]);
}

#[tokio::test]
async fn removing_a_message_behind_a_version_leaves_the_version() {
    let story = two_answered_turns().await;
    fork(&story, "t2b", "t2", 10).await;
    story.says("t3b", "t3b", 12).await;
    let removed = story.store.remove_queued(&"t3b-asks".into()).await.expect("removed");
    assert_eq!(removed.expect("it was queued").shown_again, None);
    assert_eq!(shown(&story).await, ["t1", "t2b"]);
}
