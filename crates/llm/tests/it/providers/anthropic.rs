//! The Anthropic provider against a real HTTP server.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use llm::{
    Anthropic, AnthropicConfig, ContentBlock, Deadlines, ModelError, ModelEvent, ModelMessage,
    ModelRequest, Provider, StopReason, ToolCall, ToolSpec,
};
use protocol::{Role, TokenUsage, TurnStatus};
use serde_json::json;

use crate::fixtures::byte_server::{
    AfterBytes, ByteServer, CannedAnswer, call, respond, stop, stream, words,
};
use crate::fixtures::scripted_provider::{ScriptedProvider, without_usage};
use crate::fixtures::service_world::{ServiceWorld, within};

const KEY: &str = "sk-CANARY-7f3a";

fn anthropic(base_url: &str) -> Result<Anthropic, ModelError> {
    let timeout = Duration::from_secs(30);
    let deadlines = Deadlines { connect: timeout, first_event: timeout, idle: timeout };
    Anthropic::new(AnthropicConfig {
        base_url: base_url.into(),
        key: KEY.into(),
        deadlines,
        parameters: llm::RequestParameters::default(),
    })
}

fn impatient(base_url: &str) -> Anthropic {
    let short = Duration::from_millis(200);
    let deadlines = Deadlines { connect: short, first_event: short, idle: short };
    Anthropic::new(AnthropicConfig {
        base_url: base_url.into(),
        key: KEY.into(),
        deadlines,
        parameters: llm::RequestParameters::default(),
    })
    .unwrap()
}

fn request() -> ModelRequest {
    let message = ModelMessage { role: Role::User, blocks: vec![ContentBlock::Text("hi".into())] };
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: "Looks.".into(),
        input_schema: json!({ "type": "object" }),
    };
    ModelRequest {
        model: "claude-x".into(),
        system: "Be good.".into(),
        tools: vec![tool("a"), tool("b")],
        messages: vec![message],
        max_tokens: 100,
    }
}

/// Everything that came until the stream ended.
async fn read(provider: &Anthropic) -> Vec<Result<ModelEvent, ModelError>> {
    match within(provider.stream(request())).await {
        Ok(stream) => within(without_usage(stream).collect()).await,
        Err(error) => vec![Err(error)],
    }
}

async fn failure(answer: CannedAnswer) -> ModelError {
    let server = ByteServer::serving(vec![answer]).await;
    let mut read = read(&anthropic(&server.url()).unwrap()).await;
    read.pop().unwrap().unwrap_err()
}

fn said(words: &str) -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Text(words.into()))
}

#[tokio::test]
async fn an_answer_streams_in_however_the_bytes_are_cut() {
    for at_a_time in [1, 7, usize::MAX] {
        let whole = stream(&format!("{}{}", words("Grüße"), stop("end_turn")));
        let server = ByteServer::serving(vec![CannedAnswer { at_a_time, ..whole }]).await;
        let usage = TokenUsage { input: 5, output: 9, ..TokenUsage::default() };
        let stopped = ModelEvent::Stopped { reason: StopReason::EndTurn, usage };
        let read = read(&anthropic(&server.url()).unwrap()).await;
        assert_eq!(read, [said("Grüße"), Ok(stopped)]);
    }
}

#[tokio::test]
async fn the_request_is_what_the_api_wants_with_the_stable_parts_marked_for_the_cache() {
    let mut server = ByteServer::serving(vec![stream(&stop("end_turn"))]).await;
    read(&anthropic(&server.url()).unwrap()).await;
    let request = server.requests.recv().await.unwrap();
    assert!(request.head.starts_with("post /v1/messages http/1.1"), "{}", request.head);
    assert!(request.head.contains(&format!("x-api-key: {}", KEY.to_ascii_lowercase())));
    assert!(request.head.contains("anthropic-version: 2023-06-01"));
    let ephemeral = json!({ "type": "ephemeral" });
    let schema = json!({ "type": "object" });
    assert_eq!(
        request.body,
        json!({
            "model": "claude-x",
            "max_tokens": 100,
            "stream": true,
            "system": [{ "type": "text", "text": "Be good.", "cache_control": ephemeral }],
            "tools": [
                { "name": "a", "description": "Looks.", "input_schema": schema },
                { "name": "b", "description": "Looks.", "input_schema": schema,
                  "cache_control": ephemeral },
            ],
            "messages": [{ "role": "user", "content": [
                { "type": "text", "text": "hi", "cache_control": ephemeral },
            ] }],
        })
    );
}

