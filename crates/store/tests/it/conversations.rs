//! The list of conversations, and the search for ended ones.

pub(crate) mod branches;
pub(crate) mod compaction;
pub(crate) mod conversation_search;
pub(crate) mod message_queue;
pub(crate) mod questions;
pub(crate) mod titles;

use std::collections::BTreeSet;

use protocol::chat::conversation_list::ArchiveState;
use protocol::time::Weekday;
use protocol::{Conversation, ConversationId, ConversationState, Timestamp};
use serde_json::json;

use crate::test_conversation::{
    TestConversation, answered, conversation_id, edit, ending, new_turn, said,
};

async fn listed(conversation: &TestConversation, limit: u32) -> Vec<Conversation> {
    let page =
        conversation.store.conversations(ArchiveState::Open, None, limit).await.expect("read");
    page.conversations
}

fn ids(rows: &[Conversation]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_str()).collect()
}

async fn search(conversation: &TestConversation, query: &str) -> Vec<(String, String)> {
    let found = conversation.store.ended_conversations(10, Some(query)).await.expect("read");
    found.into_iter().map(|row| (row.conversation.id.to_string(), row.excerpt)).collect()
}

/// A conversation that has ended with one question and one answer.
async fn ended(
    story: &TestConversation,
    id: &str,
    title: &str,
    asks: &str,
    answers: &str,
    at: i64,
) {
    let conversation = ConversationId::from(id);
    story.store.create_conversation(&conversation, title, None, Timestamp(at)).await.expect("made");
    let turn = format!("{id}-turn");
    let mut new = new_turn(&turn, asks, at);
    new.message.conversation = conversation.clone();
    story.store.submit_turn(&new).await.expect("stored");
    story.store.begin_turn(&conversation).await.expect("begun");
    let mut end = answered(&turn, answers, at);
    end.ends_conversation = true;
    if let Some(message) = &mut end.message {
        message.conversation = conversation;
    }
    story.ends(&turn, &end).await;
}

#[tokio::test]
async fn the_list_is_newest_first_and_cut_at_the_limit() {
    let story = TestConversation::begin().await;
    for (id, at) in [("d", 5), ("e", 3)] {
        story
            .store
            .create_conversation(&id.into(), "More", None, Timestamp(at))
            .await
            .expect("made");
    }
    assert_eq!(ids(&listed(&story, 10).await), ["d", "e", "c"]);
    story.says("t1", "Hello", 9).await;
    assert_eq!(ids(&listed(&story, 2).await), ["c", "d"]);
}

#[tokio::test]
async fn a_row_shows_pending_changes_and_running_work() {
    let story = TestConversation::begin().await;
    story.says("t1", "Hello", 4).await;
    let row = Conversation {
        id: conversation_id(),
        title: "Words".into(),
        titled_by_model: false,
        inbox_day: None,
        summary: None,
        state: ConversationState::Active,
        from_hub: false,
        archived: false,
        updated_at: Timestamp(4),
        waiting_question: None,
        waiting_notes: 0,
        held: 0,
        interrupted: false,
        working: true,
    };
    let found = story.store.conversation(&conversation_id()).await.expect("read");
    assert_eq!(found.as_ref(), Some(&row));
    assert_eq!(listed(&story, 10).await, Vec::from_iter(found));
    story.begins().await;
    let changes = [edit("a.md", "a", "b"), edit("b.md", "a", "b")].into_iter().collect();
    let (turn, call) = ("t1".into(), "c1".into());
    story
        .store
        .add_planned_changes(&row.id, &"s".into(), &changes, &turn, &call, Timestamp(5))
        .await
        .expect("planned");
    story.asks("t1", "Which one?", 6).await;
    let asked = Conversation {
        updated_at: Timestamp(6),
        waiting_question: Some("Which one?".into()),
        waiting_notes: 2,
        working: false,
        ..row
    };
    assert_eq!(story.store.conversation(&conversation_id()).await.expect("read"), Some(asked));
}

#[tokio::test]
async fn a_hub_has_one_conversation_a_day() {
    let story = TestConversation::begin().await;
    let (store, day) = (&story.store, "2026-11-21");
    assert_eq!(store.hub_conversation(day).await.expect("read"), None);
    store.create_conversation(&"h".into(), "Inbox", Some(day), Timestamp(1)).await.expect("made");
    assert_eq!(store.hub_conversation(day).await.expect("read"), Some("h".into()));
    let row = store.conversation(&"h".into()).await.expect("read").expect("there");
    assert_eq!((row.from_hub, row.inbox_day), (true, Some(Weekday::Saturday)));
    store.rename(&"h".into(), "Inbox, Saturday").await.expect("renamed");
    let row = store.conversation(&"h".into()).await.expect("read").expect("there");
    assert_eq!(row.inbox_day, None, "the user words this title");
    let second = store.create_conversation(&"i".into(), "Inbox", Some(day), Timestamp(2)).await;
    assert!(second.is_err());
}

