//! Questions through the hub: the next message may be the answer, and the model says whether it is.
//! `Q-sequence-…` are the scenarios by their ids; kills between asking and answering are in
//! `question_sweep`.

use std::time::Duration;

use protocol::chat::conversation::ChatItem;
use protocol::settings::SpendingSettings;
use protocol::{AppEvent, Settings};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};
use testkit::scripted_model::{last_message_text, offered_tools, tool_results};
use testkit::{Gate, Reply, ScriptedModel};

use crate::harness::raw_hub::{LinkResponse, RawHub, RawHubLink};
use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, with_hub,
};

const INBOX: &str = "inbox/Inbox.md";

fn question_reply() -> Reply {
    let ask = json!({ "message": "Which boat?", "is_question": true, "options": ["Red", "Blue"] });
    Reply::calls(vec![("send_message", ask)])
}

/// Settles the question that the context names.
fn settle_reply(is_answer: bool) -> Reply {
    Reply::computed(move |request| {
        let question = question_id_in(request);
        Reply::calls(vec![(
            "resolve_question",
            json!({ "question_id": question, "is_answer": is_answer }),
        )])
    })
}

/// The id of the question in the context of the last message.
fn question_id_in(request: &Value) -> String {
    let told = last_message_text(request);
    let id = told.split("Your question `").nth(1).and_then(|rest| rest.split('`').next());
    id.unwrap_or("none").to_owned()
}

fn offers_settle_tool(request: &Value) -> bool {
    offered_tools(request).iter().any(|tool| tool == "resolve_question")
}

/// Sends a message over the hub; returns the notification about it.
pub(crate) async fn send_and_read_notification(
    line: &mut RawHubLink,
    id: &str,
    words: &str,
) -> String {
    line.deliver(id, words).await;
    skip_to_response(line, id, "ack").await;
    let heard = skip_to_response(line, id, "notification").await;
    heard.payload["body"].as_str().unwrap_or_default().to_owned()
}

/// Skips to the response to a message: a new line first repeats what the old one may have lost.
async fn skip_to_response(line: &mut RawHubLink, id: &str, kind: &str) -> LinkResponse {
    loop {
        let heard = line.next_response().await;
        if heard.message == id && heard.kind == kind {
            return heard;
        }
    }
}

