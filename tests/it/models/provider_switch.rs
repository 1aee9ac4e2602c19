//! One conversation goes from provider to provider, and each gets requests in its own format.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, Uri};
use protocol::chat::conversation::ChatItem;
use protocol::{ProviderKind, Settings};
use serde_json::{Value, json};
use testkit::scripted_model::request_violations;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::harness::test_app::{home_with_key, settings_without_model, turn_failure};

const THINKING_TEXT: &str = "I had better look.";

/// The endpoints that were asked for an answer, with what was sent.
type ReceivedRequests = Arc<Mutex<Vec<(String, Value)>>>;

/// One server with the APIs of all providers.
struct MultiProviderServer {
    url: String,
    requests: ReceivedRequests,
    _serving: JoinSet<()>,
}

impl MultiProviderServer {
    async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let asked = ReceivedRequests::default();
        let router = Router::new().fallback(handle_request).with_state(Arc::clone(&asked));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Self { url, requests: asked, _serving: serving }
    }

    fn settings(&self, provider: ProviderKind, model: &str, path: &str) -> Settings {
        let base_url = format!("{}{path}", self.url);
        Settings { provider, base_url, model: model.into(), ..Settings::default() }
    }

    fn requests(&self) -> Vec<(String, Value)> {
        self.requests.lock().expect("no panic").clone()
    }
}

