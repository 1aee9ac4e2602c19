//! The Ollama provider against a real HTTP server.

use std::sync::Arc;

use futures_util::StreamExt;
use llm::{
    ContentBlock, Deadlines, ModelError, ModelEvent, ModelMessage, ModelRequest, Ollama,
    OllamaConfig, Provider, TextToolProvider, ToollessModels,
};
use protocol::{Role, TurnStatus};
use serde_json::{Value, json};

use crate::fixtures::byte_server::{ByteServer, CannedAnswer, respond};
use crate::fixtures::scripted_provider::{ScriptedProvider, without_usage};
use crate::fixtures::service_world::{ServiceWorld, within};

fn ollama(server: &ByteServer) -> Ollama {
    let (base_url, deadlines) = (server.url(), Deadlines::default());
    Ollama::new(OllamaConfig {
        base_url,
        key: "".into(),
        deadlines,
        parameters: llm::RequestParameters::default(),
    })
    .unwrap()
}

fn show(window: u32) -> CannedAnswer {
    let told = json!({ "model_info": { "llama.context_length": window } });
    respond("200 OK", "content-type: application/json\r\n", &told.to_string())
}

fn lines(lines: &[Value]) -> CannedAnswer {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    respond("200 OK", "content-type: application/x-ndjson\r\n", &body)
}

fn say(text: &str, read: u32) -> CannedAnswer {
    let end = json!({ "done": true, "done_reason": "stop", "prompt_eval_count": read });
    lines(&[json!({ "message": { "content": text } }), end])
}

fn words(text: &str) -> ModelRequest {
    let messages =
        vec![ModelMessage { role: Role::User, blocks: vec![ContentBlock::Text(text.to_owned())] }];
    ModelRequest { model: "llama".into(), messages, max_tokens: 100, ..ModelRequest::default() }
}

async fn read(
    provider: &dyn Provider,
    request: ModelRequest,
) -> Vec<Result<ModelEvent, ModelError>> {
    match within(provider.stream(request)).await {
        Ok(stream) => within(without_usage(stream).collect()).await,
        Err(error) => vec![Err(error)],
    }
}

#[tokio::test]
async fn a_whole_turn_with_a_tool_runs_in_a_window_that_was_asked_for() {
    let call = json!({ "message": { "content": "", "tool_calls": [
        { "function": { "name": "look", "arguments": { "what": "sky" } } }] } });
    let end = json!({ "done": true, "done_reason": "stop", "prompt_eval_count": 900 });
    let answers = vec![show(131_072), lines(&[call, end]), say("It is blue.", 900)];
    let mut server = ByteServer::serving(answers).await;
    let mut world =
        ServiceWorld::asking(Arc::new(ollama(&server)), Arc::new(ScriptedProvider::default()));
    let ending = world.say("What colour is the sky?").await;
    assert_eq!(ending.status, TurnStatus::Done, "{ending:?}");
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    let asked = server.requests.recv().await.unwrap();
    assert!(asked.head.starts_with("post /api/show "), "{}", asked.head);
    let first = server.requests.recv().await.unwrap();
    assert!(first.head.starts_with("post /api/chat "), "{}", first.head);
    assert_eq!(first.body["options"], json!({ "num_ctx": 8_192, "num_predict": 100 }));
    assert_eq!(first.body["tools"][0]["function"]["name"], "look");
    let second = server.requests.recv().await.unwrap().body;
    let messages = second["messages"].as_array().unwrap();
    assert_eq!(
        messages[2..],
        [
            json!({ "role": "assistant", "content": "", "tool_calls": [
                { "function": { "name": "look", "arguments": { "what": "sky" } } }] }),
            json!({ "role": "tool", "tool_name": "look", "content": "sky 0" }),
        ]
    );
}

#[tokio::test]
async fn a_prompt_that_was_cut_is_an_error_that_says_so() {
    let long = "word ".repeat(12_000);
    let server = ByteServer::serving(vec![show(131_072), say("Yes.", 4_096)]).await;
    let read = read(&ollama(&server), words(&long)).await;
    let Some(Err(ModelError::ContextExceeded { message: said, .. })) = read.last() else {
        panic!("{read:?}")
    };
    assert!(said.english().contains("read only 4096 of at least 10000 tokens"), "{said}");

    let server = ByteServer::serving(vec![show(131_072), say("Yes.", 12_000)]).await;
    let read = self::read(&ollama(&server), words(&long)).await;
    assert!(read.iter().all(Result::is_ok), "{read:?}");
}

#[tokio::test]
async fn the_window_grows_with_the_prompt_and_what_cannot_fit_is_not_sent() {
    let long = "word ".repeat(12_000);
    let mut server = ByteServer::serving(vec![show(40_000), say("Yes.", 12_000)]).await;
    let provider = ollama(&server);
    read(&provider, words(&long)).await;
    server.requests.recv().await.unwrap();
    assert_eq!(server.requests.recv().await.unwrap().body["options"]["num_ctx"], 32_768);
    let read = read(&provider, words(&long.repeat(5))).await;
    assert!(matches!(read[..], [Err(ModelError::ContextExceeded { .. })]), "{read:?}");
    assert!(server.requests.try_recv().is_err());
}

#[tokio::test]
async fn a_model_without_tools_is_asked_in_text() {
    let refused = json!({ "error": "registry/llama does not support tools" }).to_string();
    let call = r#"{"tool": "look", "parameters": {"what": "sky"}}"#;
    let server = ByteServer::serving(vec![
        show(8_192),
        respond("400 Bad Request", "", &refused),
        say(call, 900),
        say("It is blue.", 900),
    ])
    .await;
    let provider =
        TextToolProvider::new(Arc::new(ollama(&server)), server.url(), ToollessModels::default());
    let mut world = ServiceWorld::asking(Arc::new(provider), Arc::new(ScriptedProvider::default()));
    let ending = world.say("What colour is the sky?").await;
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
}

#[tokio::test]
async fn errors_are_read_wherever_they_come() {
    let missing = json!({ "error": "model 'llama' not found" }).to_string();
    let answers = vec![show(8_192), respond("404 Not Found", "", &missing)];
    let server = ByteServer::serving(answers).await;
    let error = read(&ollama(&server), words("hi")).await.pop().unwrap().unwrap_err();
    assert!(error.to_string().contains("doesn’t know the model `llama`"), "{error}");
    let answers = vec![show(8_192), lines(&[json!({ "error": "out of memory" })])];
    let server = ByteServer::serving(answers).await;
    let error = read(&ollama(&server), words("hi")).await.pop().unwrap().unwrap_err();
    assert!(matches!(&error, ModelError::Unknown { retryable: true, .. }), "{error:?}");
}

#[tokio::test]
async fn the_list_tells_what_is_there_and_who_is_small() {
    let tags = json!({ "models": [
        { "name": "llama:latest", "details": { "parameter_size": "3.2B" } },
        { "name": "big:70b", "details": { "parameter_size": "70B" } },
    ] });
    let answer = || respond("200 OK", "content-type: application/json\r\n", &tags.to_string());
    let server =
        ByteServer::serving(vec![answer(), show(8_192), answer(), show(8_192), answer()]).await;
    let provider = ollama(&server);
    let listed = provider.models().await.unwrap();
    let ids: Vec<_> = listed.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, ["llama:latest", "big:70b"]);
    let told = provider.capabilities("llama").await;
    assert_eq!((told.window, told.parameters), (Some(8_192), Some(3_200_000_000)));
    assert_eq!(provider.capabilities("big:70b").await.parameters, Some(70_000_000_000));
}
