//! The sources of a turn: they are stored with the turn, and text of the hub stays marked in every
//! turn that reads it.

use std::collections::{BTreeSet, HashMap};

use protocol::{CallResult, Change, Origin, Source, Timestamp, TurnId, TurnStatus};
use serde_json::json;
use store::TurnTimes;

use crate::test_conversation::{TestConversation, conversation_id, ending, new_turn, path, result};

fn note(text: &str) -> Source {
    Source::Note(path(text))
}

async fn heard(conversation: &TestConversation, turn: &str) -> BTreeSet<Source> {
    conversation.store.context_sources(&turn.into()).await.expect("read")
}

/// A turn of the hub runs and ends.
async fn from_hub(conversation: &TestConversation, id: &str, at: i64) {
    let new = protocol::NewTurn { origin: Origin::HubVoice, ..new_turn(id, id, at) };
    conversation.store.submit_turn(&new).await.expect("stored");
    conversation.begins().await;
    conversation.ends(id, &ending(TurnStatus::Done, at + 1)).await;
}

/// A turn of the window begins and reads a note.
async fn reads(conversation: &TestConversation, id: &str, at: i64, read: &str) {
    conversation.says(id, id, at).await;
    assert_eq!(conversation.begins().await, Some(id.into()));
    let step = format!("{id}-step");
    conversation.steps(id, &step, &[("c", "read_file", json!({ "path": read }))]).await;
    let told = CallResult { sources: vec![note(read)], ..result("c", "words") };
    conversation.store.store_results(&id.into(), &[told]).await.expect("stored");
}

#[tokio::test]
async fn what_was_read_in_a_conversation_is_heard_by_all_later_turns_over_a_restart() {
    let story = TestConversation::begin().await;
    reads(&story, "t1", 1, "Clip.md").await;
    story.ends("t1", &ending(TurnStatus::Done, 2)).await;
    let story = story.restart().await;
    story.says("t2", "go on", 3).await;
    story.begins().await;
    assert_eq!(heard(&story, "t2").await, [Source::User, note("Clip.md")].into());
    // A turn does not see later messages.
    story.ends("t2", &ending(TurnStatus::Done, 4)).await;
    reads(&story, "t3", 5, "Later.md").await;
    assert!(!heard(&story, "t2").await.contains(&note("Later.md")));
}

#[tokio::test]
async fn the_sources_of_a_context_are_told_by_turn_and_so_is_when_each_may_have_read_them() {
    let story = TestConversation::begin().await;
    reads(&story, "t1", 1, "Clip.md").await;
    story.ends("t1", &ending(TurnStatus::Done, 2)).await;
    story.says("t2", "go on", 30).await;
    story.begins().await;
    let [first, second] = ["t1", "t2"].map(TurnId::from);
    let told = story.store.context_sources_by_turn(&second).await.expect("read");
    let expected = [
        (first.clone(), BTreeSet::from([Source::User, note("Clip.md")])),
        (second.clone(), BTreeSet::from([Source::User])),
    ];
    assert_eq!(told, HashMap::from(expected));
    let unknown = TurnId::from("t3");
    let turns = [&first, &second, &unknown];
    let times = story.store.turn_times(&turns).await.expect("read");
    let at = |begun, answered| TurnTimes { begun: Timestamp(begun), answered: Timestamp(answered) };
    // A turn that no model has answered yet was told nothing but its message.
    assert_eq!(times, HashMap::from([(first, at(1, 50)), (second, at(30, 30))]));
}

#[tokio::test]
async fn a_source_that_is_added_to_a_turn_is_kept_once_and_for_the_turns_after_it() {
    let story = TestConversation::begin().await;
    story.says("t1", "hello", 1).await;
    story.begins().await;
    for _ in 0..2 {
        story.store.add_sources(&"t1".into(), &[note("AGENTS.md")]).await.expect("stored");
    }
    assert_eq!(heard(&story, "t1").await, [Source::User, note("AGENTS.md")].into());
    story.ends("t1", &ending(TurnStatus::Done, 2)).await;
    let story = story.restart().await;
    story.says("t2", "go on", 3).await;
    story.begins().await;
    assert!(heard(&story, "t2").await.contains(&note("AGENTS.md")));
}

#[tokio::test]
async fn a_turn_that_stands_in_for_one_of_the_hub_is_from_the_hub_and_so_are_those_behind_it() {
    let story = TestConversation::begin().await;
    from_hub(&story, "h", 1).await;
    story.store.submit_fork(&new_turn("again", "again", 3), &"h".into()).await.expect("stored");
    story.begins().await;
    assert_eq!(heard(&story, "again").await, [Source::User, Source::Hub].into());
    story.ends("again", &ending(TurnStatus::Done, 4)).await;
    story.says("next", "next", 5).await;
    story.begins().await;
    assert!(heard(&story, "next").await.contains(&Source::Hub));
}

#[tokio::test]
async fn a_note_that_was_written_after_the_hub_was_heard_is_from_the_hub_wherever_it_moves() {
    let story = TestConversation::begin().await;
    from_hub(&story, "h", 1).await;
    let written = Change::create(path("In/clean.md"), b"clean".to_vec());
    story.store.propagate_taint(&[("h".into(), &written)]).await.expect("noted");
    let conversation = "d".into();
    story
        .store
        .create_conversation(&conversation, "Another", None, Timestamp(0))
        .await
        .expect("begun");
    let other = |id: &str, read: &str, at: i64| {
        let mut new = new_turn(id, id, at);
        new.message.conversation = "d".into();
        new.shown = vec![note(read)];
        new
    };
    let moves = Change::rename(path("In/clean.md"), path("Out/clean.md"));
    story.store.propagate_taint(&[("user".into(), &moves)]).await.expect("noted");
    let folder = Change::rename_folder(path("Out"), path("Far"));
    story.store.propagate_taint(&[("user".into(), &folder)]).await.expect("noted");
    for (turn, read, tainted) in
        [("a", "In/other.md", false), ("b", "Outer/clean.md", false), ("c", "In/clean.md", true)]
    {
        story.store.submit_turn(&other(turn, read, 10)).await.expect("stored");
        assert_eq!(heard(&story, turn).await.contains(&Source::Hub), tainted, "{read}");
    }
    for (turn, read) in [("d", "Out/clean.md"), ("e", "Far/clean.md")] {
        story.store.submit_turn(&other(turn, read, 11)).await.expect("stored");
        assert!(heard(&story, turn).await.contains(&Source::Hub), "{read}");
    }
}

#[tokio::test]
async fn a_turn_of_another_conversation_hears_nothing_of_it() {
    let story = TestConversation::begin().await;
    from_hub(&story, "h", 1).await;
    story
        .store
        .create_conversation(&"d".into(), "Another", None, Timestamp(0))
        .await
        .expect("begun");
    let mut new = new_turn("other", "other", 5);
    new.message.conversation = "d".into();
    story.store.submit_turn(&new).await.expect("stored");
    story.store.begin_turn(&"d".into()).await.expect("begun");
    assert_eq!(heard(&story, "other").await, [Source::User].into());
    assert_ne!(conversation_id(), "d".into());
}
