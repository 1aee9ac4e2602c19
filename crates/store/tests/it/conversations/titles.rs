//! Titles and summaries by a model, and which conversations need one.

use std::collections::HashMap;

use protocol::{
    ConversationId, ConversationState, GeneratedTitle, Privacy, Timestamp, TitleRequest,
    TokenUsage, TurnId, TurnStatus, UtilityRequest,
};

use crate::test_conversation::{TestConversation, answered, conversation_id, ending};

/// Nothing is idle yet.
const NOTHING_IDLE: Timestamp = Timestamp(0);

fn title_usage() -> UtilityRequest {
    let usage = TokenUsage { input: 30, output: 5, cache_read: 0, cache_write: 0 };
    UtilityRequest { model: "cheap".into(), price: None, usage, at: Timestamp(500) }
}

fn generated(title: &str, summary: Option<&str>) -> GeneratedTitle {
    GeneratedTitle { title: title.into(), summary: summary.map(str::to_owned) }
}

/// A turn of the story that is answered.
async fn exchange(conversation: &TestConversation, turn: &str, at: i64) {
    conversation.says(turn, "Hello", at).await;
    conversation.begins().await;
    conversation.store.set_model(&turn.into(), "haiku", None, Privacy::Open).await.expect("noted");
    conversation.ends(turn, &answered(turn, "Hi.", at + 1)).await;
}

async fn wanted(
    conversation: &TestConversation,
    idle: Timestamp,
) -> Option<(TurnId, TitleRequest)> {
    let untold = conversation.store.next_untitled(idle).await.expect("read");
    untold.map(|untold| (untold.turn.turn, untold.wanted))
}

async fn title_and_summary(conversation: &TestConversation) -> (String, Option<String>) {
    let row =
        conversation.store.conversation(&conversation_id()).await.expect("read").expect("there");
    (row.title, row.summary)
}

#[tokio::test]
async fn a_title_is_wanted_after_the_first_answer_and_a_summary_when_it_is_over() {
    let story = TestConversation::begin().await;
    assert_eq!(wanted(&story, NOTHING_IDLE).await, None);
    exchange(&story, "t1", 1).await;
    let story = story.restart().await;
    assert_eq!(wanted(&story, NOTHING_IDLE).await, Some(("t1".into(), TitleRequest::Title)));
    story
        .store
        .store_title(&"t1".into(), &generated("Greetings", None), &title_usage())
        .await
        .expect("told");
    assert_eq!(title_and_summary(&story).await, ("Greetings".into(), None));
    assert_eq!(wanted(&story, NOTHING_IDLE).await, None);
    let over = Some(("t1".into(), TitleRequest::TitleAndSummary));
    assert_eq!(wanted(&story, Timestamp(2)).await, over, "nothing happens in it any more");
    let ended = ConversationState::Ended;
    story.store.set_state(&conversation_id(), ended).await.expect("ended");
    assert_eq!(wanted(&story, NOTHING_IDLE).await, over);
    let told = generated("A greeting", Some("They greeted."));
    story.store.store_title(&"t1".into(), &told, &title_usage()).await.expect("told");
    assert_eq!(
        title_and_summary(&story).await,
        ("A greeting".into(), Some("They greeted.".into()))
    );
    assert_eq!(wanted(&story, Timestamp(99)).await, None);
    exchange(&story, "t2", 3).await;
    assert_eq!(wanted(&story, NOTHING_IDLE).await, None, "it goes on under its title");
    assert_eq!(
        wanted(&story, Timestamp(9)).await,
        Some(("t2".into(), TitleRequest::TitleAndSummary))
    );
    let spent = story.store.turn_cost(&"t1".into()).await.expect("added up");
    assert_eq!((spent.requests, spent.usage.input), (2, 60));
}

#[tokio::test]
async fn a_name_of_the_user_stays_whenever_it_was_given() {
    let story = TestConversation::begin().await;
    exchange(&story, "t1", 1).await;
    story.store.rename(&conversation_id(), "Mine").await.expect("renamed");
    assert_eq!(wanted(&story, NOTHING_IDLE).await, None);
    let told = generated("Theirs", Some("They greeted."));
    story.store.store_title(&"t1".into(), &told, &title_usage()).await.expect("told");
    assert_eq!(title_and_summary(&story).await, ("Mine".into(), Some("They greeted.".into())));
}

