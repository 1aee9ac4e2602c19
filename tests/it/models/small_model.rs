//! A small model of Ollama: it is offered the few tools that it finds its way among, that it takes
//! none at all is found out once, and while models are paused nothing is asked of its server.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, StatusCode, Uri};
use protocol::chat::conversation::ChatItem;
use protocol::settings::SpendingSettings;
use protocol::{ProviderKind, Settings};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::harness::test_app::{RunningApp, TestHome};

/// A line of JSON a piece.
const NDJSON_CONTENT_TYPE: [(HeaderName, &str); 1] = [(CONTENT_TYPE, "application/x-ndjson")];

/// The endpoints that were asked, with what was sent.
type OllamaRequests = Arc<Mutex<Vec<(String, Value)>>>;

/// A server with one model of this size.
struct FakeOllama {
    url: String,
    requests: OllamaRequests,
    _serving: JoinSet<()>,
}

impl FakeOllama {
    async fn with_size(size: &'static str) -> Self {
        Self::refusing(size, |_| None).await
    }

    /// One that `refuses` requests to answer, with its own message.
    async fn refusing(size: &'static str, refuses: fn(&Value) -> Option<&'static str>) -> Self {
        Self::start(size, refuses, None).await
    }

    /// One that lists what its model can do.
    async fn listing(capabilities: &'static [&'static str]) -> Self {
        Self::start("3.2B", |_| None, Some(capabilities)).await
    }

    async fn start(
        size: &'static str,
        refuses: fn(&Value) -> Option<&'static str>,
        capabilities: Option<&'static [&'static str]>,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let asked = OllamaRequests::default();
        let answer = move |State(asked): State<OllamaRequests>, uri: Uri, body: Bytes| async move {
            testkit::conformance::request_bodies::record(
                uri.path(),
                &String::from_utf8_lossy(&body),
            );
            let sent = serde_json::from_slice(&body).unwrap_or_default();
            let refused = refuses(&sent).filter(|_| uri.path() == "/api/chat");
            asked.lock().expect("no panic").push((uri.path().to_owned(), sent));
            let model = json!({ "name": "tiny", "details": { "parameter_size": size } });
            if let Some(why) = refused {
                let why = json!({ "error": why }).to_string();
                return (StatusCode::BAD_REQUEST, NDJSON_CONTENT_TYPE, why);
            }
            let told = match uri.path() {
                "/api/tags" => json!({ "models": [model] }).to_string(),
                "/api/show" => {
                    let info = json!({ "llama.context_length": 32_768 });
                    let mut shown = json!({ "model_info": info });
                    if let Some(listed) = capabilities {
                        shown["capabilities"] = json!(listed);
                    }
                    shown.to_string()
                }
                _ => {
                    let said = json!({ "message": { "content": "Yes." } });
                    let end =
                        json!({ "done": true, "done_reason": "stop", "prompt_eval_count": 9_000 });
                    format!("{said}\n{end}\n")
                }
            };
            (StatusCode::OK, NDJSON_CONTENT_TYPE, told)
        };
        let router = Router::new().fallback(answer).with_state(Arc::clone(&asked));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Self { url, requests: asked, _serving: serving }
    }

    fn settings(&self) -> Settings {
        let (provider, base_url) = (ProviderKind::Ollama, self.url.clone());
        Settings { provider, base_url, model: "tiny".into(), ..Settings::default() }
    }

    fn requests(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.requests.lock().expect("no panic"))
    }
}

/// Asks, and is answered.
async fn send_and_wait(app: &RunningApp) {
    let conversation = app.send_and_wait(None, "Is it there?").await;
    let items = app.view(&conversation).await.items;
    assert!(matches!(items.last(), Some(ChatItem::Assistant { .. })), "{items:?}");
}

/// The tools that the model of this size is offered.
async fn offered_tools_at(size: &'static str) -> Vec<String> {
    let (home, ollama) =
        (TestHome::new(&[("Alpha.md", "one\n")]), FakeOllama::with_size(size).await);
    let running = home.open(ollama.settings()).await;
    send_and_wait(&running).await;
    running.quit().await;
    let asked = ollama.requests();
    let (_, chat) =
        asked.iter().find(|(endpoint, _)| endpoint == "/api/chat").expect("it is asked");
    let tools = chat["tools"].as_array().expect("tools").iter();
    tools.map(|tool| tool["function"]["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_model_is_offered_few_tools_and_a_large_one_all() {
    let (few, all) = (offered_tools_at("3.2B").await, offered_tools_at("70.6B").await);
    assert!(few.len() < all.len(), "{few:?} of {all:?}");
    assert!(few.contains(&"read_file".to_owned()) && !few.contains(&"move_file".to_owned()));
    assert!(all.contains(&"move_file".to_owned()), "{all:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_models_are_paused_its_server_is_asked_nothing() {
    let (home, ollama) =
        (TestHome::new(&[("Alpha.md", "one\n")]), FakeOllama::with_size("3.2B").await);
    let spending = SpendingSettings { paused: true, ..SpendingSettings::default() };
    let running = home.open(Settings { spending, ..ollama.settings() }).await;
    running.send_and_wait(None, "Is it there?").await;
    assert!(!running.app.test_provider().await.ok);
    assert_eq!(ollama.requests(), []);
    running.app.save_settings(ollama.settings()).await.expect("saved");
    running.send_and_wait(None, "Is it there?").await;
    assert!(!ollama.requests().is_empty(), "the control: it is asked once more");
    running.quit().await;
}

/// Whether each request for an answer had tools.
fn requests_with_tools(ollama: &FakeOllama) -> Vec<bool> {
    let chats = ollama.requests().into_iter().filter(|(endpoint, _)| endpoint == "/api/chat");
    chats.map(|(_, sent)| sent.get("tools").is_some()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn that_a_model_takes_no_tools_is_known_after_a_restart() {
    let home = TestHome::new(&[("Alpha.md", "one\n")]);
    let refuses = |sent: &Value| {
        sent.get("tools").map(|_| "registry.ollama.ai/library/tiny does not support tools")
    };
    let ollama = FakeOllama::refusing("3.2B", refuses).await;
    let running = home.open(ollama.settings()).await;
    send_and_wait(&running).await;
    running.quit().await;
    assert_eq!(requests_with_tools(&ollama), [true, false]);
    let running = home.open(ollama.settings()).await;
    send_and_wait(&running).await;
    running.quit().await;
    assert_eq!(requests_with_tools(&ollama), [false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_lists_no_tools_is_sent_none_from_its_first_turn_on() {
    // The control: one that lists them is sent them.
    let lists: [(&'static [&'static str], bool); 2] =
        [(&["completion"], false), (&["completion", "tools"], true)];
    for (capabilities, takes_tools) in lists {
        let home = TestHome::new(&[("Alpha.md", "one\n")]);
        let ollama = FakeOllama::listing(capabilities).await;
        let running = home.open(ollama.settings()).await;
        send_and_wait(&running).await;
        running.quit().await;
        assert_eq!(requests_with_tools(&ollama), [takes_tools], "{capabilities:?}");
    }
}
