//! A server on this computer that hands what it is sent on to another computer, for some of its models:
//! those are not shown what only models on this computer may see, whatever they are called.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::IntoResponse as _;
use protocol::chat::conversation::ChatItem;
use protocol::request::RegenerateRequest;
use protocol::settings::PrivateSettings;
use protocol::{ProviderKind, Settings};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::harness::test_app::TestHome;

/// Stands in the note that only models on this computer may see.
const CANARY: &str = "canary-77b0";

const JSON: &str = "application/json";

/// The prompts of requests for an answer, one text a request.
type SentPrompts = Arc<Mutex<Vec<String>>>;

/// The computer that the model runs on, where that is another one.
type Remote = Arc<Mutex<Option<&'static str>>>;

const ELSEWHERE: Option<&str> = Some("https://ollama.com:443");

/// How the server answers who asks what there is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lists {
    AtOnce,
    /// Once the test opens the gate.
    Held,
    /// Never. A client that asks for an answer gets one.
    Never,
    /// It is too busy for that.
    Busy,
    /// It is no Ollama and has no such place.
    Unknown,
}

/// Holds the lists of a server back until it is opened.
#[derive(Clone, Default)]
struct ListGate {
    /// How many requests came to it.
    asked: watch::Sender<usize>,
    is_open: watch::Sender<bool>,
}

impl ListGate {
    async fn pass(&self) {
        self.asked.send_modify(|asked| *asked += 1);
        let mut is_open = self.is_open.subscribe();
        let _ = is_open.wait_for(|is_open| *is_open).await;
    }
}

/// Ollama with one model under a name of the user's own, at its own address and at OpenAI's.
struct ForwardingServer {
    url: String,
    sent: SentPrompts,
    /// The computer that the server names beside the model's name.
    remote: Remote,
    /// The computer that the model runs on once the first request for an answer is taken.
    then_remote: Remote,
    list_gate: ListGate,
    _serving: JoinSet<()>,
}