#[tokio::test]
async fn only_names_that_the_user_gave_are_names_by_the_user() {
    let story = TestConversation::begin().await;
    exchange(&story, "t1", 1).await;
    let (own, other) = (conversation_id(), ConversationId::from("other"));
    story.store.create_conversation(&other, "Words", None, Timestamp(1)).await.expect("made");
    let names = async || story.store.names_by_user(&[&own, &other]).await.expect("read");
    assert_eq!(names().await, HashMap::new(), "the first words");
    let told = generated("Theirs", None);
    story.store.store_title(&"t1".into(), &told, &title_usage()).await.expect("told");
    assert_eq!(names().await, HashMap::new(), "a model's");
    story.store.rename(&own, "Mine").await.expect("renamed");
    assert_eq!(names().await, HashMap::from([(own.clone(), "Mine".to_owned())]));
}

#[tokio::test]
async fn what_fails_three_times_is_let_be_until_something_else_is_said() {
    let story = TestConversation::begin().await;
    exchange(&story, "t1", 1).await;
    for left in [true, true, false] {
        story.store.title_failed(&"t1".into(), Some(&title_usage())).await.expect("noted");
        assert_eq!(wanted(&story, NOTHING_IDLE).await.is_some(), left);
    }
    exchange(&story, "t2", 3).await;
    assert_eq!(wanted(&story, NOTHING_IDLE).await, Some(("t2".into(), TitleRequest::Title)));
}

#[tokio::test]
async fn none_is_wanted_of_the_hub_of_the_unlisted_of_the_deleted_and_of_what_failed() {
    let story = TestConversation::begin().await;
    story.says("t1", "Hello", 1).await;
    story.begins().await;
    story.ends("t1", &ending(TurnStatus::Failed, 2)).await;
    assert_eq!(wanted(&story, Timestamp(9)).await, None, "nobody has answered");
    let (hub, unlisted) = ("hub".into(), "unlisted".into());
    story.store.create_conversation(&hub, "h", Some("day"), Timestamp(1)).await.expect("made");
    story.store.create_unlisted_conversation(&unlisted, "u", Timestamp(1)).await.expect("made");
    for (turn, conversation) in [("t2", &hub), ("t3", &unlisted)] {
        let mut new = crate::test_conversation::new_turn(turn, "Hello", 3);
        new.message.conversation = conversation.clone();
        story.store.submit_turn(&new).await.expect("stored");
        story.store.begin_turn(conversation).await.expect("begun");
        story.ends(turn, &ending(TurnStatus::Done, 4)).await;
    }
    assert_eq!(wanted(&story, Timestamp(9)).await, None);
    exchange(&story, "t4", 5).await;
    story.store.delete(&conversation_id(), Timestamp(6)).await.expect("deleted");
    assert_eq!(wanted(&story, Timestamp(9)).await, None);
    story.store.purge_conversation(&conversation_id()).await.expect("removed");
    // A model that was asked meanwhile has been paid all the same.
    let told = generated("Theirs", None);
    story.store.store_title(&"t4".into(), &told, &title_usage()).await.expect("told");
    let spent = story.store.cost_between(Timestamp(0), Timestamp(999)).await.expect("added up");
    assert_eq!(spent.usage.input, 30);
}

#[tokio::test]
async fn none_is_wanted_of_a_conversation_that_no_model_was_in() {
    let story = TestConversation::begin().await;
    story.says("t1", "open Heating", 1).await;
    story.begins().await;
    story.store.set_model(&"t1".into(), "", None, Privacy::Open).await.expect("noted");
    story.ends("t1", &answered("t1", "Opened Heating.", 2)).await;
    assert_eq!(wanted(&story, Timestamp(9)).await, None);
    // The control: a model answers in it.
    exchange(&story, "t2", 3).await;
    assert_eq!(wanted(&story, NOTHING_IDLE).await, Some(("t2".into(), TitleRequest::Title)));
}