/// The content type, and the body.
type StreamedAnswer = ([(HeaderName, &'static str); 1], String);

const SSE_CONTENT_TYPE: [(HeaderName, &str); 1] = [(CONTENT_TYPE, "text/event-stream")];
const NDJSON_CONTENT_TYPE: [(HeaderName, &str); 1] = [(CONTENT_TYPE, "application/x-ndjson")];

async fn handle_request(
    State(asked): State<ReceivedRequests>,
    uri: Uri,
    body: Bytes,
) -> StreamedAnswer {
    let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
    let words = last_user_text(&sent);
    let call = if words.contains("Read Alpha.") {
        Some(("read_file", json!({ "path": "Alpha.md" })))
    } else if words.contains("Ask me.") {
        let asks = json!({ "message": "Which?", "is_question": true, "options": ["a", "b"] });
        Some(("send_message", asks))
    } else {
        None
    };
    let keep = |path: &str| asked.lock().expect("no panic").push((path.to_owned(), sent.clone()));
    match uri.path() {
        path @ "/v1/messages" => {
            keep(path);
            (SSE_CONTENT_TYPE, anthropic_stream(call))
        }
        path @ "/v1/chat/completions" => {
            keep(path);
            (SSE_CONTENT_TYPE, openai_stream(call))
        }
        path @ "/api/chat" => {
            keep(path);
            (NDJSON_CONTENT_TYPE, ollama_stream(call))
        }
        "/api/tags" => {
            let model = json!({ "name": "big", "details": { "parameter_size": "70B" } });
            (NDJSON_CONTENT_TYPE, json!({ "models": [model] }).to_string())
        }
        _ => (
            NDJSON_CONTENT_TYPE,
            json!({ "model_info": { "llama.context_length": 32_768 } }).to_string(),
        ),
    }
}

/// The text of the last message, if it is the user's and no result.
fn last_user_text(sent: &Value) -> String {
    let last = sent["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    let has_result = last["role"] != "user" || last.to_string().contains("tool_result");
    if has_result { String::new() } else { last["content"].to_string() }
}

fn anthropic_stream(call: Option<(&str, Value)>) -> String {
    let start = |index, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let stop = |index| json!({ "type": "content_block_stop", "index": index });
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    let mut events = vec![
        json!({ "type": "message_start", "message": { "usage": usage } }),
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": THINKING_TEXT })),
        delta(0, json!({ "type": "signature_delta", "signature": "c2lnbmVk" })),
        stop(0),
    ];
    let reason = match call {
        Some((tool, input)) => {
            let block = json!({ "type": "tool_use", "id": "toolu_1", "name": tool, "input": {} });
            let input = json!({ "type": "input_json_delta", "partial_json": input.to_string() });
            events.extend([start(1, block), delta(1, input), stop(1)]);
            "tool_use"
        }
        None => {
            let text = json!({ "type": "text_delta", "text": "Done." });
            events.extend([
                start(1, json!({ "type": "text", "text": "" })),
                delta(1, text),
                stop(1),
            ]);
            "end_turn"
        }
    };
    let usage = json!({ "output_tokens": 5 });
    events.push(
        json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": usage }),
    );
    events.push(json!({ "type": "message_stop" }));
    events
        .iter()
        .map(|event| {
            format!("event: {}\ndata: {event}\n\n", event["type"].as_str().expect("a type"))
        })
        .collect()
}

fn openai_stream(call: Option<(&str, Value)>) -> String {
    let (delta, reason) = match call {
        Some((name, arguments)) => {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let call =
                json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
            (json!({ "tool_calls": [call] }), "tool_calls")
        }
        None => (json!({ "content": "Done." }), "stop"),
    };
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    format!("{}{}data: [DONE]\n\n", chunk(delta, Value::Null), chunk(json!({}), reason.into()))
}

fn ollama_stream(call: Option<(&str, Value)>) -> String {
    let message = match call {
        Some((name, arguments)) => {
            let function = json!({ "name": name, "arguments": arguments });
            json!({ "content": "", "tool_calls": [{ "function": function }] })
        }
        None => json!({ "content": "Done." }),
    };
    let end = json!({ "done": true, "done_reason": "stop", "prompt_eval_count": 9_000 });
    format!("{}\n{end}\n", json!({ "message": message, "done": false }))
}

/// Errors in messages whose results are messages of their own: each call has its result right
/// behind it, by its id where the wire has ids and by its tool where it has not.
fn unpaired_calls(sent: &Value, call: &str, result: &str) -> Vec<String> {
    let mut open: Vec<Value> = Vec::new();
    let mut found = Vec::new();
    for message in sent["messages"].as_array().expect("messages") {
        let allowed: BTreeSet<&str> = match message["role"].as_str() {
            Some("system" | "user") => ["role", "content"].into(),
            Some("assistant") => ["role", "content", "tool_calls"].into(),
            Some("tool") => ["role", "content", result].into(),
            _ => [].into(),
        };
        let fields = message.as_object().expect("an object").keys();
        found.extend(fields.filter(|key| !allowed.contains(key.as_str())).cloned());
        if message["role"] == "tool" {
            match open.iter().position(|name| *name == message[result]) {
                Some(at) => drop(open.remove(at)),
                None => found.push(format!("a result without its call: {message}")),
            }
            continue;
        }
        found.extend(open.drain(..).map(|name| format!("no result of {name}")));
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open = calls.map(|made| made.pointer(call).cloned().unwrap_or_default()).collect();
    }
    found.extend(open.drain(..).map(|name| format!("no result of {name}")));
    found
}

fn violations(path: &str, sent: &Value) -> Vec<String> {
    match path {
        "/v1/messages" => request_violations(sent),
        "/v1/chat/completions" => unpaired_calls(sent, "/id", "tool_call_id"),
        _ => unpaired_calls(sent, "/function/name", "tool_name"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_moves_from_provider_to_provider_is_valid_at_each() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let server = MultiProviderServer::start().await;
    let anthropic = || server.settings(ProviderKind::Anthropic, "claude-haiku-4-5", "");
    let running = home.open(anthropic()).await;
    let move_to = async |settings: Settings| {
        running.app.save_settings(settings).await.expect("saved");
    };
    let chat = running.send_and_wait(None, "Read Alpha.").await;
    move_to(server.settings(ProviderKind::OpenAi, "gpt-x", "/v1")).await;
    running.send_and_wait(Some(&chat), "Read Alpha.").await;
    move_to(server.settings(ProviderKind::Ollama, "big", "")).await;
    running.send_and_wait(Some(&chat), "Ask me.").await;
    let view = running.view(&chat).await;
    let question = view.question.unwrap_or_else(|| panic!("it asks: {:#?}", view.items)).id;
    move_to(settings_without_model()).await;
    running.send(Some(&chat), "a", Some(&question)).await.expect("taken");
    running.app.wait_until_idle(&chat).await.expect("idle");
    move_to(anthropic()).await;
    running.send_and_wait(Some(&chat), "Read Alpha.").await;
    move_to(server.settings(ProviderKind::Anthropic, "claude-sonnet-4-5", "")).await;
    running.send_and_wait(Some(&chat), "Thanks.").await;

    let view = running.view(&chat).await;
    assert_eq!(turn_failure(&view), None);
    let calls = view.items.iter().filter(|item| matches!(item, ChatItem::Tool { .. })).count();
    assert!(calls >= 3, "{:#?}", view.items);
    let asked = server.requests();
    let endpoints: Vec<&str> = asked.iter().map(|(path, _)| path.as_str()).collect();
    let [messages, completions] = ["/v1/messages", "/v1/chat/completions"];
    let expected = [messages, messages, completions, completions, "/api/chat", messages, messages];
    assert_eq!(endpoints, [&expected[..], &[messages]].concat());
    for (n, (path, sent)) in asked.iter().enumerate() {
        assert_eq!(violations(path, sent), Vec::<String>::new(), "request {n}: {sent:#}");
        // Thinking is sent back while its turn is open, and never again.
        let is_open = n == 1 || n == 6;
        assert_eq!(
            sent.to_string().matches(THINKING_TEXT).count(),
            usize::from(is_open),
            "request {n}"
        );
    }
    let (_, last) = asked.last().expect("a request");
    assert!(last.to_string().contains("Which?"), "the question is heard by all");
    running.quit().await;
}

#[test]
fn the_check_notices_a_lost_result_and_a_stray_one() {
    let call = json!({ "role": "assistant", "tool_calls": [{ "id": "1" }] });
    let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "x" });
    let found = |messages: Vec<Value>| {
        violations("/v1/chat/completions", &json!({ "messages": messages })).len()
    };
    assert_eq!(found(vec![call.clone(), result("1")]), 0);
    assert_eq!(found(vec![call.clone()]), 1);
    assert_eq!(found(vec![call, result("2")]), 2);
    assert_eq!(found(vec![json!({ "role": "user", "content": "x", "thinking": "y" })]), 1);
}