#[tokio::test]
async fn a_closing_request_declares_the_tools_it_tells_of_and_forbids_calls() {
    let mut server = ByteServer::serving(vec![stream(&stop("end_turn"))]).await;
    let call = ToolCall { id: "1".into(), tool: "look".into(), arguments: json!({ "a": 1 }) };
    let (output, is_error, speech) = ("x".into(), true, None);
    let result = ContentBlock::Result { call: "1".into(), output, is_error, speech };
    let mut closing = ModelRequest { tools: Vec::new(), ..request() };
    closing.messages.extend([
        ModelMessage { role: Role::Assistant, blocks: vec![ContentBlock::Call(call)] },
        ModelMessage { role: Role::User, blocks: vec![result] },
    ]);
    let provider = anthropic(&server.url()).unwrap();
    let _: Vec<_> = provider.stream(closing).await.unwrap().collect().await;
    let body = server.requests.recv().await.unwrap().body;
    assert_eq!(body["tool_choice"], json!({ "type": "none" }));
    assert_eq!(body["tools"][0]["name"], "look");
    assert_eq!(
        [&body["messages"][1]["content"][0], &body["messages"][2]["content"][0]],
        [
            &json!({ "type": "tool_use", "id": "1", "name": "look", "input": { "a": 1 } }),
            &json!({ "type": "tool_result", "tool_use_id": "1", "content": "x", "is_error": true,
                     "cache_control": { "type": "ephemeral" } }),
        ]
    );
}