impl ForwardingServer {
    async fn start(remote: Option<&'static str>, lists: Lists) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let sent = SentPrompts::default();
        let remote = Remote::new(Mutex::new(remote));
        let told = Arc::clone(&remote);
        let then_remote = Remote::default();
        let switched = Arc::clone(&then_remote);
        let list_gate = ListGate::default();
        let gate = list_gate.clone();
        let answer = move |State(sent): State<SentPrompts>, uri: Uri, body: Bytes| async move {
            let mut model =
                json!({ "name": "mine:latest", "details": { "parameter_size": "70B" } });
            if let Some(host) = *told.lock().expect("no panic") {
                model["remote_host"] = json!(host);
                model["remote_model"] = json!("gpt-oss:120b");
            }
            let loaded = json!({ "name": "mine:latest", "context_length": 32_768 });
            if matches!(uri.path(), "/api/tags" | "/api/show" | "/v1/models") {
                match lists {
                    Lists::AtOnce => {}
                    Lists::Held => gate.pass().await,
                    Lists::Never => std::future::pending().await,
                    Lists::Busy => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
                    Lists::Unknown => return StatusCode::NOT_FOUND.into_response(),
                }
            }
            let body = String::from_utf8_lossy(&body).into_owned();
            let has_result = body.contains(r#""role":"tool""#);
            if matches!(uri.path(), "/api/chat" | "/v1/chat/completions")
                && let Some(host) = switched.lock().expect("no panic").take()
            {
                *told.lock().expect("no panic") = Some(host);
            }
            let (kind, text) = match uri.path() {
                "/api/tags" => (JSON, json!({ "models": [model] }).to_string()),
                "/api/show" => (JSON, model.to_string()),
                "/api/ps" => (JSON, json!({ "models": [loaded] }).to_string()),
                "/v1/models" => {
                    (JSON, json!({ "data": [{ "id": "mine", "owned_by": "me" }] }).to_string())
                }
                "/api/chat" => {
                    sent.lock().expect("no panic").push(body);
                    ("application/x-ndjson", ollama(has_result))
                }
                "/v1/chat/completions" => {
                    sent.lock().expect("no panic").push(body);
                    ("text/event-stream", openai(has_result))
                }
                _ => (JSON, "{}".to_owned()),
            };
            ([(CONTENT_TYPE, kind)], text).into_response()
        };
        let router = Router::new().fallback(answer).with_state(Arc::clone(&sent));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Self { url, sent, remote, then_remote, list_gate, _serving: serving }
    }

    fn settings(&self, provider: ProviderKind) -> Settings {
        settings_at(&self.url, provider)
    }
}

/// Settings for the model of a server at this address, which is marked as local.
fn settings_at(url: &str, provider: ProviderKind) -> Settings {
    let base_url = match provider {
        ProviderKind::OpenAi => format!("{url}/v1"),
        _ => url.to_owned(),
    };
    let private = PrivateSettings {
        local: vec!["Home/".to_owned()],
        endpoint_is_local: true,
        ..PrivateSettings::default()
    };
    Settings { provider, base_url, model: "mine".into(), private, ..Settings::default() }
}

fn read_call() -> Value {
    json!({ "name": "read_file", "arguments": { "path": "Home/Plan.md" } })
}

fn ollama(has_result: bool) -> String {
    let message = match has_result {
        true => json!({ "content": "Yes." }),
        false => json!({ "content": "", "tool_calls": [{ "function": read_call() }] }),
    };
    let end = json!({ "done": true, "done_reason": "stop", "prompt_eval_count": 9_000 });
    format!("{}\n{end}\n", json!({ "message": message }))
}

fn openai(has_result: bool) -> String {
    let (delta, reason) = if has_result {
        (json!({ "content": "Yes." }), "stop")
    } else {
        let Value::Object(mut call) = read_call() else { unreachable!("it is an object") };
        let arguments = call["arguments"].to_string();
        call.insert("arguments".to_owned(), json!(arguments));
        (json!({ "tool_calls": [{ "index": 0, "id": "c", "function": call }] }), "tool_calls")
    };
    let delta = json!({ "choices": [{ "delta": delta }] });
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": reason }] });
    format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n")
}

fn home() -> TestHome {
    TestHome::new(&[("Home/Plan.md", "canary-77b0 is the code.\n"), ("Open.md", "open\n")])
}

/// Whether the text of the note is in a request.
async fn sends_local_note(
    provider: ProviderKind,
    remote: Option<&'static str>,
    lists: Lists,
) -> bool {
    let server = ForwardingServer::start(remote, lists).await;
    let home = home();
    let running = home.open(server.settings(provider)).await;
    let conversation = running.send_and_wait(None, "What is the plan?").await;
    let items = running.view(&conversation).await.items;
    running.quit().await;
    let sent = server.sent.lock().expect("no panic");
    assert!(sent.len() >= 2, "the call and its result were sent: {items:?}");
    sent.iter().any(|request| request.contains(CANARY))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_runs_elsewhere_under_a_name_of_its_own_is_not_shown_local_notes() {
    for provider in [ProviderKind::Ollama, ProviderKind::OpenAi] {
        let here = sends_local_note(provider, None, Lists::AtOnce).await;
        assert!(here, "the control: a model on this computer is");
        assert!(!sends_local_note(provider, ELSEWHERE, Lists::AtOnce).await, "{provider:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_not_shown_local_notes_while_its_server_does_not_say_where_it_runs() {
    for lists in [Lists::Never, Lists::Busy] {
        assert!(!sends_local_note(ProviderKind::OpenAi, ELSEWHERE, lists).await, "{lists:?}");
    }
    let other = sends_local_note(ProviderKind::OpenAi, None, Lists::Unknown).await;
    assert!(other, "the control: a server that is no Ollama hands nothing on");
}

#[tokio::test]
async fn a_model_whose_name_means_one_elsewhere_by_now_is_not_shown_local_notes_any_more() {
    for (then, expected) in [(None, true), (ELSEWHERE, false)] {
        let server = ForwardingServer::start(None, Lists::AtOnce).await;
        let home = home();
        let running = home.open(server.settings(ProviderKind::Ollama)).await;
        running.send_and_wait(None, "What is the plan?").await;
        *server.remote.lock().expect("no panic") = then;
        pass_time(REPORT_LIFETIME).await;
        let first = server.sent.lock().expect("no panic").len();
        running.send_and_wait(None, "What is the plan now?").await;
        running.quit().await;
        let sent = server.sent.lock().expect("no panic");
        assert!(sent[..first].iter().any(|request| request.contains(CANARY)), "it was here");
        assert!(sent.len() >= first + 2, "the second call and its result were sent");
        assert_eq!(sent[first..].iter().any(|request| request.contains(CANARY)), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_moves_elsewhere_within_a_turn_is_sent_nothing_more() {
    for provider in [ProviderKind::Ollama, ProviderKind::OpenAi] {
        for (then, expected) in [(None, true), (ELSEWHERE, false)] {
            let server = ForwardingServer::start(None, Lists::AtOnce).await;
            *server.then_remote.lock().expect("no panic") = then;
            let home = home();
            let running = home.open(server.settings(provider)).await;
            let conversation = running.send_and_wait(None, "What is the plan?").await;
            let first = server.sent.lock().expect("no panic").clone();
            assert_eq!(first.iter().any(|request| request.contains(CANARY)), expected, "{first:?}");
            let items = format!("{:?}", running.view(&conversation).await.items);
            let is_told = items.contains("no longer says that “mine” runs on this computer");
            assert_eq!((is_told, first.len() == 1), (!expected, !expected), "{items}");
            running.send_and_wait(Some(&conversation), "What is the plan now?").await;
            running.quit().await;
            let sent = server.sent.lock().expect("no panic");
            assert!(sent.len() > first.len(), "the next message is answered: {items}");
            let later = sent[first.len()..].iter().any(|request| request.contains(CANARY));
            assert_eq!(later, expected, "{provider:?}");
        }
    }
}

/// The reported capabilities of a model hold no longer.
const REPORT_LIFETIME: Duration = Duration::from_secs(31);

async fn pass_time(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// The requests for an answer to a message with an open note, and to the same message regenerated, where the server
/// takes a second to say where its model runs.
async fn requests_with_open_note(remote: Option<&'static str>) -> String {
    let server = ForwardingServer::start(remote, Lists::Held).await;
    let home = home();
    let running = home.open(server.settings(ProviderKind::Ollama)).await;
    running.show("Home/Plan.md").await;
    let ListGate { asked, is_open } = &server.list_gate;
    let before = *asked.borrow();
    let answer_later = async {
        let mut requests = asked.subscribe();
        requests.wait_for(|asked| *asked > before).await.expect("it is asked");
        pass_time(Duration::from_secs(1)).await;
        is_open.send_replace(true);
    };
    let sending = running.send(None, "What is the plan?", None);
    let (sent, ()) = tokio::join!(sending, answer_later);
    let conversation = sent.expect("the message is taken");
    running.app.wait_until_idle(&conversation).await.expect("a vault is open");
    let items = running.view(&conversation).await.items;
    let message = items.iter().find_map(|item| match item {
        ChatItem::User { id, .. } => Some(id.clone()),
        _ => None,
    });
    let message = message.expect("a message");
    let again = RegenerateRequest { message, text: None, old: None };
    running.app.regenerate(&again).await.expect("it is regenerated");
    running.app.wait_until_idle(&conversation).await.expect("a vault is open");
    running.quit().await;
    server.sent.lock().expect("no panic").join("\n")
}

#[tokio::test]
async fn an_open_note_for_local_models_is_sent_after_a_slow_server_says_that_its_model_is_here() {
    let sent = requests_with_open_note(None).await;
    for line in ["opened beside the chat just now", "open when the user first sent this"] {
        assert!(sent.contains(&format!("Open note: Home/Plan.md ({line})")), "{line}: {sent}");
    }
    let sent = requests_with_open_note(ELSEWHERE).await;
    assert!(sent.contains("What is the plan?") && !sent.contains("Open note: "), "{sent}");
}

/// Ollama with a model that takes no tools, and whose first answer is meant as a call and is none.
struct BrokenCallServer {
    url: String,
    sent: SentPrompts,
    _serving: JoinSet<()>,
}

impl BrokenCallServer {
    /// Before its first answer, `meanwhile` happens.
    async fn start(meanwhile: impl Fn(&Remote) + Clone + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let (sent, remote) = (SentPrompts::default(), Remote::default());
        let log = Arc::clone(&sent);
        let answer = move |uri: Uri, body: Bytes| async move {
            let mut model = json!({ "name": "mine:latest", "capabilities": ["completion"] });
            if let Some(host) = *remote.lock().expect("no panic") {
                model["remote_host"] = json!(host);
            }
            let (kind, text) = match uri.path() {
                "/api/tags" => (JSON, json!({ "models": [model] }).to_string()),
                "/api/show" => (JSON, model.to_string()),
                "/api/chat" => {
                    let mut sent = log.lock().expect("no panic");
                    sent.push(String::from_utf8_lossy(&body).into_owned());
                    let content = if sent.len() == 1 {
                        meanwhile(&remote);
                        r#"{"tool": "read_file", "parameters": {}}"#
                    } else {
                        "Yes."
                    };
                    let end = json!({ "done": true, "done_reason": "stop" });
                    let message = json!({ "message": { "content": content } });
                    ("application/x-ndjson", format!("{message}\n{end}\n"))
                }
                _ => (JSON, "{}".to_owned()),
            };
            ([(CONTENT_TYPE, kind)], text).into_response()
        };
        let router = Router::new().fallback(answer);
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Self { url, sent, _serving: serving }
    }
}

/// The event between a call that cannot be read and the request to repair it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum BeforeRepair {
    Nothing,
    ModelMoves,
    ModelsPaused,
}

/// How many requests were sent by the end of a turn, whether one is a repair, and the chat then.
async fn requests_after_broken_call(before_repair: BeforeRepair) -> (usize, bool, String) {
    let home = Arc::new(home());
    let files = Arc::clone(&home);
    let server = BrokenCallServer::start(move |remote| match before_repair {
        BeforeRepair::Nothing => {}
        BeforeRepair::ModelMoves => *remote.lock().expect("no panic") = ELSEWHERE,
        BeforeRepair::ModelsPaused => {
            let text = files.data.read("config.toml");
            files.data.write("config.toml", format!("{text}[spending]\npaused = true\n"));
        }
    })
    .await;
    let running = home.open(settings_at(&server.url, ProviderKind::Ollama)).await;
    let conversation = running.send_and_wait(None, "What is the plan?").await;
    let sent = server.sent.lock().expect("no panic").clone();
    let items = format!("{:?}", running.view(&conversation).await.items);
    running.quit().await;
    (sent.len(), sent.iter().any(|request| request.contains("Invalid tool call")), items)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_not_repaired_by_a_model_that_moved_elsewhere_or_while_models_are_paused() {
    for (before_repair, told) in [
        (BeforeRepair::ModelMoves, "no longer says that “mine” runs on this computer"),
        (BeforeRepair::ModelsPaused, "Models are paused, so nothing was sent."),
    ] {
        let (sent, is_repaired, items) = requests_after_broken_call(before_repair).await;
        assert_eq!((sent, is_repaired), (1, false), "{before_repair:?}: {items}");
        assert!(items.contains(told), "{before_repair:?}: {items}");
    }
    let (sent, is_repaired, items) = requests_after_broken_call(BeforeRepair::Nothing).await;
    assert!(sent >= 2 && is_repaired && items.contains("Yes."), "the control: {items}");
}
