//! The OpenAI-compatible provider against a real HTTP server.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use llm::{
    ContentBlock, Deadlines, ModelError, ModelEvent, ModelMessage, ModelRequest, OpenAi,
    OpenAiConfig, Provider, StopReason, ToolCall, ToolSpec,
};
use protocol::chat::model::{Effort, ModelParameters};
use protocol::{Role, TokenUsage, TurnStatus};
use serde_json::{Value, json};

use crate::fixtures::byte_server::{ByteServer, CannedAnswer, respond, stream};
use crate::fixtures::scripted_provider::{ScriptedProvider, without_usage};
use crate::fixtures::service_world::{ServiceWorld, within};

const KEY: &str = "sk-CANARY-7f3a";

pub(crate) fn openai(base_url: &str, key: &str) -> Result<OpenAi, ModelError> {
    let timeout = Duration::from_secs(30);
    let deadlines = Deadlines { connect: timeout, first_event: timeout, idle: timeout };
    OpenAi::new(OpenAiConfig {
        base_url: base_url.into(),
        key: key.into(),
        deadlines,
        parameters: llm::RequestParameters::default(),
    })
}

pub(crate) fn data(chunks: &[Value]) -> CannedAnswer {
    let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    stream(&format!("{body}data: [DONE]\n\n"))
}

fn chunk(delta: &Value, reason: Option<&str>) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
}

pub(crate) fn words(text: &str) -> Vec<Value> {
    vec![chunk(&json!({ "content": text }), None), chunk(&json!({}), Some("stop"))]
}

fn request() -> ModelRequest {
    let call = ToolCall { id: "1".into(), tool: "look".into(), arguments: json!({ "a": 1 }) };
    let nameless = ToolCall { id: "2".into(), tool: String::new(), arguments: json!({}) };
    let result = |id: &str, is_error| {
        let (call, output) = (id.into(), "x".into());
        ContentBlock::Result { call, output, is_error, speech: None }
    };
    let text = |text: &str| ContentBlock::Text(text.into());
    ModelRequest {
        model: "gpt-x".into(),
        system: "Be good.".into(),
        tools: vec![ToolSpec {
            name: "look".into(),
            description: "Looks.".into(),
            input_schema: json!({ "type": "object" }),
        }],
        messages: vec![
            ModelMessage { role: Role::User, blocks: vec![text("hi"), text("there")] },
            ModelMessage {
                role: Role::Assistant,
                blocks: vec![ContentBlock::Call(call), ContentBlock::Call(nameless)],
            },
            ModelMessage {
                role: Role::User,
                blocks: vec![result("1", false), result("2", true), text("go on")],
            },
        ],
        max_tokens: 100,
    }
}

async fn read(provider: &dyn Provider) -> Vec<Result<ModelEvent, ModelError>> {
    match within(provider.stream(request())).await {
        Ok(stream) => within(without_usage(stream).collect()).await,
        Err(error) => vec![Err(error)],
    }
}

async fn failure(answer: CannedAnswer) -> ModelError {
    let server = ByteServer::serving(vec![answer]).await;
    read(&openai(&server.url(), KEY).unwrap()).await.pop().unwrap().unwrap_err()
}

