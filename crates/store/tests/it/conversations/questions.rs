//! Questions: they wait for as long as it takes, and have one answer.

use std::collections::BTreeSet;

use protocol::chat::conversation::ChatItem;
use protocol::{Message, Origin, TurnStatus};
use serde_json::json;
use store::StoreError;

use crate::test_conversation::{
    TestConversation, answer, answered, conversation_id, new_turn, question_asked, question_of,
};

/// Turn `t1` has asked "Which one?".
async fn open_question() -> TestConversation {
    let story = TestConversation::begin().await;
    story.says("t1", "Delete the list", 1).await;
    story.begins().await;
    story.asks("t1", "Which one?", 5).await;
    story
}

async fn texts(conversation: &TestConversation, turn: &str) -> Vec<String> {
    let history = conversation.store.history(&conversation_id(), &turn.into()).await.expect("read");
    history.iter().map(Message::text).filter(|text| !text.is_empty()).collect()
}

#[tokio::test]
async fn a_question_survives_a_restart_as_it_was() {
    let story = open_question().await.restart().await;
    let question = story.store.question(&conversation_id()).await.expect("read");
    assert_eq!(question, Some(question_asked("t1", "Which one?", 5)));
    assert_eq!(story.store.answer_of(&question_of("t1")).await.expect("read"), None);
    let row = story.store.conversation(&conversation_id()).await.expect("read").expect("there");
    assert_eq!(row.waiting_question.as_deref(), Some("Which one?"));
    assert!(!row.working);
}

#[tokio::test]
async fn who_asked_is_known_while_it_waits_and_to_the_turn_that_answers() {
    let story = open_question().await;
    let asked = |turn: &'static str| {
        let store = story.store.clone();
        async move { store.asking_turns(&turn.into()).await.expect("read") }
    };
    assert_eq!(asked("t1").await, ["t1".into()].into());
    story.store.submit_turn(&answer("t2", "t1", "The old one", 6)).await.expect("stored");
    story.says("t3", "Thanks", 7).await;
    assert_eq!(asked("t2").await, ["t1".into()].into());
    assert_eq!(asked("t3").await, [].into());
}

#[tokio::test]
async fn an_answer_closes_the_question_and_is_heard_after_it() {
    let story = open_question().await;
    story.store.submit_turn(&answer("t2", "t1", "The old one", 6)).await.expect("stored");
    assert_eq!(story.store.question(&conversation_id()).await.expect("read"), None);
    let words = story.store.answer_of(&question_of("t1")).await.expect("read");
    assert_eq!(words.as_deref(), Some("The old one"));
    assert_eq!(story.begins().await, Some("t2".into()));
    assert_eq!(texts(&story, "t2").await, ["Delete the list", "One moment.", "The old one"]);
}

#[tokio::test]
async fn a_second_answer_is_refused_with_the_first_and_stores_nothing() {
    let story = open_question().await;
    story.store.submit_turn(&answer("t2", "t1", "The old one", 6)).await.expect("stored");
    let late = story.store.submit_turn(&answer("t3", "t1", "The new one", 7)).await;
    let late = late.expect_err("refused");
    assert!(matches!(&late, StoreError::AlreadyAnswered { answer } if answer == "The old one"));
    assert_eq!(late.to_string(), "This question was already answered with “The old one”.");
    assert_eq!(story.store.turn_status(&"t3".into()).await.expect("read"), None);
    let row = story.store.conversation(&conversation_id()).await.expect("read").expect("there");
    assert_eq!(row.updated_at.0, 6);
}

#[tokio::test]
async fn the_same_answer_again_is_told_apart_from_another_one_over_a_restart() {
    let story = open_question().await;
    story.store.submit_turn(&answer("t2", "t1", "The old one", 6)).await.expect("stored");
    let story = story.restart().await;
    for words in ["The old one", " the  OLD one\n"] {
        let again = story.store.submit_turn(&answer("t3", "t1", words, 7)).await;
        assert!(matches!(again, Err(StoreError::AnsweredSo)), "{again:?}");
    }
    let other = story.store.submit_turn(&answer("t3", "t1", "The old ones", 7)).await;
    assert!(matches!(other, Err(StoreError::AlreadyAnswered { .. })), "{other:?}");
    assert_eq!(story.store.turn_status(&"t3".into()).await.expect("read"), None);
}

#[tokio::test]
async fn of_two_answers_at_once_one_stands() {
    let story = open_question().await;
    let (first, second) = (answer("t2", "t1", "Left", 6), answer("t3", "t1", "Right", 6));
    let twin = story.store.clone();
    let outcomes = tokio::join!(story.store.submit_turn(&first), twin.submit_turn(&second));
    let words = story.store.answer_of(&question_of("t1")).await.expect("read").expect("one");
    let refused = match outcomes {
        (Ok(()), Err(StoreError::AlreadyAnswered { answer })) if words == "Left" => answer,
        (Err(StoreError::AlreadyAnswered { answer }), Ok(())) if words == "Right" => answer,
        other => panic!("{other:?} with the answer {words}"),
    };
    assert_eq!(refused, words);
    assert_eq!(story.store.open_turns().await.expect("read").len(), 1);
}

