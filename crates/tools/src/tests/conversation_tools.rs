//! Sending messages, asking, ending, and reading earlier conversations.

use protocol::{Speech, ToolEvent};
use serde_json::json;

use super::fixture::ToolFixture;

#[tokio::test]
async fn a_message_is_sent_and_a_question_is_asked() {
    let mut bench = ToolFixture::with(&[]);
    let said = bench.call_ok("send_message", json!({ "message": " Working on it. " })).await;
    assert_eq!(said.speech, Some(Speech::Say { text: "Working on it.".to_owned() }));
    let question =
        json!({ "message": "Which?", "is_question": true, "options": ["a", " a ", "", "b"] });
    let asked = bench.call_ok("send_message", question).await;
    let told = ToolEvent::QuestionAsked { question: "Which?".to_owned() };
    assert_eq!((said.reactions, asked.reactions), (vec![], vec![told]));
    let options = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(asked.speech, Some(Speech::Ask { text: "Which?".to_owned(), options }));
}

#[tokio::test]
async fn a_message_that_cannot_be_delivered_says_why() {
    let mut bench = ToolFixture::with(&[]);
    let empty = bench.call_err("send_message", json!({ "message": " " })).await;
    assert!(empty.starts_with("message is empty."), "{empty}");
    let aimless = json!({ "message": "Well", "options": ["a"] });
    assert!(bench.call_err("send_message", aimless).await.contains("Set is_question to true"));
    let many: Vec<String> = (0..9).map(|number| number.to_string()).collect();
    let many = json!({ "message": "?", "is_question": true, "options": many });
    assert!(bench.call_err("send_message", many).await.contains("at most 8"));
}

#[tokio::test]
async fn a_conversation_ends_with_a_reason_or_without() {
    let mut bench = ToolFixture::with(&[]);
    let ended = bench.call_ok("end_conversation", json!({ "reason": " done " })).await;
    assert_eq!(ended.speech, Some(Speech::End { reason: Some("done".to_owned()) }));
    let told = ToolEvent::ConversationEnded { reason: Some("done".to_owned()) };
    assert_eq!(ended.reactions, [told], "the window hears of it");
    let silent = bench.call_ok("end_conversation", json!({})).await;
    assert_eq!(silent.speech, Some(Speech::End { reason: None }));
}

#[tokio::test]
async fn the_list_of_changes_is_shown_for_this_conversation_or_for_all() {
    let mut bench = ToolFixture::with(&[]);
    for (arguments, conversation) in
        [(json!({}), Some("conversation".into())), (json!({ "all": true }), None)]
    {
        let shown = bench.call_ok("show_changes", arguments).await;
        assert_eq!(shown.reactions, [ToolEvent::ShowChanges { conversation }]);
    }
}

#[tokio::test]
async fn ended_conversations_are_listed_searched_and_shown_by_their_end() {
    let mut bench = ToolFixture::with(&[]);
    let line = "- The boiler (id `c-1`, 2025-11-21 09:00)\n  Bruno comes on Monday.";
    assert_eq!(bench.call_ok("get_conversation", json!({})).await.text, line);
    assert_eq!(bench.call_ok("get_conversation", json!({ "query": "boiler" })).await.text, line);
    let none = bench.call_ok("get_conversation", json!({ "query": "zeppelin" })).await.text;
    assert!(none.starts_with("No ended conversation mentions “zeppelin”."), "{none}");
    let rest = "\nOnly the newest 500 were searched, so older ones may mention it.";
    for (query, told) in [("boiler long ago", line), ("long ago", "No ended conversation")] {
        let found = bench.call_ok("get_conversation", json!({ "query": query })).await.text;
        assert!(found.starts_with(told) && found.ends_with(rest), "{found}");
    }
    let whole = bench.call_ok("get_conversation", json!({ "conversation_id": "c-1" })).await.text;
    assert!(whole.starts_with("The first message is left out.\n\nAssistant: yyy"), "{whole:.60}");
    assert!(whole.ends_with("User: Thanks."));
    let unknown = bench.call_err("get_conversation", json!({ "conversation_id": "c-2" })).await;
    assert!(unknown.contains("No ended conversation has the id `c-2`"), "{unknown}");
}

#[tokio::test]
async fn a_message_answers_the_open_question_or_does_not_and_no_other_one() {
    let mut bench = ToolFixture::with(&[]);
    let mut say = async |id: &str, is_answer: bool| {
        let arguments = json!({ "question_id": id, "is_answer": is_answer });
        match id {
            " q-1 " => bench.call_ok("resolve_question", arguments).await.text,
            _ => bench.call_err("resolve_question", arguments).await,
        }
    };
    assert!(say(" q-1 ", true).await.starts_with("Noted: the question is answered."));
    assert!(say(" q-1 ", false).await.starts_with("The question stays open."));
    assert_eq!(say("q-2", true).await, "The one that waits is `q-1`.");
}
