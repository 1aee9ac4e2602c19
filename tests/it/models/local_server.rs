//! Servers that people run themselves, with little room: what is asked fits the window that they were
//! started with, whether they say how large it is or only refuse what is too long.
//!
//! [`FakeLlamaServer`] answers as llama.cpp's server was seen to: its list, its `/props`, its refusals, its stream.
//! A token is taken for three and a half bytes. `real_model` runs the same against the real server.

mod cut_characters;
mod dropped_tools;
mod large_review;
mod model_list;
mod prompt_budget;
mod quoted_calls;
mod system_prompts;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, StatusCode, Uri};
use protocol::chat::conversation::ChatItem;
use protocol::{ErrorCode, ProviderKind, Settings};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::harness::test_app::{RunningApp, TestHome, turn_failure};

const MODEL: &str = "tiny";

/// The window that a server is started with, and how much it tells of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LlamaOptions {
    window: u32,
    /// Whether it says so in its list and at `/props`.
    tells: bool,
    /// Whether the model's template has a place for tools; without one they are dropped in silence.
    takes_tools: bool,
    /// The template itself, which `/props` tells in place of what it has a place for.
    template: Option<&'static str>,
    parameters: u64,
    /// The bytes that its tokenizer makes a token of, in tenths.
    bytes_per_token_tenths: usize,
}

impl LlamaOptions {
    fn with_window(window: u32) -> Self {
        Self {
            window,
            tells: true,
            takes_tools: true,
            template: None,
            parameters: 8_030_261_312,
            bytes_per_token_tenths: 35,
        }
    }

    pub(crate) fn without_tools(window: u32) -> Self {
        Self { takes_tools: false, ..Self::with_window(window) }
    }
}

/// A server of one model that says what it was told to.
pub(crate) struct FakeLlamaServer {
    url: String,
    shared: Arc<LlamaState>,
    _serving: JoinSet<()>,
}

struct LlamaState {
    started: LlamaOptions,
    /// The next answers of the model, or the text of a whole stream; after them it answers `Yes.`
    replies: Mutex<VecDeque<Value>>,
    /// The bodies that were sent for an answer, and whether each was answered.
    chats: Mutex<Vec<(Value, bool)>>,
    /// Runs with the number of each request for an answer, from zero on, before it is answered.
    before_answer: Mutex<Option<Box<BeforeAnswer>>>,
}

type BeforeAnswer = dyn FnMut(usize) + Send;