/// The question in the chat, its answer, and whether it is still open.
async fn question_state(app: &RunningApp) -> (Option<String>, bool) {
    let view = app.view(&app.only_conversation().await).await;
    let answers = view.items.iter().filter_map(|item| match item {
        ChatItem::Asked { answer, .. } => Some(answer.clone()),
        _ => None,
    });
    let answers: Vec<_> = answers.collect();
    assert_eq!(answers.len(), 1, "{:?}", view.items);
    (answers[0].clone(), view.question.is_some())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_message_answers_the_question_when_the_model_says_so() {
    // Q-sequence-19
    let model = ScriptedModel::start(vec![
        question_reply(),
        settle_reply(true),
        Reply::text("Painted blue."),
    ])
    .await;
    let (home, hub) = (home_with_key(&[]), RawHub::bind().await);
    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    assert_eq!(send_and_read_notification(&mut line, "m-1", "paint the boat").await, "Which boat?");
    assert_eq!(send_and_read_notification(&mut line, "m-2", "the blue one").await, "Painted blue.");
    let requests = model.requests();
    assert!(!offers_settle_tool(&requests[0]), "only when a question is open");
    assert!(offers_settle_tool(&requests[1]));
    let context = last_message_text(&requests[1]);
    assert!(context.contains("this message may be it: “Which boat?” (Red / Blue)"), "{context}");
    assert!(tool_results(&requests[2])[0].1.starts_with("Noted: the question is answered."));
    assert_eq!(question_state(&running).await, (Some("the blue one".into()), false));
    let gone = |event: &AppEvent| match event {
        AppEvent::QuestionChanged { question: None, .. } => Some(()),
        _ => None,
    };
    running.wait_for_event("that it is closed", gone).await;
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_no_answer_stands_alone_and_the_question_stays_open() {
    // Q-sequence-19 and -20
    let model = ScriptedModel::start(vec![
        question_reply(),
        settle_reply(false),
        Reply::text("Always remember to buy oat milk."),
        settle_reply(true),
        Reply::text("Painted red."),
        Reply::calls(vec![("resolve_question", json!({ "question_id": "q", "is_answer": true }))]),
        Reply::text("Yes."),
    ])
    .await;
    let (home, hub) = (home_with_key(&[]), RawHub::bind().await);
    let settings = with_hub(settings_with_model(&model), &hub.url());
    let running = home.open(settings.clone()).await;
    let mut line = hub.accept().await;
    assert_eq!(send_and_read_notification(&mut line, "m-1", "paint the boat").await, "Which boat?");
    assert_eq!(
        send_and_read_notification(&mut line, "m-2", "remember oat milk").await,
        "Always remember to buy oat milk."
    );
    assert_eq!(question_state(&running).await, (None, true));
    running.quit().await;
    drop(line);
    assert_eq!(home.notes.read(INBOX), "- remember oat milk\n", "nothing else was done about it");
    let running = home.open(settings).await;
    let mut line = hub.accept().await;
    assert_eq!(
        send_and_read_notification(&mut line, "m-3", "red").await,
        "Painted red.",
        "over a restart too"
    );
    assert_eq!(question_state(&running).await, (Some("red".into()), false));
    assert_eq!(home.notes.read(INBOX), "- remember oat milk\n", "an answer is not kept");
    // Once it is answered there is nothing to settle.
    assert_eq!(send_and_read_notification(&mut line, "m-4", "blue after all").await, "Yes.");
    assert!(!offers_settle_tool(&model.requests()[5]));
    assert!(tool_results(&model.requests()[6])[0].1.contains("There is no tool"));
    assert_eq!(question_state(&running).await, (Some("red".into()), false));
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn hub_messages_do_not_answer_later_questions_or_those_of_the_window() {
    let gate = Gate::closed();
    let model = ScriptedModel::start(vec![
        question_reply().gated(&gate),
        Reply::text("Later."),
        question_reply(),
        Reply::text("Heard."),
    ])
    .await;
    let (home, hub) = (home_with_key(&[]), RawHub::bind().await);
    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "paint the boat").await;
    assert_eq!(line.next_response().await.kind, "ack");
    model.wait_for_request(1).await;
    line.deliver("m-2", "and remember blue").await;
    assert_eq!(line.next_response().await.kind, "ack");
    gate.open();
    assert_eq!(line.next_response().await.payload["body"], "Which boat?");
    assert_eq!(line.next_response().await.payload["body"], "Later.");
    assert!(!offers_settle_tool(&model.requests()[1]), "it came before");
    assert_eq!(question_state(&running).await, (None, true));

    let chat = running.only_conversation().await;
    running.send_and_wait(Some(&chat), "ask me something").await;
    let question = running.view(&chat).await.question.expect("it is open");
    assert_eq!(send_and_read_notification(&mut line, "m-3", "the blue one").await, "Heard.");
    let request = model.requests().pop().expect("a request");
    assert!(
        !offers_settle_tool(&request) && last_message_text(&request).contains("still waits"),
        "{request}"
    );
    assert_eq!(running.view(&chat).await.question, Some(question), "it is the window's");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_the_prefix_answer_answers_and_anything_else_is_kept() {
    let model = ScriptedModel::start(vec![question_reply()]).await;
    let (home, hub) = (home_with_key(&[]), RawHub::bind().await);
    let settings = with_hub(settings_with_model(&model), &hub.url());
    let running = home.open(settings.clone()).await;
    let mut line = hub.accept().await;
    assert_eq!(send_and_read_notification(&mut line, "m-1", "paint the boat").await, "Which boat?");
    let spending = SpendingSettings { paused: true, ..SpendingSettings::default() };
    running.app.save_settings(Settings { spending, ..settings }).await.expect("saved");
    assert_eq!(
        send_and_read_notification(&mut line, "m-2", "the blue one").await,
        format!("Saved to {INBOX}.")
    );
    assert_eq!(question_state(&running).await, (None, true));
    let noted = send_and_read_notification(&mut line, "m-3", "Answer: the blue one").await;
    assert!(noted.starts_with("Noted as the answer to “Which boat?”."), "{noted}");
    assert_eq!(question_state(&running).await, (Some("Answer: the blue one".into()), false));
    let again = send_and_read_notification(&mut line, "m-4", "answer: red").await;
    assert_eq!(again, format!("Saved to {INBOX}."), "no question is open any more");
    assert_eq!(home.notes.read(INBOX), "- the blue one\n- answer: red\n");
    running.quit().await;
    model.finish();
}

/// Moves every question so far into the past.
async fn backdate_questions(test_home: &TestHome, by: Duration) {
    let options = SqliteConnectOptions::new().filename(test_home.database_path());
    let mut database = SqliteConnection::connect_with(&options).await.expect("a database");
    let aged = sqlx::query("UPDATE question SET asked_at = asked_at - ?")
        .bind(i64::try_from(by.as_millis()).expect("a short time"))
        .execute(&mut database)
        .await
        .expect("aged");
    assert_eq!(aged.rows_affected(), 1);
    database.close().await.expect("closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_comes_twice_goes_on_once() {
    // Q-sequence-21: as the same message, before and after the model has settled it, and over a restart.
    let gate = Gate::closed();
    let model = ScriptedModel::start(vec![
        question_reply(),
        settle_reply(true).gated(&gate),
        Reply::text("Painted blue."),
        Reply::text("It is blue already."),
    ])
    .await;
    let (home, hub) = (home_with_key(&[]), RawHub::bind().await);
    let settings = with_hub(settings_with_model(&model), &hub.url());
    let running = home.open(settings.clone()).await;
    let mut line = hub.accept().await;
    assert_eq!(send_and_read_notification(&mut line, "m-1", "paint the boat").await, "Which boat?");
    line.deliver("m-2", "the blue one").await;
    assert_eq!(line.next_response().await.kind, "ack");
    model.wait_for_request(2).await;
    line.deliver("m-2", "the blue one").await;
    assert_eq!(line.next_response().await.kind, "ack");
    gate.open();
    let heard = line.next_response().await;
    assert_eq!((heard.message.as_str(), &heard.payload["body"]), ("m-2", &json!("Painted blue.")));
    running.quit().await;
    drop(line);

    let running = home.open(settings).await;
    let mut line = hub.accept().await;
    line.deliver("m-2", "the blue one").await;
    skip_to_response(&mut line, "m-2", "ack").await;
    // Under an id of its own it is a request: what waited has its answer.
    assert_eq!(
        send_and_read_notification(&mut line, "m-3", "the blue one").await,
        "It is blue already."
    );
    assert!(!offers_settle_tool(&model.requests()[3]));
    assert_eq!(question_state(&running).await, (Some("the blue one".into()), false));
    running.quit().await;
    assert_eq!(model.requests().len(), 4, "each message was worked on once");
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_long_after_a_question_stands_alone_and_the_question_stays_open() {
    // Q-sequence-22, with its control: within the hour they may answer.
    for (minutes, may_answer) in [(59, true), (61, false)] {
        let model =
            ScriptedModel::start(vec![question_reply(), Reply::text("Which of them?")]).await;
        let (home, hub) = (home_with_key(&[]), RawHub::bind().await);
        let settings = with_hub(settings_with_model(&model), &hub.url());
        let running = home.open(settings.clone()).await;
        let mut line = hub.accept().await;
        assert_eq!(
            send_and_read_notification(&mut line, "m-1", "paint the boat").await,
            "Which boat?"
        );
        running.quit().await;
        drop(line);
        backdate_questions(&home, Duration::from_secs(minutes * 60)).await;

        let running = home.open(settings).await;
        let mut line = hub.accept().await;
        assert_eq!(
            send_and_read_notification(&mut line, "m-2", "the blue one").await,
            "Which of them?"
        );
        let request = model.requests().pop().expect("a request");
        assert_eq!(offers_settle_tool(&request), may_answer, "{minutes} min");
        let context = last_message_text(&request);
        assert!(context.contains("Which boat?"), "{minutes} min: {context}");
        let may_be = context.contains("this message may be it");
        assert_eq!(may_be, may_answer, "{minutes} min: {context}");
        assert_eq!(question_state(&running).await, (None, true), "the window can answer it still");
        running.quit().await;
        model.finish();
    }
}