#[tokio::test]
async fn the_request_is_what_the_api_wants() {
    let mut server = ByteServer::serving(vec![data(&words("x"))]).await;
    read(&openai(&server.url(), KEY).unwrap()).await;
    let request = server.requests.recv().await.unwrap();
    assert!(request.head.starts_with("post /v1/chat/completions http/1.1"), "{}", request.head);
    let key = format!("authorization: bearer {}", KEY.to_ascii_lowercase());
    assert!(request.head.contains(&key));
    let call = |id: &str, name: &str, arguments: &str| {
        json!({ "id": id, "type": "function",
            "function": { "name": name, "arguments": arguments } })
    };
    assert_eq!(
        request.body,
        json!({
            "model": "gpt-x",
            "max_tokens": 100,
            "stream": true,
            "stream_options": { "include_usage": true },
            "tools": [{ "type": "function", "function": {
                "name": "look", "description": "Looks.", "parameters": { "type": "object" } } }],
            "messages": [
                { "role": "system", "content": "Be good." },
                { "role": "user", "content": "hi\n\nthere" },
                { "role": "assistant", "tool_calls": [
                    call("1", "look", "{\"a\":1}"), call("2", "no_such_tool", "{}") ] },
                { "role": "tool", "tool_call_id": "1", "content": "x" },
                { "role": "tool", "tool_call_id": "2", "content": "Error: x" },
                { "role": "user", "content": "go on" },
            ],
        })
    );
}

#[tokio::test]
async fn parameters_are_sent_as_the_user_gave_them() {
    let mut server = ByteServer::serving(vec![data(&words("x"))]).await;
    let given = ModelParameters {
        temperature: Some(0.25),
        top_p: Some(0.5),
        effort: Some(Effort::Low),
        extra: r#"{ "seed": 7 }"#.into(),
        ..ModelParameters::default()
    };
    let (base_url, deadlines) = (server.url(), Deadlines::default());
    let parameters = llm::RequestParameters::parse(&given).unwrap();
    let config = OpenAiConfig { base_url, key: KEY.into(), deadlines, parameters };
    read(&OpenAi::new(config).unwrap()).await;
    let body = server.requests.recv().await.unwrap().body;
    let sent = ["temperature", "top_p", "reasoning_effort", "seed"].map(|name| body[name].clone());
    assert_eq!(sent, [json!(0.25), json!(0.5), json!("low"), json!(7)]);
}

#[tokio::test]
async fn an_answer_streams_in_however_the_bytes_are_cut() {
    for at_a_time in [1, 7, usize::MAX] {
        let usage =
            json!({ "choices": [], "usage": { "prompt_tokens": 5, "completion_tokens": 9 } });
        let whole = data(&[words("Grüße"), vec![usage]].concat());
        let server = ByteServer::serving(vec![CannedAnswer { at_a_time, ..whole }]).await;
        let usage = TokenUsage { input: 5, output: 9, ..TokenUsage::default() };
        let stopped = ModelEvent::Stopped { reason: StopReason::EndTurn, usage };
        let read = read(&openai(&server.url(), KEY).unwrap()).await;
        assert_eq!(read, [Ok(ModelEvent::Text("Grüße".into())), Ok(stopped)]);
    }
}