#[tokio::test]
async fn a_refused_key_says_so_and_is_never_repeated() {
    let body = json!({ "type": "error", "error":
        { "type": "authentication_error", "message": format!("bad key {KEY}") } });
    let error = failure(respond("401 Unauthorized", "", &body.to_string())).await;
    assert!(matches!(error, ModelError::Auth(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "Anthropic didn’t accept the API key. Check it, or use another one."
    );
    let body = body.to_string().replace("authentication_error", "invalid_request_error");
    let error = format!("{:?}", failure(respond("400 Bad Request", "", &body)).await);
    assert!(error.contains("bad key [key]") && !error.contains(KEY), "{error}");
    assert!(!format!("{:?}", anthropic("").unwrap()).contains(KEY));
}

#[tokio::test]
async fn a_server_that_wants_us_to_wait_is_heard() {
    let error = failure(respond("429 Too Many Requests", "retry-after: 7\r\n", "")).await;
    let expected = Some(Duration::from_secs(7));
    assert!(matches!(error, ModelError::RateLimit { retry_after, .. } if retry_after == expected));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let mut elsewhere = ByteServer::serving(vec![stream(&stop("end_turn"))]).await;
    for status in ["302 Found", "307 Temporary Redirect"] {
        let location = format!("location: {}/v1/messages\r\n", elsewhere.url());
        let error = failure(respond(status, &location, "")).await;
        assert!(matches!(error, ModelError::Unknown { retryable: false, .. }), "{error:?}");
    }
    assert!(elsewhere.requests.try_recv().is_err());
    // The other server would have answered.
    assert!(read(&anthropic(&elsewhere.url()).unwrap()).await[0].is_ok());
    assert!(elsewhere.requests.try_recv().is_ok());
}

#[tokio::test]
async fn what_is_no_event_stream_is_refused() {
    for headers in ["content-type: application/json\r\n", "content-encoding: br\r\n"] {
        let error = failure(respond("200 OK", headers, "{}")).await;
        assert!(error.to_string().contains("Check the server URL in Settings"), "{error}");
    }
}

#[tokio::test]
async fn an_error_inside_the_stream_is_an_error_by_its_type() {
    let error = "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n";
    let error = failure(stream(&format!("{}{error}", words("Hel")))).await;
    assert!(matches!(error, ModelError::Overloaded { .. }), "{error:?}");
}

#[tokio::test]
async fn a_stream_that_ends_early_has_no_stop() {
    let server = ByteServer::serving(vec![stream(&words("Hel"))]).await;
    assert_eq!(read(&anthropic(&server.url()).unwrap()).await, [said("Hel")]);
}

#[tokio::test]
async fn a_body_shorter_than_announced_is_a_network_error() {
    let headers = "content-type: text/event-stream\r\ncontent-length: 5000\r\n";
    let error = failure(respond("200 OK", headers, &words("Hel"))).await;
    assert!(matches!(error, ModelError::Network(_)), "{error:?}");
}

#[tokio::test]
async fn silence_ends_at_a_deadline_wherever_it_begins() {
    let silent = CannedAnswer { bytes: String::new(), at_a_time: 1, then: AfterBytes::Hold };
    let no_event = CannedAnswer { then: AfterBytes::Hold, ..stream("") };
    let after_words = CannedAnswer { then: AfterBytes::Hold, ..stream(&words("Hel")) };
    for answer in [silent, no_event, after_words] {
        let server = ByteServer::serving(vec![answer]).await;
        let read = read(&impatient(&server.url())).await;
        assert!(matches!(read.last(), Some(Err(ModelError::Silent(_)))), "{read:?}");
    }
}

#[tokio::test]
async fn what_adds_nothing_to_the_answer_does_not_count_as_life() {
    for noise in [
        ": ka\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\"}}\n\n",
    ] {
        let answer = CannedAnswer { then: AfterBytes::Repeat(noise), ..stream(&words("Hel")) };
        let server = ByteServer::serving(vec![answer]).await;
        let read = read(&impatient(&server.url())).await;
        assert_eq!(read.len(), 2, "{read:?}");
        assert!(matches!(&read[1], Err(ModelError::Silent(_))), "{read:?}");
    }
}

/// The events of an answer that takes longer than the deadline between two of them, and goes on with `delta`
/// all the time.
async fn read_slowly(delta: &'static str) -> Vec<Result<ModelEvent, ModelError>> {
    let every = Duration::from_millis(50);
    let then = AfterBytes::KeepAlive { bytes: delta, times: 10, every, rest: stop("end_turn") };
    let server = ByteServer::serving(vec![CannedAnswer { then, ..stream(&words("Hel")) }]).await;
    read(&impatient(&server.url())).await
}

#[tokio::test]
async fn an_answer_that_grows_may_take_longer_than_the_deadline_of_an_event() {
    let grown = "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"lo\"}}\n\n";
    let read = read_slowly(grown).await;
    assert!(matches!(read.last(), Some(Ok(ModelEvent::Stopped { .. }))), "{read:?}");
    // The control: empty parts in the place of these.
    let read = read_slowly("data: {\"type\":\"message_delta\",\"delta\":{}}\n\n").await;
    assert!(matches!(read.last(), Some(Err(ModelError::Silent(_)))), "{read:?}");
}

#[tokio::test]
async fn a_line_without_end_is_refused() {
    let answer = CannedAnswer { then: AfterBytes::Repeat("data: xxxxxxxxxxxxxxxx"), ..stream("") };
    let error = failure(answer).await;
    assert!(matches!(error, ModelError::Unknown { retryable: false, .. }), "{error:?}");
}

#[tokio::test]
async fn dropping_the_stream_hangs_up() {
    let answer = CannedAnswer { then: AfterBytes::Hold, ..stream(&words("Hel")) };
    let mut server = ByteServer::serving(vec![answer]).await;
    let mut answer = anthropic(&server.url()).unwrap().stream(request()).await.unwrap();
    assert_eq!(answer.next().await, Some(said("Hel")));
    assert!(server.hung_up.try_recv().is_err());
    drop(answer);
    within(server.hung_up.recv()).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_network_error_with_its_name() {
    let address = ByteServer::serving(Vec::new()).await.address;
    let error = read(&anthropic(&format!("http://{address}")).unwrap()).await.pop();
    let expected = format!("Couldn’t reach {address}. Check the network, then try again.");
    assert!(
        matches!(&error, Some(Err(ModelError::Network(text))) if text.english() == expected),
        "{error:?}"
    );
}

#[test]
fn the_key_travels_encrypted_or_not_at_all() {
    for address in [
        "http://example.com",
        "http://192.168.1.2:80",
        "ftp://localhost",
        "nonsense",
        "https://user:pass@example.com",
        "http://localhost.example.com",
    ] {
        let error = anthropic(address).unwrap_err();
        assert!(error.to_string().ends_with("Correct it in Settings."), "{address}: {error}");
    }
    for address in [
        "",
        "https://example.com/proxy/",
        "https://example.com/v1",
        "http://localhost:1",
        "http://127.0.0.1:1",
        "http://[::1]:1",
    ] {
        assert!(anthropic(address).is_ok(), "{address}");
    }
}

#[test]
fn a_key_that_cannot_be_one_is_refused_before_anyone_is_asked() {
    for key in ["", " ", "a\nb", "schlüssel\u{1}"] {
        let config = AnthropicConfig {
            base_url: String::new(),
            key: key.into(),
            deadlines: Deadlines::default(),
            parameters: llm::RequestParameters::default(),
        };
        assert!(matches!(Anthropic::new(config), Err(ModelError::Auth(_))), "{key:?}");
    }
}

#[tokio::test]
async fn a_call_of_an_answer_that_ends_its_turn_runs() {
    let look = call("toolu_1", "look", &json!({ "what": "sky" }));
    let mut server = ByteServer::serving(vec![
        stream(&format!("{}{look}{}", words("Let me look."), stop("end_turn"))),
        stream(&format!("{}{}", words("It is blue."), stop("end_turn"))),
    ])
    .await;
    let provider = Arc::new(anthropic(&server.url()).unwrap());
    let mut world = ServiceWorld::asking(provider, Arc::new(ScriptedProvider::default()));
    let ending = world.say("What colour is the sky?").await;
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    assert_eq!(std::iter::from_fn(|| server.requests.try_recv().ok()).count(), 2);
}

#[tokio::test]
async fn a_whole_turn_with_a_tool_runs_over_http() {
    let look = call("toolu_1", "look", &json!({ "what": "sky" }));
    let mut server = ByteServer::serving(vec![
        stream(&format!("{}{look}{}", words("Let me look."), stop("tool_use"))),
        stream(&format!("{}{}", words("It is blue."), stop("end_turn"))),
    ])
    .await;
    let provider = Arc::new(anthropic(&server.url()).unwrap());
    let mut world = ServiceWorld::asking(provider, Arc::new(ScriptedProvider::default()));
    let ending = world.say("What colour is the sky?").await;
    assert_eq!(ending.status, TurnStatus::Done, "{ending:?}");
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    server.requests.recv().await.unwrap();
    let second = server.requests.recv().await.unwrap().body;
    let mark = json!({ "type": "ephemeral" });
    assert_eq!(
        second["messages"],
        json!([
            { "role": "user", "content": [
                { "type": "text", "text": "What colour is the sky?", "cache_control": mark },
            ] },
            { "role": "assistant", "content": [
                { "type": "text", "text": "Let me look." },
                { "type": "tool_use", "id": "toolu_1", "name": "look", "input": { "what": "sky" } },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "toolu_1", "content": "sky 0",
                  "cache_control": mark },
            ] },
        ])
    );
}

/// The thinking of a model, as the provider streams it, with its signature in pieces.
fn thought() -> String {
    let event = |name: &str, data: serde_json::Value| format!("event: {name}\ndata: {data}\n\n");
    let delta = |delta| json!({ "type": "content_block_delta", "index": 7, "delta": delta });
    let start = json!({ "type": "content_block_start", "index": 7,
        "content_block": { "type": "thinking", "thinking": "", "signature": "" } });
    let redacted = json!({ "type": "content_block_start", "index": 8,
        "content_block": { "type": "redacted_thinking", "data": "opaque" } });
    let end = |index: u32| json!({ "type": "content_block_stop", "index": index });
    [
        event("content_block_start", start),
        event("content_block_delta", delta(json!({ "type": "thinking_delta", "thinking": "Hm" }))),
        event(
            "content_block_delta",
            delta(json!({ "type": "signature_delta", "signature": "s1" })),
        ),
        event(
            "content_block_delta",
            delta(json!({ "type": "signature_delta", "signature": "s2" })),
        ),
        event("content_block_stop", end(7)),
        event("content_block_start", redacted),
        event("content_block_stop", end(8)),
    ]
    .concat()
}

#[tokio::test]
async fn thinking_is_sent_back_verbatim_while_its_turn_is_open_and_not_later() {
    let look = call("toolu_1", "look", &json!({ "what": "sky" }));
    let mut server = ByteServer::serving(vec![
        stream(&format!("{}{look}{}", thought(), stop("tool_use"))),
        stream(&format!("{}{}", words("It is blue."), stop("end_turn"))),
        stream(&format!("{}{}", words("You are welcome."), stop("end_turn"))),
    ])
    .await;
    let provider = Arc::new(anthropic(&server.url()).unwrap());
    let mut world = ServiceWorld::asking(provider, Arc::new(ScriptedProvider::default()));
    world.say("What colour is the sky?").await;
    assert_eq!(world.say("Thanks!").await.status, TurnStatus::Done);
    server.requests.recv().await.unwrap();
    let open = server.requests.recv().await.unwrap().body;
    let content = open["messages"][1]["content"].as_array().unwrap();
    let expected = [
        json!({ "type": "thinking", "thinking": "Hm", "signature": "s1s2" }),
        json!({ "type": "redacted_thinking", "data": "opaque" }),
    ];
    assert_eq!(content[..2], expected);
    assert_eq!(content[2]["type"], "tool_use");
    let later = server.requests.recv().await.unwrap().body;
    assert!(!later.to_string().contains("thinking"), "{later}");
}
