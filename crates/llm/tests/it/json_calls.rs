//! Calls in plain words, over HTTP, with servers that take no tools.

use std::sync::Arc;

use llm::{Deadlines, JsonCalls, NoTools, OpenAi, OpenAiConfig};
use protocol::{Ending, TurnStatus};
use serde_json::{Value, json};

use crate::model::ScriptedModel;
use crate::openai::{data, words};
use crate::server::{Answer, Server, respond};
use crate::world::World;

const CALL: &str = r#"{"tool": "look", "parameters": {"what": "sky"}, "reasoning": "to see"}"#;
const BROKEN: &str = r#"{"tool": "look", "parameters": {}}"#;

/// Runs a turn with these answers; returns how it ended and the bodies of the requests.
async fn turn(no_tools: &NoTools, answers: Vec<Answer>) -> (Ending, Vec<Value>) {
    let mut server = Server::serving(answers).await;
    let (base_url, deadlines) = (server.url(), Deadlines::default());
    let wire = OpenAi::new(OpenAiConfig {
        base_url,
        key: "".into(),
        deadlines,
        parameters: llm::Parameters::default(),
    })
    .unwrap();
    let provider = JsonCalls::new(Arc::new(wire), "here".into(), no_tools.clone());
    let mut world = World::asking(Arc::new(provider), Arc::new(ScriptedModel::default()));
    let ending = world.say("What colour is the sky?").await;
    let mut bodies = Vec::new();
    while let Ok(request) = server.requests.try_recv() {
        bodies.push(request.body);
    }
    (ending, bodies)
}

fn refusal() -> Answer {
    let said = json!({ "error": { "code": 400, "message": "this model does not support tools" } });
    respond("400 Bad Request", "", &said.to_string())
}

fn say(text: &str) -> Answer {
    data(&words(text))
}

fn last_words(body: &Value) -> &str {
    body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
}

#[tokio::test]
async fn a_server_that_refuses_tools_is_asked_in_words_and_that_is_remembered() {
    let no_tools = NoTools::default();
    let fenced = format!("Let me look.\n```json\n{CALL}\n```");
    let answers = vec![refusal(), say(&fenced), say("It is blue.")];
    let (ending, bodies) = turn(&no_tools, answers).await;
    assert_eq!(ending.status, TurnStatus::Done, "{ending:?}");
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    let with_tools: Vec<bool> = bodies.iter().map(|body| body.get("tools").is_some()).collect();
    assert_eq!(with_tools, [true, false, false]);
    assert!(bodies[1]["messages"][0]["content"].as_str().unwrap().contains("\n## look\n"));
    assert_eq!(last_words(&bodies[2]), "Result of look:\nsky 0");
    assert!(!bodies[2].to_string().contains("tool_call"), "{}", bodies[2]);

    let (ending, bodies) = turn(&no_tools, vec![say("Hello.")]).await;
    assert_eq!(ending.status, TurnStatus::Done, "{ending:?}");
    assert!(bodies[0].get("tools").is_none());
}

#[tokio::test]
async fn a_server_that_takes_tools_is_never_asked_in_words() {
    let no_tools = NoTools::default();
    let (ending, bodies) = turn(&no_tools, vec![say(CALL)]).await;
    assert_eq!(ending.message.unwrap().text(), CALL);
    assert_eq!(bodies.len(), 1);
}

#[tokio::test]
async fn a_server_that_refuses_both_is_not_taken_for_one_without_tools() {
    let no_tools = NoTools::default();
    for _ in 0..2 {
        let (ending, bodies) = turn(&no_tools, vec![refusal(), refusal()]).await;
        assert_eq!(ending.status, TurnStatus::Failed);
        let with_tools: Vec<bool> = bodies.iter().map(|body| body.get("tools").is_some()).collect();
        assert_eq!(with_tools, [true, false]);
    }
}

#[tokio::test]
async fn a_call_that_does_not_fit_is_sent_back_once() {
    let no_tools = NoTools::default();
    let answers = vec![refusal(), say(BROKEN), say(CALL), say("It is blue.")];
    let (ending, bodies) = turn(&no_tools, answers).await;
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    let told = last_words(&bodies[2]);
    assert!(told.contains("`parameters.what` is missing"), "{told}");
    assert_eq!(last_words(&bodies[3]), "Result of look:\nsky 0");
    assert!(!bodies[3].to_string().contains("no valid call"), "what was repaired is not kept");

    let answers = vec![say(BROKEN), say(BROKEN)];
    let (ending, bodies) = turn(&no_tools, answers).await;
    assert_eq!((ending.status, bodies.len()), (TurnStatus::Done, 2));
    assert_eq!(ending.message.unwrap().text(), BROKEN);
}

#[tokio::test]
async fn each_call_has_an_id_of_its_own() {
    let no_tools = NoTools::default();
    let answers = vec![refusal(), say(CALL), say(CALL), say("Done.")];
    let mut server = Server::serving(answers).await;
    let (base_url, deadlines) = (server.url(), Deadlines::default());
    let wire = OpenAi::new(OpenAiConfig {
        base_url,
        key: "".into(),
        deadlines,
        parameters: llm::Parameters::default(),
    })
    .unwrap();
    let provider = JsonCalls::new(Arc::new(wire), "here".into(), no_tools);
    let mut world = World::asking(Arc::new(provider), Arc::new(ScriptedModel::default()));
    assert_eq!(world.say("Look twice.").await.status, TurnStatus::Done);
    let results = world.memory.results().into_iter();
    let ids: std::collections::BTreeSet<_> = results.map(|(call, _)| call).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert!(server.requests.try_recv().is_ok());
}