#[tokio::test]
async fn a_base_url_with_a_path_is_taken_as_it_is() {
    for (path, asked) in [
        ("", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/api/v1", "/api/v1/chat/completions"),
        ("/openai", "/openai/chat/completions"),
    ] {
        let mut server = ByteServer::serving(vec![data(&words("x"))]).await;
        read(&openai(&format!("{}{path}", server.url()), KEY).unwrap()).await;
        let head = server.requests.recv().await.unwrap().head;
        assert!(head.starts_with(&format!("post {asked} http/1.1")), "{path}: {head}");
    }
}

#[tokio::test]
async fn only_a_server_on_this_computer_is_asked_without_a_key() {
    let mut server = ByteServer::serving(vec![data(&words("x"))]).await;
    assert!(read(&openai(&server.url(), "").unwrap()).await[0].is_ok());
    assert!(!server.requests.recv().await.unwrap().head.contains("authorization"));
    for address in ["", "https://example.com/v1", "https://openrouter.ai/api/v1"] {
        assert!(matches!(openai(address, ""), Err(ModelError::Auth(_))), "{address}");
    }
    for address in ["http://192.168.1.2:1234/v1", "https://a:b@example.com", "http://example.com"] {
        assert!(matches!(openai(address, KEY), Err(ModelError::InvalidRequest(_))), "{address}");
    }
}

#[tokio::test]
async fn a_refusal_is_read_in_the_servers_own_shape_and_never_holds_the_key() {
    let error = |status, body: Value| failure(respond(status, "", &body.to_string()));
    let echoed = format!("Incorrect API key provided: {KEY}");
    let body = json!({ "error": { "message": echoed, "code": "invalid_api_key" } });
    let refused = error("401 Unauthorized", body.clone()).await;
    assert!(matches!(refused, ModelError::Auth(_)) && !format!("{refused:?}").contains(KEY));
    let refused = error("400 Bad Request", body).await;
    assert!(!format!("{refused:?}").contains(KEY), "{refused:?}");
    let body = json!({ "error": { "message": "x", "code": "context_length_exceeded" } });
    assert!(matches!(error("400 Bad Request", body).await, ModelError::ContextExceeded { .. }));
    let body = json!({ "error": { "message": "x", "code": "insufficient_quota" } });
    assert!(matches!(error("429 Too Many Requests", body).await, ModelError::Auth(_)));
    let body = json!({ "error": { "message": "x", "code": "model_not_found" } });
    let unknown = error("404 Not Found", body).await.to_string();
    assert!(unknown.contains("doesn’t know the model `gpt-x`. Choose another"), "{unknown}");
}

/// The capabilities of `qwen` at a server that lists it so at LM Studio's own address, and the last path asked.
async fn studio_capabilities(entry: Value) -> (llm::Capabilities, String) {
    let json = |status: &str, body: Value| {
        respond(status, "content-type: application/json\r\n", &body.to_string())
    };
    let listed =
        json!({ "data": [{ "id": "qwen", "object": "model", "owned_by": "organization_owner" }] });
    let unknown = json!({ "error": "Unexpected endpoint or method. (GET /api/tags)" });
    let studio = json!({ "data": [{ "id": "other", "loaded_context_length": 9 }, entry] });
    let answers = vec![json("200 OK", listed), json("200 OK", unknown), json("200 OK", studio)];
    let mut server = ByteServer::serving(answers).await;
    let told =
        within(openai(&format!("{}/v1", server.url()), "").unwrap().capabilities("qwen")).await;
    let heads = std::iter::from_fn(|| server.requests.try_recv().ok()).map(|request| request.head);
    let last = heads.last().unwrap_or_default();
    (told, last.split(' ').nth(1).unwrap_or_default().to_owned())
}

#[tokio::test]
async fn lm_studio_is_asked_for_the_window_with_which_it_loaded_the_model() {
    let loaded = json!({ "id": "qwen", "type": "llm", "state": "loaded",
        "loaded_context_length": 4_096, "max_context_length": 32_768, "capabilities": ["tool_use"] });
    let (told, asked) = studio_capabilities(loaded).await;
    assert_eq!((told.window, told.tools), (Some(4_096), Some(true)));
    assert_eq!(asked, "/api/v0/models");
    // The control: of a model that is not loaded nobody knows with which window it will be.
    let unloaded = json!({ "id": "qwen", "type": "llm", "state": "not-loaded",
        "max_context_length": 32_768, "capabilities": [] });
    let (told, _) = studio_capabilities(unloaded).await;
    assert_eq!((told.window, told.tools), (None, Some(false)));
}

#[tokio::test]
async fn an_error_in_place_of_a_stream_is_read() {
    let json = "content-type: application/json\r\n";
    let body = json!({ "error": { "message": "x", "code": 429 } }).to_string();
    assert!(matches!(failure(respond("200 OK", json, &body)).await, ModelError::RateLimit { .. }));
    let error = failure(respond("200 OK", json, "{}")).await.to_string();
    assert!(error.contains("Check the server URL in Settings"), "{error}");
}

async fn turn(answers: Vec<CannedAnswer>) -> (protocol::TurnEnding, ByteServer) {
    let server = ByteServer::serving(answers).await;
    let provider = Arc::new(openai(&server.url(), KEY).unwrap());
    let mut world = ServiceWorld::asking(provider, Arc::new(ScriptedProvider::default()));
    (world.say("What colour is the sky?").await, server)
}

#[tokio::test]
async fn a_whole_turn_with_a_tool_runs_over_http() {
    let call = json!({ "tool_calls": [{ "index": 0, "id": "call_1", "type": "function",
        "function": { "name": "look", "arguments": "{\"what\":\"sky\"}" } }] });
    let asks = data(&[chunk(&call, None), chunk(&json!({}), Some("tool_calls"))]);
    let (ending, mut server) = turn(vec![asks, data(&words("It is blue."))]).await;
    assert_eq!(ending.status, TurnStatus::Done, "{ending:?}");
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    server.requests.recv().await.unwrap();
    let second = server.requests.recv().await.unwrap().body;
    let result = json!({ "role": "tool", "tool_call_id": "call_1", "content": "sky 0" });
    assert_eq!(second["messages"].as_array().unwrap().last(), Some(&result));
}

/// An answer of vLLM to a request with a named tool: the calls are whole, and the reason is `stop`.
#[tokio::test]
async fn calls_of_an_answer_that_ends_with_stop_run_and_those_of_a_cut_one_or_a_refusal_do_not() {
    let call = json!({ "tool_calls": [{ "index": 0, "id": "call_1", "type": "function",
        "function": { "name": "look", "arguments": "{\"what\":\"sky\"}" } }] });
    let refusal = json!({ "refusal": "No." });
    let asks = |reason| data(&[chunk(&call, None), chunk(&json!({ "content": "" }), Some(reason))]);
    let (ending, mut server) = turn(vec![asks("stop"), data(&words("It is blue."))]).await;
    assert_eq!(ending.status, TurnStatus::Done, "{ending:?}");
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    server.requests.recv().await.unwrap();
    let second = server.requests.recv().await.unwrap().body;
    let result = json!({ "role": "tool", "tool_call_id": "call_1", "content": "sky 0" });
    assert_eq!(second["messages"].as_array().unwrap().last(), Some(&result));
    // The controls: a cut answer, and a refusal.
    let refuses = data(&[chunk(&call, None), chunk(&refusal, Some("stop"))]);
    for answer in [asks("length"), refuses] {
        let (ending, mut server) = turn(vec![answer]).await;
        assert_eq!(ending.status, TurnStatus::Failed, "{ending:?}");
        assert!(ending.results.iter().all(|result| result.is_error), "{ending:?}");
        assert_eq!(std::iter::from_fn(|| server.requests.try_recv().ok()).count(), 1);
    }
}

#[tokio::test]
async fn a_call_without_id_or_name_gets_an_error_and_the_turn_goes_on() {
    let call = json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{}" } }] });
    let asks = data(&[chunk(&call, None), chunk(&json!({}), Some("tool_calls"))]);
    let (ending, mut server) = turn(vec![asks, data(&words("Sorry."))]).await;
    assert_eq!(ending.status, TurnStatus::Done, "{ending:?}");
    server.requests.recv().await.unwrap();
    let second = server.requests.recv().await.unwrap().body;
    let messages = second["messages"].as_array().unwrap();
    let [.., asked, told] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(asked["tool_calls"][0]["id"], told["tool_call_id"]);
    assert!(told["content"].as_str().unwrap().starts_with("Error: "), "{told}");
}

#[tokio::test]
async fn an_answer_cut_at_the_cap_is_marked_and_one_with_empty_choices_ends() {
    let cut = chunk(&json!({ "content": "x" }), Some("length"));
    let (ending, _server) = turn(vec![data(&[cut])]).await;
    assert!(ending.cut, "{ending:?}");
    let usage = json!({ "id": "c", "choices": [] });
    let (ending, _server) = turn(vec![data(&[vec![usage], words("x")].concat())]).await;
    assert_eq!(ending.status, TurnStatus::Done);
}