#[tokio::test]
async fn a_new_request_from_the_window_withdraws_the_question() {
    let story = open_question().await;
    story.says("t2", "Something else", 6).await;
    assert_eq!(story.store.question(&conversation_id()).await.expect("read"), None);
    assert_eq!(story.store.answer_of(&question_of("t1")).await.expect("read"), None);
    let late = story.store.submit_turn(&answer("t3", "t1", "The old one", 7)).await;
    assert!(matches!(late, Err(StoreError::Withdrawn)));
    let items = story.items().await;
    let withdrawn = ChatItem::Asked {
        id: question_of("t1").as_str().into(),
        text: "Which one?".into(),
        answer: None,
        withdrawn: true,
    };
    assert!(items.contains(&withdrawn), "{items:?}");
}

#[tokio::test]
async fn a_hub_message_neither_answers_nor_withdraws_and_is_not_held() {
    let story = open_question().await;
    let mut over_the_hub = new_turn("t2", "Buy milk", 6);
    over_the_hub.origin = Origin::HubVoice;
    story.store.submit_turn(&over_the_hub).await.expect("stored");
    let question = story.store.question(&conversation_id()).await.expect("read");
    assert_eq!(question.map(|question| question.id), Some(question_of("t1")));
    assert_eq!(story.begins().await, Some("t2".into()));
}

#[tokio::test]
async fn words_typed_before_the_question_wait_for_its_answer() {
    let story = TestConversation::begin().await;
    story.says("t1", "Delete the list", 1).await;
    story.begins().await;
    story.says("t2", "And buy milk", 2).await;
    story.asks("t1", "Which one?", 5).await;
    assert_eq!(story.begins().await, None);
    story.store.submit_turn(&answer("t3", "t1", "The old one", 6)).await.expect("stored");
    assert_eq!(story.begins().await, Some("t3".into()));
    assert_eq!(texts(&story, "t3").await, ["Delete the list", "One moment.", "The old one"]);
    story.ends("t3", &answered("t3", "Deleted.", 7)).await;
    assert_eq!(story.begins().await, Some("t2".into()));
    assert_eq!(
        texts(&story, "t2").await,
        ["Delete the list", "One moment.", "The old one", "Deleted.", "And buy milk"]
    );
}

#[tokio::test]
async fn a_later_question_withdraws_the_older_one() {
    let story = open_question().await;
    let mut over_the_hub = new_turn("t2", "Buy milk", 6);
    over_the_hub.origin = Origin::HubText;
    story.store.submit_turn(&over_the_hub).await.expect("stored");
    story.begins().await;
    story.asks("t2", "How much?", 7).await;
    let question = story.store.question(&conversation_id()).await.expect("read");
    assert_eq!(question, Some(question_asked("t2", "How much?", 7)));
    let late = story.store.submit_turn(&answer("t3", "t1", "The old one", 8)).await;
    assert!(matches!(late, Err(StoreError::Withdrawn)));
    let status = story.store.turn_status(&"t2".into()).await.expect("read");
    assert_eq!(status, Some(TurnStatus::Asked));
}

#[tokio::test]
async fn an_answer_to_no_question_is_refused() {
    let story = TestConversation::begin().await;
    let lost = story.store.submit_turn(&answer("t1", "nobody", "Yes", 1)).await;
    assert!(lost.is_err(), "{lost:?}");
    assert_eq!(story.store.turn_status(&"t1".into()).await.expect("read"), None);
}

#[tokio::test]
async fn a_conversation_is_opened_as_its_parts_tell_it_one_by_one() {
    let story = TestConversation::begin().await;
    let no_tools = BTreeSet::new();
    let missing = story.store.open_conversation(&"nowhere".into(), &no_tools).await.expect("read");
    assert_eq!(missing, None);
    story.says("t1", "Paint it", 1).await;
    story.begins().await;
    story.steps("t1", "s1", &[("c1", "read_file", json!({ "path": "Boat.md", "n": 1.50 }))]).await;
    story.asks("t1", "Which one?", 2).await;
    let store = &story.store;
    let opened = store.open_conversation(&conversation_id(), &no_tools).await.expect("read");
    let opened = opened.expect("there");
    assert_eq!(Some(opened.row), store.conversation(&conversation_id()).await.expect("read"));
    assert_eq!(opened.items, story.items().await);
    assert!(opened.items.len() > 2, "{:?}", opened.items);
    assert_eq!(opened.question, store.question(&conversation_id()).await.expect("read"));
    assert!(opened.question.is_some());
    assert_eq!(opened.variants, store.variants(&conversation_id()).await.expect("read"));
    assert_eq!(opened.changes, store.open_change_set(&conversation_id()).await.expect("read"));
    story.says("t2", "Something else", 3).await;
    let opened = store.open_conversation(&conversation_id(), &no_tools).await.expect("read");
    let opened = opened.expect("there");
    assert_eq!(opened.question, None, "it was withdrawn");
}
