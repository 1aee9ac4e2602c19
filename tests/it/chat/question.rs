//! A question is told live, stays open over a kill, is answered once, and can be skipped.

use std::time::{SystemTime, UNIX_EPOCH};

use protocol::chat::conversation::ChatItem;
use protocol::{AppEvent, ErrorCode, Question, Timestamp};
use serde_json::json;
use testkit::stories::note_changes;
use testkit::stories::note_changes::NOTES;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, TestHome, content_blocks, home_with_key, last_two_messages, settings_with_model,
    user_messages,
};

fn now() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    Timestamp(i64::try_from(now.as_millis()).expect("a time of this century"))
}

/// A model that reads a note and asks about it, in a process that is gone right after the question
/// was stored.
async fn ask_and_kill(test_home: &TestHome, model: &ScriptedModel) {
    let env = [
        ("ANTHROPIC_API_KEY", testkit::scripted_model::KEY.to_owned()),
        ("ANTHROPIC_BASE_URL", model.base_url()),
    ];
    test_home.run_story_killed_at("llm.finish.after", "ask", &env).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_survives_a_kill_with_the_facts_to_go_on() {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    let before = now();
    ask_and_kill(&home, &model).await;

    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.only_conversation().await;
    let view = running.view(&conversation).await;
    let question = view.question.expect("the question is open");
    let Some(ChatItem::User { id, text, .. }) = view.items.first() else {
        panic!("{:?}", view.items)
    };
    assert_eq!((&question.original_message, text.as_str()), (id, "play ask"));
    assert_eq!((question.text.as_str(), question.tool_calls_completed), ("Which one?", 1));
    assert_eq!(question.options, ["a", "b"]);
    assert!((before..=now()).contains(&question.asked_at), "{question:?}");
    assert_eq!(view.conversation.waiting_question.as_deref(), Some("Which one?"));
    assert!(!view.conversation.working, "the turn ended with the question");
    assert_eq!(model.requests().len(), 1, "nothing is asked again automatically");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_reaches_the_model_behind_the_call_and_its_result() {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    ask_and_kill(&home, &model).await;

    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.only_conversation().await;
    let question = running.view(&conversation).await.question.expect("the question is open").id;
    running.send(Some(&conversation), "b", Some(&question)).await.expect("the answer is taken");
    running.app.wait_until_idle(&conversation).await.expect("idle");

    let request = model.wait_for_request(2).await;
    let (asked, answered) = last_two_messages(&request);
    let calls = content_blocks(asked, "tool_use");
    let names: Vec<_> = calls.iter().map(|call| call["name"].as_str()).collect();
    assert_eq!(names, [Some("read_file"), Some("send_message")]);
    assert_eq!(calls[1]["input"]["message"], "Which one?");
    let kinds = answered["content"].as_array().expect("blocks").iter();
    let kinds: Vec<_> = kinds.map(|block| block["type"].as_str()).collect();
    let results_first = ["tool_result", "tool_result", "text", "text"].map(Some);
    assert_eq!(kinds, results_first, "one message: results, context, answer");
    let results = content_blocks(answered, "tool_result");
    let answered_calls: Vec<_> = results.iter().map(|result| &result["tool_use_id"]).collect();
    assert_eq!(answered_calls, [&calls[0]["id"], &calls[1]["id"]]);
    assert_eq!(content_blocks(answered, "text")[1]["text"], "b");

    let view = running.view(&conversation).await;
    assert_eq!(view.question, None);
    assert_eq!(question_item(&view.items), ("Which one?", Some("b"), false));
    running.quit().await;
    model.finish();
}

/// The open question that the window is told, or that there is none any more.
fn told_question(event: &AppEvent) -> Option<Option<Question>> {
    match event {
        AppEvent::QuestionChanged { question, .. } => Some(question.clone()),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_is_told_of_a_question_when_a_model_asks_and_of_its_end_when_it_is_answered() {
    let asks = json!({ "message": "Which list?", "is_question": true, "options": ["One", "Two"] });
    let model = ScriptedModel::start(vec![
        Reply::text("Noted."),
        Reply::calls(vec![("send_message", asks)]),
        Reply::text("It is on the first list."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "I am back").await;
    // The control: an answer that asks nothing tells of no question.
    assert_eq!(running.view(&conversation).await.question, None);
    assert_eq!(running.heard_so_far(told_question), []);

    running.send(Some(&conversation), "Write down turmeric", None).await.expect("it is taken");
    let asked = |event: &AppEvent| told_question(event).flatten();
    let question = running.wait_for_event("the question", asked).await;
    assert_eq!((&question.conversation, question.text.as_str()), (&conversation, "Which list?"));
    assert_eq!(question.options, ["One", "Two"]);
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert_eq!(running.view(&conversation).await.question, Some(question.clone()));
    assert_eq!(running.heard_so_far(told_question), [Some(question.clone())], "it is open");

    running.send(Some(&conversation), "One", Some(&question.id)).await.expect("it is taken");
    let closed = |event: &AppEvent| told_question(event).filter(Option::is_none);
    running.wait_for_event("the end of the question", closed).await;
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert_eq!(running.heard_so_far(told_question), [Some(question), None]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_answer_is_refused_and_leaves_no_trace() {
    let (home, model) =
        (home_with_key(&NOTES), ScriptedModel::responder(note_changes::reply).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "play ask").await;
    let question = running.view(&conversation).await.question.expect("it asks").id;
    running.send(Some(&conversation), "a", Some(&question)).await.expect("the answer is taken");
    running.app.wait_until_idle(&conversation).await.expect("idle");
    let (before, requests) =
        (items_when_idle(&running, &conversation).await, model.requests().len());

    let same = running.send(Some(&conversation), "A", Some(&question)).await;
    let same = same.expect_err("it has this answer");
    assert_eq!(same.code, ErrorCode::Answered);
    assert_eq!(same.message, "This question was already answered with this text.");
    let second = running.send(Some(&conversation), "b", Some(&question)).await;
    let refused = second.expect_err("it has its answer");
    assert_eq!(refused.code, ErrorCode::Answered);
    assert_eq!(refused.message, "This question was already answered with “a”.");
    running.app.wait_until_idle(&conversation).await.expect("idle");
    assert_eq!(items_when_idle(&running, &conversation).await, before);
    assert_eq!(model.requests().len(), requests);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_no_answer_withdraws_the_question() {
    let asks = json!({ "message": "Which list?", "is_question": true, "options": ["One", "Two"] });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("send_message", asks)]),
        Reply::text("Then something else."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Write down turmeric").await;
    let question = running.view(&conversation).await.question.expect("it asks").id;

    running.send_and_wait(Some(&conversation), "Forget it. What is in Alpha?").await;
    let view = running.view(&conversation).await;
    assert_eq!(view.question, None);
    assert_eq!(question_item(&view.items), ("Which list?", None, true));
    assert_eq!(user_messages(&view), ["Write down turmeric", "Forget it. What is in Alpha?"]);
    let late = running.send(Some(&conversation), "One", Some(&question)).await;
    let late = late.expect_err("it does not wait any more");
    assert_eq!(late.code, ErrorCode::Answered);
    assert_eq!(late.message, "This question was withdrawn. Send your text as a new message.");
    running.quit().await;
    model.finish();
}

/// The question in the chat: its text, its answer, and whether it was withdrawn.
fn question_item(items: &[ChatItem]) -> (&str, Option<&str>, bool) {
    let found = items.iter().find_map(|item| match item {
        ChatItem::Asked { text, answer, withdrawn, .. } => {
            Some((text.as_str(), answer.as_deref(), *withdrawn))
        }
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no question in {items:?}"))
}

async fn items_when_idle(
    app: &RunningApp,
    conversation: &protocol::ConversationId,
) -> Vec<ChatItem> {
    app.view(conversation).await.items
}