#[tokio::test]
async fn an_unlisted_conversation_works_and_is_never_listed() {
    let story = TestConversation::begin().await;
    let id = ConversationId::from("ask");
    story.store.create_unlisted_conversation(&id, "Once", Timestamp(1)).await.expect("made");
    let mut new = new_turn("t1", "Hello", 2);
    new.message.conversation = id.clone();
    story.store.submit_turn(&new).await.expect("stored");
    story.store.set_state(&id, ConversationState::Ended).await.expect("ended");
    let items = story.store.chat_items(&id, &BTreeSet::new()).await.expect("read");
    assert_eq!(items.len(), 1);
    assert_eq!(ids(&listed(&story, 10).await), ["c"]);
    assert_eq!(story.store.ended_conversations(10, None).await.expect("read"), []);
}

#[tokio::test]
async fn it_can_be_renamed_ended_and_reopened_by_writing_in_it() {
    let story = TestConversation::begin().await;
    let id = conversation_id();
    story.store.rename(&id, "Shopping").await.expect("renamed");
    story.store.set_state(&id, ConversationState::Ended).await.expect("ended");
    let row = story.store.conversation(&id).await.expect("read").expect("there");
    assert_eq!((row.title.as_str(), row.state), ("Shopping", ConversationState::Ended));
    story.says("t1", "One more thing", 1).await;
    let row = story.store.conversation(&id).await.expect("read").expect("there");
    assert_eq!(row.state, ConversationState::Active);
    assert!(story.store.rename(&"nowhere".into(), "X").await.is_err());
}

#[tokio::test]
async fn a_turn_that_was_queued_when_the_conversation_ended_reopens_it() {
    let story = TestConversation::begin().await;
    story.says("t1", "Goodbye", 1).await;
    story.begins().await;
    story.says("t2", "One more thing", 2).await;
    let mut end = answered("t1", "Goodbye.", 3);
    end.ends_conversation = true;
    story.ends("t1", &end).await;
    let state = async || {
        let row = story.store.conversation(&conversation_id()).await.expect("read");
        row.map(|row| row.state)
    };
    assert_eq!(state().await, Some(ConversationState::Ended));
    story.begins().await;
    assert_eq!(state().await, Some(ConversationState::Active));
}

#[tokio::test]
async fn ended_conversations_show_their_last_words_else_their_first() {
    let story = TestConversation::begin().await;
    ended(&story, "milk", "Groceries", "Buy milk", &"Bought. ".repeat(100), 5).await;
    story.says("t1", "Hello?", 6).await;
    story.ends("t1", &ending(protocol::TurnStatus::Cancelled, 7)).await;
    story.store.set_state(&conversation_id(), ConversationState::Ended).await.expect("ended");
    let found = story.store.ended_conversations(10, None).await.expect("read");
    let words: Vec<(&str, usize)> =
        found.iter().map(|row| (&row.excerpt[..6], row.excerpt.chars().count())).collect();
    assert_eq!(words, [("Hello?", 6), ("Bought", 300)]);
    assert_eq!(story.store.ended_conversations(1, None).await.expect("read").len(), 1);
    let newest = async |limit| story.store.newest_ended(limit).await.expect("read");
    assert_eq!(newest(9).await, [conversation_id(), "milk".into()]);
    assert_eq!(newest(1).await, [conversation_id()]);
}

#[tokio::test]
async fn text_of_send_message_counts_as_a_message() {
    let story = TestConversation::begin().await;
    story.says("t1", "Where is it?", 1).await;
    story.begins().await;
    story.steps("t1", "m1", &[("c1", "send_message", json!({"message": "In the attic."}))]).await;
    let mut end = ending(protocol::TurnStatus::Done, 2);
    end.results = vec![said("c1", "In the attic.")];
    end.ends_conversation = true;
    story.ends("t1", &end).await;
    assert_eq!(search(&story, "attic").await, [("c".to_owned(), "In the attic.".to_owned())]);
}

#[tokio::test]
async fn search_finds_passages_with_every_word_and_takes_signs_literally() {
    let story = TestConversation::begin().await;
    ended(&story, "milk", "Groceries", "Buy 100% milk", "Bought.", 5).await;
    ended(&story, "boat", "The boat", "Paint the boat", "Painted it milk_white.", 6).await;
    let hits = async |query: &str| -> Vec<String> {
        search(&story, query).await.into_iter().map(|(id, _)| id).collect()
    };
    assert_eq!(hits("MILK").await, ["boat", "milk"]);
    assert_eq!(hits("milk boat").await, ["boat"]);
    assert_eq!(hits("milk groceries").await, ["milk"]);
    assert_eq!(hits("100%").await, ["milk"]);
    // Signs part words and are not words themselves.
    assert_eq!(hits("milk_").await, ["boat", "milk"]);
    assert_eq!(hits("%").await, Vec::<String>::new());
    // The last word may still be written.
    assert_eq!(hits("groc").await, ["milk"]);
    assert_eq!(hits("groc ").await, Vec::<String>::new());
    assert_eq!(hits("'; DROP").await, Vec::<String>::new());
    // The context block and JSON's own words were not said.
    assert_eq!(hits("Saturday").await, Vec::<String>::new());
    assert_eq!(hits("\"type\"").await, Vec::<String>::new());
}