impl FakeLlamaServer {
    pub(crate) async fn start(started: LlamaOptions, says: &[Value]) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let says = Mutex::new(says.iter().cloned().collect());
        let state = Arc::new(LlamaState {
            started,
            replies: says,
            chats: Mutex::default(),
            before_answer: Mutex::default(),
        });
        let router = Router::new().fallback(handle_request).with_state(Arc::clone(&state));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Self { url, shared: state, _serving: serving }
    }

    pub(crate) fn settings(&self) -> Settings {
        let (provider, base_url) = (ProviderKind::OpenAi, self.url.clone());
        Settings { provider, base_url, model: MODEL.into(), ..Settings::default() }
    }

    /// From now on this runs with the number of each request for an answer, from zero on, before it is answered.
    pub(crate) fn before_answer(&self, run: impl FnMut(usize) + Send + 'static) {
        let mut before = self.shared.before_answer.lock().unwrap_or_else(PoisonError::into_inner);
        *before = Some(Box::new(run));
    }

    pub(crate) fn chat_requests(&self) -> Vec<(Value, bool)> {
        self.shared.chats.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

type LlamaResponse = (StatusCode, [(HeaderName, &'static str); 1], String);

fn json_response(status: StatusCode, body: &Value) -> LlamaResponse {
    (status, [(CONTENT_TYPE, "application/json")], body.to_string())
}

async fn handle_request(
    State(asked): State<Arc<LlamaState>>,
    uri: Uri,
    body: Bytes,
) -> LlamaResponse {
    let LlamaOptions { window, tells, takes_tools, template, parameters, .. } = asked.started;
    let unknown =
        json!({ "error": { "message": "File Not Found", "type": "not_found_error", "code": 404 } });
    match uri.path() {
        "/v1/models" if tells => json_response(
            StatusCode::OK,
            &json!({ "object": "list", "data": [{ "id": MODEL, "object": "model", "owned_by": "llamacpp",
                "meta": { "n_ctx": window, "n_ctx_train": 131_072, "n_params": parameters } }] }),
        ),
        "/v1/models" => {
            json_response(StatusCode::OK, &json!({ "object": "list", "data": [{ "id": MODEL }] }))
        }
        "/props" if tells => {
            let mut props =
                json!({ "default_generation_settings": { "n_ctx": window }, "total_slots": 1 });
            match template {
                Some(template) => props["chat_template"] = template.into(),
                None => props["chat_template_caps"] = json!({ "supports_tools": takes_tools }),
            }
            json_response(StatusCode::OK, &props)
        }
        "/v1/chat/completions" => answer_chat(&asked, &body),
        _ => json_response(StatusCode::NOT_FOUND, &unknown),
    }
}

fn answer_chat(asked: &LlamaState, body: &Bytes) -> LlamaResponse {
    let sent: Value = serde_json::from_slice(body).expect("JSON");
    let prompt = prompt_text(&sent, asked.started.takes_tools).len();
    let prompt = prompt * 10 / asked.started.bytes_per_token_tenths;
    let prompt = u32::try_from(prompt).expect("a number");
    let fits = prompt < asked.started.window;
    let number = {
        let mut chats = asked.chats.lock().unwrap_or_else(PoisonError::into_inner);
        chats.push((sent, fits));
        chats.len() - 1
    };
    if let Some(run) = &mut *asked.before_answer.lock().unwrap_or_else(PoisonError::into_inner) {
        run(number);
    }
    if !fits {
        let n_ctx = asked.started.window;
        let message = format!(
            "request ({prompt} tokens) exceeds the available context size ({n_ctx} tokens), try increasing it"
        );
        let refused = json!({ "error": { "code": 400, "message": message,
            "type": "exceed_context_size_error", "n_prompt_tokens": prompt, "n_ctx": n_ctx } });
        return json_response(StatusCode::BAD_REQUEST, &refused);
    }
    let next = asked.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    if let Some(Value::String(stream)) = next {
        return (StatusCode::OK, [(CONTENT_TYPE, "text/event-stream")], stream);
    }
    let delta = next.unwrap_or_else(|| json!({ "content": "Yes." }));
    let reason = if delta.get("tool_calls").is_some() { "tool_calls" } else { "stop" };
    let chunks = [
        json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": prompt, "completion_tokens": 3 } }),
    ];
    let mut out = String::from(":\n\n");
    for chunk in chunks {
        out.push_str(&format!("data: {chunk}\n\n"));
    }
    out.push_str("data: [DONE]\n\n");
    (StatusCode::OK, [(CONTENT_TYPE, "text/event-stream")], out)
}

/// The part of a request that reaches the model.
fn prompt_text(sent: &Value, takes_tools: bool) -> String {
    let mut prompt = sent["messages"].to_string();
    if let (Some(tools), true) = (sent.get("tools"), takes_tools) {
        prompt.push_str(&tools.to_string());
    }
    prompt
}

fn count_tokens(text: &str) -> u32 {
    u32::try_from(text.len() * 10 / 35).expect("a number")
}

/// A call as a model that takes tools makes it.
fn tool_call(name: &str, arguments: &Value) -> Value {
    json!({ "tool_calls": [{ "index": 0, "id": format!("c{}", arguments.to_string().len()),
        "function": { "name": name, "arguments": arguments.to_string() } }] })
}

/// Sends a message; returns the text of the answer.
async fn send_and_read_answer(app: &RunningApp, text: &str) -> String {
    let conversation = app.send_and_wait(None, text).await;
    let view = app.view(&conversation).await;
    assert_eq!(turn_failure(&view), None, "{text}");
    match view.items.last() {
        Some(ChatItem::Assistant { text, .. }) => text.clone(),
        other => panic!("no answer: {other:?}"),
    }
}

/// The instructions in a request; those for a model without tools describe the tools too.
fn system_prompt(sent: &Value) -> &str {
    sent["messages"][0]["content"].as_str().expect("instructions")
}

/// The tokens of what we send whatever the question is: our instructions and the tools.
fn overhead_tokens(sent: &Value) -> u32 {
    count_tokens(system_prompt(sent))
        + sent.get("tools").map_or(0, |tools| count_tokens(&tools.to_string()))
}

/// 300 lines, each with its own text.
fn long_note() -> String {
    (1..=300).map(|n| format!("- item {n}: plant {} rows of beans in bed {n}\n", n * 7)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn instructions_and_tools_take_a_quarter_of_the_window_at_most() {
    let rules = "Keep order. ".repeat(100_000 / 12);
    for takes_tools in [true, false] {
        for window in [2_048, 3_499, 3_500, 4_096, 8_192, 18_000, 19_999, 20_000, 32_768, 131_072] {
            let home = TestHome::new(&[("Alpha.md", "one\n"), ("AGENTS.md", &rules)]);
            let llama = FakeLlamaServer::start(
                LlamaOptions { takes_tools, ..LlamaOptions::with_window(window) },
                &[],
            )
            .await;
            let settings = Settings { organisation: "By year. ".repeat(200), ..llama.settings() };
            let running = home.open(settings).await;
            assert_eq!(send_and_read_answer(&running, "What do I grow?").await, "Yes.");
            running.quit().await;
            let chats = llama.chat_requests();
            assert!(chats.iter().all(|(_, answered)| *answered), "{window}: refused");
            let (sent, _) = &chats[0];
            assert_eq!(sent.get("tools").is_some(), takes_tools, "{window}");
            assert!(
                overhead_tokens(sent) <= window / 4,
                "{window}, {takes_tools}: {}",
                overhead_tokens(sent)
            );
            let told = system_prompt(sent);
            let is_begun = told.contains("Keep order.");
            assert!(is_begun || window < 8_192, "{window}, {takes_tools}");
            assert_eq!(told.contains("there is no room for the rest"), is_begun, "{window}");
            let answer = sent["max_tokens"].as_u64().expect("a cap");
            assert!(
                answer >= u64::from(window / 8).min(8_192) && answer <= u64::from(window / 4),
                "{answer}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn at_4096_a_note_of_300_lines_is_found_read_and_edited() {
    let home = TestHome::new(&[("Garden.md", &long_note())]);
    let read = |from: u32| tool_call("read_file", &json!({ "path": "Garden", "start_line": from }));
    let edit = json!({ "path": "Garden", "old_text": "item 250:", "new_text": "item 250 (done):" });
    let says = [
        tool_call("find_notes", &json!({ "query": "beans" })),
        read(1),
        read(80),
        read(160),
        read(240),
        tool_call("edit_file", &edit),
        json!({ "content": "It is done." }),
    ];
    let llama = FakeLlamaServer::start(LlamaOptions::with_window(4_096), &says).await;
    let auto = Settings { mode: protocol::Mode::Auto, ..llama.settings() };
    let running = home.open(auto).await;
    assert_eq!(
        send_and_read_answer(&running, "Mark item 250 of [[Garden]] as done.").await,
        "It is done."
    );
    running.quit().await;
    assert!(home.notes.read("Garden.md").contains("- item 250 (done): plant 1750 rows"));
    let chats = llama.chat_requests();
    assert!(chats.iter().all(|(_, answered)| *answered), "nothing that was sent was too long");
    let last = chats.last().expect("it was asked").0.to_string();
    assert!(last.contains("Left out to make room"), "the control: it did not all fit");
    let pages = chats[2].0.to_string();
    assert!(pages.contains("Go on with start_line"), "a page says where the next begins: {pages}");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_2048_a_question_and_a_search_fit() {
    let home = TestHome::new(&[("Garden.md", &long_note()), ("Ferry.md", "It leaves at nine.\n")]);
    let says =
        [tool_call("find_notes", &json!({ "query": "beans" })), json!({ "content": "In Garden." })];
    let llama = FakeLlamaServer::start(LlamaOptions::with_window(2_048), &says).await;
    let running = home.open(llama.settings()).await;
    assert_eq!(send_and_read_answer(&running, "Where do beans grow?").await, "In Garden.");
    assert_eq!(send_and_read_answer(&running, "And when does the ferry leave?").await, "Yes.");
    running.quit().await;
    let chats = llama.chat_requests();
    let answered: Vec<bool> = chats.iter().map(|(_, answered)| *answered).collect();
    assert_eq!(answered, [true, true, true], "nothing that was sent was too long");
    let found = chats[1].0["messages"].as_array().and_then(|all| all.last()).expect("a message");
    let text = found["content"].as_str().expect("the result");
    assert!(text.contains("`Garden.md`") && text.contains("rows of beans"), "{found}");
}

/// The names of the tools in a request.
fn offered_tools(sent: &Value) -> Vec<&str> {
    let tools = sent["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["function"]["name"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_with_few_parameters_is_offered_few_tools_whatever_its_window() {
    for (parameters, takes_all) in [(1_000_000_000, false), (8_030_261_312, true)] {
        let home = TestHome::new(&[("Alpha.md", "one\n")]);
        let started = LlamaOptions { parameters, ..LlamaOptions::with_window(32_768) };
        let llama = FakeLlamaServer::start(started, &[]).await;
        let running = home.open(llama.settings()).await;
        assert_eq!(send_and_read_answer(&running, "What do I grow?").await, "Yes.");
        running.quit().await;
        let chats = llama.chat_requests();
        let offered = offered_tools(&chats[0].0);
        assert!(offered.contains(&"edit_file"), "{parameters}: {offered:?}");
        assert_eq!(offered.contains(&"move_file"), takes_all, "{parameters}: {offered:?}");
    }
}

/// A call as a model writes it that was told of the tools in text.
fn written_call(tool: &str, parameters: &Value) -> Value {
    json!({ "content": json!({ "tool": tool, "parameters": parameters }).to_string() })
}

/// The note `Bread.md` and the last message to the model, after a model without tools wrote this call.
async fn note_and_result(window: u32, call: Value) -> (String, String) {
    let home = TestHome::new(&[
        ("Bread.md", "---\ntags: [food]\n---\nBake at nine.\n"),
        ("Ferry.md", "It leaves at nine.\n"),
    ]);
    let says = [call, json!({ "content": "It is done." })];
    let started = LlamaOptions { takes_tools: false, ..LlamaOptions::with_window(window) };
    let llama = FakeLlamaServer::start(started, &says).await;
    let running = home.open(Settings { mode: protocol::Mode::Auto, ..llama.settings() }).await;
    let answer = send_and_read_answer(&running, "Look at [[Bread]].").await;
    running.quit().await;
    let chats = llama.chat_requests();
    assert_eq!((answer.as_str(), chats.len()), ("It is done.", 2), "{chats:?}");
    assert!(chats.iter().all(|(sent, _)| sent.get("tools").is_none()), "{chats:?}");
    let last = chats[1].0["messages"].as_array().and_then(|all| all.last()).expect("a message");
    (home.notes.read("Bread.md"), last["content"].as_str().expect("text").to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_without_tools_edits_a_note_by_a_call_in_text() {
    let edit = json!({ "path": "Bread", "old_text": "at nine", "new_text": "at ten" });
    for window in [4_096, 32_768] {
        let (note, result) = note_and_result(window, written_call("edit_file", &edit)).await;
        assert!(note.ends_with("\nBake at ten.\n"), "{window}: {note}");
        assert!(result.contains("<tool_result"), "{window}: {result}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_without_tools_finds_notes_by_filters_alone() {
    let find = json!({ "tags": ["food"] });
    let (_, result) = note_and_result(32_768, written_call("find_notes", &find)).await;
    assert!(result.contains("`Bread.md`") && !result.contains("`Ferry.md`"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_nobody_tells_is_learned_from_the_first_refusal() {
    let home = TestHome::new(&[("Alpha.md", "one\n")]);
    let llama = FakeLlamaServer::start(
        LlamaOptions { tells: false, ..LlamaOptions::with_window(4_096) },
        &[],
    )
    .await;
    let running = home.open(llama.settings()).await;
    assert_eq!(send_and_read_answer(&running, "What do I grow?").await, "Yes.");
    assert_eq!(send_and_read_answer(&running, "And where?").await, "Yes.");
    running.quit().await;
    let answered: Vec<bool> = llama.chat_requests().iter().map(|(_, answered)| *answered).collect();
    assert_eq!(answered, [false, true, true], "it is refused once, and repeated at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_is_learned_from_the_refusal_of_a_request_that_was_sent_again_as_text() {
    let home = TestHome::new(&[("Alpha.md", "one\n")]);
    let options =
        LlamaOptions { tells: false, takes_tools: false, ..LlamaOptions::with_window(2_048) };
    let llama = FakeLlamaServer::start(options, &[]).await;
    let running = home.open(llama.settings()).await;
    assert_eq!(send_and_read_answer(&running, "What do I grow?").await, "Yes.");
    assert_eq!(send_and_read_answer(&running, "And where?").await, "Yes.");
    running.quit().await;
    let answered: Vec<bool> = llama.chat_requests().iter().map(|(_, answered)| *answered).collect();
    assert_eq!(answered, [true, false, true, true], "the tools are dropped, then it is too long");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_tells_how_many_tokens_a_model_counts() {
    let home = TestHome::new(&[("Alpha.md", "one\n")]);
    let options = LlamaOptions { bytes_per_token_tenths: 20, ..LlamaOptions::with_window(4_096) };
    let llama = FakeLlamaServer::start(options, &[]).await;
    let running = home.open(llama.settings()).await;
    let text = "beans and peas ".repeat(100);
    let conversation = running.send_and_wait(None, &text).await;
    for _ in 0..4 {
        running.send_and_wait(Some(&conversation), &text).await;
    }
    running.quit().await;
    // Reports of usage are forgotten when the application ends: the first request is too long again.
    let before = llama.chat_requests().len();
    let running = home.open(llama.settings()).await;
    running.send_and_wait(Some(&conversation), &text).await;
    assert_eq!(turn_failure(&running.view(&conversation).await), None);
    running.quit().await;
    let answered: Vec<bool> = llama.chat_requests().iter().map(|(_, answered)| *answered).collect();
    assert_eq!(answered[before..], [false, true], "{answered:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_cannot_fit_is_told_and_not_sent_again_and_again() {
    let home = TestHome::new(&[("Alpha.md", "one\n")]);
    let llama = FakeLlamaServer::start(
        LlamaOptions { tells: false, ..LlamaOptions::with_window(2_048) },
        &[],
    )
    .await;
    let running = home.open(llama.settings()).await;
    let conversation = running.send_and_wait(None, &"beans and peas ".repeat(600)).await;
    let failed = turn_failure(&running.view(&conversation).await).expect("it cannot fit");
    assert!(failed.message.contains("has room for"), "{failed:?}");
    running.quit().await;
    assert_eq!(llama.chat_requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_chosen_model_lists_its_models_and_asks_for_a_choice() {
    let home = TestHome::new(&[("Alpha.md", "one\n")]);
    let llama = FakeLlamaServer::start(LlamaOptions::with_window(8_192), &[]).await;
    let running = home.open(Settings { model: String::new(), ..llama.settings() }).await;
    let conversation = running.send_and_wait(None, "Is it there?").await;
    let failure = turn_failure(&running.view(&conversation).await).expect("no model");
    assert_eq!(failure.code, ErrorCode::Model, "the window leads to the choice");
    let told = running.app.test_provider().await;
    assert_eq!(
        (told.ok, &*told.message, told.unlisted),
        (true, "Connected. Choose a model.", None)
    );
    assert_eq!(llama.chat_requests(), [], "no model is asked");
    running.app.save_settings(llama.settings()).await.expect("saved");
    assert_eq!(running.app.test_provider().await.message, "Connected.");
    assert_eq!(llama.chat_requests().len(), 1, "the control: the model is asked");

    // Where nobody listens, neither a list nor a model is told to be there.
    let base_url = "http://127.0.0.1:9".to_owned();
    let nobody = Settings { model: String::new(), base_url, ..llama.settings() };
    running.app.save_settings(nobody).await.expect("saved");
    let told = running.app.test_provider().await;
    assert!(!told.ok && told.unlisted.as_ref() == Some(&told.message), "{told:?}");
    running.quit().await;
}
