//! A real model on this computer, served by llama.cpp's own server: whatever it says, each turn comes to its
//! end, nothing is too long for the window that the server was started with, and no call is shown as an
//! answer. Whether notes were searched, and a note was read and edited, is judged by the end state for a model
//! that is large enough; for one of half a billion parameters it is printed.
//!
//! `./dev local` brings server and weights and runs the whole session, also while the server loads, where it
//! does not tell its window, and with a long prompt that is stopped. The tests run a short one where they are
//! present, and say so where they are not.

mod model_proxy;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use protocol::chat::conversation::ChatItem;
use protocol::chat::conversation_list::{ArchiveState, ListConversations};
use protocol::event::ModelWait;
use protocol::{AppEvent, Mode, ProviderKind, Settings, Timestamp, TurnStatus};
use tempfile::TempDir;
use testkit::TestHub;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::harness::test_app::{RunningApp, TestHome, with_hub};
use model_proxy::{ModelProxy, WindowDisclosure, fetch_json};

/// Where server and weights are.
const FOLDER_VARIABLE: &str = "VAULTMATE_LOCAL_MODEL";

/// A file of weights there, and the window that the server is started with.
const WEIGHTS_VARIABLE: &str = "VAULTMATE_LOCAL_MODEL_FILE";
const WINDOW_VARIABLE: &str = "VAULTMATE_LOCAL_MODEL_CTX";

/// To load the weights takes no longer.
const LOAD_TIMEOUT: Duration = Duration::from_secs(120);

/// A model on few cores may repeat itself up to the length limit before it answers.
const HUB_TIMEOUT: Duration = Duration::from_secs(600);

/// A model with fewer parameters may do anything: whether it did what it was told is only printed.
const CAPABLE_PARAMETERS: u64 = 3_000_000_000;

fn model_folder() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let brought = || repository().join(target).join("local-model");
    let folder = std::env::var_os(FOLDER_VARIABLE).map_or_else(brought, PathBuf::from);
    folder.join("serve_llama.py").exists().then_some(folder)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn weights_file(folder: &Path) -> Option<PathBuf> {
    if let Some(file) = std::env::var_os(WEIGHTS_VARIABLE) {
        return Some(PathBuf::from(file));
    }
    let smallest = folder.join("smollm2-135m.gguf");
    smallest.exists().then_some(smallest)
}

/// The server, until it is dropped.
struct LlamaServerProcess {
    port: u16,
    _process: Child,
}

impl LlamaServerProcess {
    async fn start(folder: &Path, weights: &Path, window: u32) -> Self {
        Self::start_at(free_port(), folder, weights, window).await
    }

    /// The same on this port. It listens before it has loaded the weights.
    async fn start_at(port: u16, folder: &Path, weights: &Path, window: u32) -> Self {
        let process = Command::new(folder.join("venv/bin/python"))
            .arg(folder.join("serve_llama.py"))
            .arg(weights)
            .args([port.to_string(), "--ctx".into(), window.to_string()])
            .args(["--alias", "tiny"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the server starts");
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            assert!(began.elapsed() < LOAD_TIMEOUT, "the server does not listen");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Self { port, _process: process }
    }

    /// Resolves with what it tells of itself once it has loaded the weights.
    async fn wait_until_loaded(&self) -> LoadedModel {
        let began = Instant::now();
        loop {
            let props = fetch_json(self.port, "/props").await;
            if props["default_generation_settings"].is_object() {
                let models = fetch_json(self.port, "/v1/models").await;
                let parameters = models["data"][0]["meta"]["n_params"].as_u64().unwrap_or(0);
                let takes_tools = props["chat_template_caps"]["supports_tools"] != false;
                return LoadedModel { parameters, takes_tools };
            }
            assert!(began.elapsed() < LOAD_TIMEOUT, "the server does not load: {props}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    fn settings(&self) -> Settings {
        settings_at(format!("http://127.0.0.1:{}", self.port))
    }
}

/// A model as its server describes it.
#[derive(Debug, Clone, Copy)]
struct LoadedModel {
    parameters: u64,
    /// Whether its template has a place for tools.
    takes_tools: bool,
}

fn free_port() -> u16 {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    free.local_addr().expect("an address").port()
}

fn settings_at(base_url: String) -> Settings {
    let (provider, mode) = (ProviderKind::OpenAi, Mode::Auto);
    Settings { provider, base_url, model: "tiny".into(), mode, ..Settings::default() }
}

/// A note of 300 lines and another one.
fn home() -> TestHome {
    let lines = (1..=300).map(|n| format!("- bed {n}: plant {} rows of beans\n", n * 7));
    let garden: String = lines.collect();
    TestHome::new(&[("Garden.md", &garden), ("Ferry.md", "# Ferry\n\nThe ferry leaves at nine.\n")])
}

/// Says it, and judges how the turn ended; answers all that the chat shows then.
async fn send_and_check(app: &RunningApp, text: &str) -> Vec<ChatItem> {
    let began = Instant::now();
    let conversation = app.send_and_wait(None, text).await;
    let items = app.view(&conversation).await.items;
    println!("{text} ({:.0} s)", began.elapsed().as_secs_f64());
    for item in &items {
        match item {
            ChatItem::Assistant { text, .. } => {
                println!("  answer: {text}");
                let start = text.trim_start();
                let is_call = start.starts_with('{') && start.contains("\"arguments\"");
                assert!(!is_call, "a call is shown as an answer: {text}");
            }
            ChatItem::Tool { tool, arguments, is_error, .. } => {
                println!("  {tool} {arguments} error={is_error}");
            }
            ChatItem::Ended { status, error, .. } => {
                println!("  {status:?}: {error:?}");
                let words = error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
                assert!(!words.contains("no longer fits"), "{words}");
                assert!(!words.contains("has at least"), "{words}");
                let is_told = *status != TurnStatus::Failed || !words.is_empty();
                assert!(is_told, "a failure without words: {items:?}");
            }
            _ => {}
        }
    }
    // It may call tools behind what it says, and say nothing more.
    let says =
        |item: &ChatItem| matches!(item, ChatItem::Assistant { .. } | ChatItem::Ended { .. });
    let is_answered = items.iter().any(says);
    assert!(is_answered, "{items:?}");
    items
}

/// Whether a tool gave the model the line that it was asked about, and its answer tells it.
fn has_read_garden(items: &[ChatItem]) -> bool {
    let is_read = items.iter().any(|item| match item {
        ChatItem::Tool { output: Some(output), is_error: false, .. } => {
            output.contains("plant 1750")
        }
        _ => false,
    });
    let is_told = items.iter().any(|item| match item {
        ChatItem::Assistant { text, .. } => text.contains("bean"),
        _ => false,
    });
    is_read && is_told
}

/// Whether a search of the notes succeeded.
fn has_searched(items: &[ChatItem]) -> bool {
    items.iter().any(|item| match item {
        ChatItem::Tool { tool, output: Some(_), is_error: false, .. } => tool == "find_notes",
        _ => false,
    })
}

/// Whether the edit stands in the note, and nothing else was changed in it.
fn has_edited_ferry(home: &TestHome) -> bool {
    home.notes.read("Ferry.md") == "# Ferry\n\nThe ferry leaves at ten.\n"
}

/// Asserts the end state that was asked for where the model is large enough, and prints it otherwise.
fn judge(task: &str, is_done: bool, parameters: u64) {
    println!("  {task}: {}", if is_done { "done" } else { "not done" });
    assert!(is_done || parameters < CAPABLE_PARAMETERS, "a large model has not done it: {task}");
}

/// A call of a tool that ended so.
fn call_of(tool: &str, is_error: bool) -> ChatItem {
    ChatItem::Tool {
        turn: "t".into(),
        call: "c".into(),
        tool: tool.into(),
        at: Timestamp(0),
        arguments: "{}".into(),
        output: Some("It ended.".into()),
        is_error,
        reactions: Vec::new(),
    }
}

#[test]
fn a_large_model_must_do_what_it_is_told_and_a_small_one_need_not() {
    let home = home();
    assert!(!has_edited_ferry(&home));
    home.notes.write("Ferry.md", "# Ferry\n\nThe ferry leaves at ten.\n");
    assert!(has_edited_ferry(&home));
    assert!(!has_read_garden(&[]), "nothing was read");
    for (tool, is_error, expected) in
        [("find_notes", false, true), ("find_notes", true, false), ("read_file", false, false)]
    {
        assert_eq!(has_searched(&[call_of(tool, is_error)]), expected, "{tool} {is_error}");
    }
    judge("the edit", true, CAPABLE_PARAMETERS);
    judge("the edit", false, CAPABLE_PARAMETERS - 1);
    let missed = std::panic::catch_unwind(|| judge("the edit", false, CAPABLE_PARAMETERS));
    assert!(missed.is_err(), "the control");
}

/// About as many tokens as two fifths of the window.
fn long_text(window: u32) -> String {
    "beans and peas ".repeat(usize::try_from(window / 10).expect("a number"))
}

/// A server that loads its weights is waited for, with words; and a window that it does not tell is learned from
/// its first refusal.
async fn ask_loading_server_without_window(folder: &Path, weights: &Path) {
    let (port, window) = (free_port(), 2_048);
    let proxy = ModelProxy::start(port, WindowDisclosure::Hidden).await;
    let home = home();
    let running = home.open(settings_at(proxy.url())).await;
    let server = LlamaServerProcess::start_at(port, folder, weights, window).await;
    send_and_check(&running, &format!("Which of these are round? {}", long_text(window))).await;
    let statuses: Vec<u16> = proxy.chats().iter().map(|chat| chat.status).collect();
    println!("  statuses of the answers: {statuses:?}");
    let is_answered_after = |refusal: u16| {
        statuses.iter().skip_while(|&&status| status != refusal).any(|&status| status == 200)
    };
    let loading = |event: &AppEvent| match event {
        AppEvent::WaitChanged { wait: Some(ModelWait::Loading), .. } => Some(()),
        _ => None,
    };
    running.wait_for_event("the wait for the server that loads", loading).await;
    assert!(is_answered_after(503), "{statuses:?}");
    assert!(is_answered_after(400), "the window was not learned: {statuses:?}");
    running.quit().await;
    drop(server);
}

/// A question and a search fit into this window, which is told.
async fn ask_in_told_window(folder: &Path, weights: &Path, window: u32) {
    let server = LlamaServerProcess::start(folder, weights, window).await;
    let model = server.wait_until_loaded().await;
    let proxy = ModelProxy::start(server.port, WindowDisclosure::Told).await;
    let home = home();
    let running = home.open(settings_at(proxy.url())).await;
    println!("at {window}:");
    ask_and_search(&running, &proxy, model, window).await;
    running.quit().await;
}

async fn ask_and_search(app: &RunningApp, proxy: &ModelProxy, model: LoadedModel, window: u32) {
    send_and_check(app, "When does the ferry leave?").await;
    check_first_requests(proxy, model, window);
    let search = "Which of my notes are about beans? Search for them.";
    let items = send_and_check(app, search).await;
    judge("the search", has_searched(&items), model.parameters);
}

/// A message over the hub is answered, and its text is kept in a note if the model changed nothing and asked nothing
/// (ADR 22).
async fn remember_over_hub(app: &RunningApp, hub: &TestHub, home: &TestHome) {
    let before = home.notes.snapshot();
    hub.wait_for_registration().await;
    let id = hub.send("remember oat milk").await;
    let notification = hub.wait_for_notification_within(&id, HUB_TIMEOUT).await;
    println!("remember oat milk\n  notification: {notification:?}");
    let notes = home.notes.snapshot();
    let is_kept = notes.values().any(|note| String::from_utf8_lossy(note).contains("oat milk"));
    let list = ListConversations { archive_state: ArchiveState::Open, before: None };
    let page = app.app.list_conversations(&list).await.expect("a page");
    let mut is_work_done = notes != before;
    let newest = page.conversations.first().expect("the conversation of the hub");
    for item in app.view(&newest.id).await.items {
        println!("  {item:?}");
        is_work_done |= matches!(item, ChatItem::Asked { .. });
    }
    println!("  the text is kept: {is_kept}");
    assert!(is_kept || is_work_done, "it is in no note, and the model did nothing");
}

/// The wait for a long prompt is told, and can be stopped; the server answers the next question then.
async fn stop_long_prompt(app: &RunningApp, window: u32) {
    let text = format!("Which of these are green? {}", long_text(window));
    let sent = app.send(None, &text, None).await.expect("it is taken");
    let told = |event: &AppEvent| match event {
        AppEvent::WaitChanged { conversation, wait: Some(ModelWait::Reading { tokens }) }
            if *conversation == sent =>
        {
            Some(Some(*tokens))
        }
        AppEvent::ItemChanged {
            conversation,
            item: ChatItem::Assistant { .. } | ChatItem::Tool { .. } | ChatItem::Ended { .. },
        } if *conversation == sent => Some(None),
        _ => None,
    };
    let reading = app.wait_for_event("the wait for a long prompt", told).await;
    app.app.stop(&sent).await.expect("it can be stopped");
    let idle = tokio::time::timeout(Duration::from_secs(10), app.app.wait_until_idle(&sent)).await;
    idle.expect("the wait ends at once").expect("a vault is open");
    let Some(tokens) = reading else {
        println!("  long prompt: read before the wait was told");
        return;
    };
    println!("  long prompt: stopped while {tokens} tokens were read");
    assert!(tokens >= window / 5, "{tokens}");
    let items = app.view(&sent).await.items;
    let is_stopped = items
        .iter()
        .any(|item| matches!(item, ChatItem::Ended { status: TurnStatus::Cancelled, .. }));
    assert!(is_stopped, "{items:?}");
}

/// The tokens of a short question with its context, at most.
const QUESTION_TOKENS: u64 = 150;

/// The first question of a session is not too long for a window that is told, and has tools if the model's
/// template has a place for them. Instructions and tools take a quarter of the window at most, as the model's own
/// tokenizer counts them.
fn check_first_requests(proxy: &ModelProxy, model: LoadedModel, window: u32) {
    let chats = proxy.chats();
    let sent_tools = chats.iter().any(|chat| chat.body.get("tools").is_some());
    assert_eq!(sent_tools, model.takes_tools, "{chats:?}");
    assert!(!chats.is_empty() && chats.iter().all(|chat| chat.status != 400), "{chats:?}");
    let tokens = chats.first().and_then(|chat| chat.prompt_tokens).expect("the server counts");
    println!("  the first request has {tokens} tokens of {window}");
    assert!(tokens <= u64::from(window) / 4 + QUESTION_TOKENS, "{tokens} of {window}");
}

/// The line of `./dev test` about the short session, with this folder of server and weights.
fn status_line(folder: &Path) -> String {
    let output = std::process::Command::new(repository().join("tests/local-model"))
        .arg("--status")
        .env(FOLDER_VARIABLE, folder)
        .env_remove(WEIGHTS_VARIABLE)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn a_session_that_is_skipped_is_told_and_one_that_runs_is_not() {
    let folder = TempDir::new().expect("a folder");
    for file in ["serve_llama.py", "smollm2-135m.gguf"] {
        let line = status_line(folder.path());
        let missing = folder.path().join(file);
        let start = format!("local model: skipped ({} is missing", missing.display());
        assert!(line.starts_with(&start) && line.lines().count() == 1, "{line}");
        std::fs::write(missing, "").expect("written");
    }
    let line = status_line(folder.path());
    assert!(line.starts_with("local model: a short session with "), "{line}");
    let dev = std::fs::read_to_string(repository().join("dev")).expect("the script");
    let (_, tests) = dev.split_once("\nrun_tests() {").expect("it runs tests");
    let (tests, _) = tests.split_once("\n}\n").expect("to the end");
    assert!(tests.contains("tests/local-model --status"), "`./dev test` does not say it: {tests}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_to_a_real_model_comes_to_its_end() {
    let found = model_folder().and_then(|folder| Some((weights_file(&folder)?, folder)));
    // `./dev test` says that it was skipped.
    let Some((weights, folder)) = found else { return };
    let server = LlamaServerProcess::start(&folder, &weights, 4_096).await;
    let home = home();
    let running = home.open(server.settings()).await;
    send_and_check(&running, "When does the ferry leave?").await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes and wants a model server: `./dev local` runs it"]
async fn a_session_with_a_real_model_comes_to_its_ends() {
    let folder = model_folder().expect("VAULTMATE_LOCAL_MODEL names a folder with a server");
    let weights = weights_file(&folder).expect("weights");
    let window =
        std::env::var(WINDOW_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(4_096);
    ask_loading_server_without_window(&folder, &weights).await;
    ask_in_told_window(&folder, &weights, 2_048).await;
    let server = LlamaServerProcess::start(&folder, &weights, window).await;
    let model = server.wait_until_loaded().await;
    println!("{model:?}");
    let proxy = ModelProxy::start(server.port, WindowDisclosure::Told).await;
    let hub = TestHub::start().await;
    let home = home();
    let running = home.open(with_hub(settings_at(proxy.url()), &hub.url())).await;
    ask_and_search(&running, &proxy, model, window).await;
    if window >= 4_096 {
        let question = "Read [[Garden]] and tell me what grows in bed 250.";
        let items = send_and_check(&running, question).await;
        judge("the note is read", has_read_garden(&items), model.parameters);
        send_and_check(&running, "In [[Ferry]], change “nine” to “ten”.").await;
        judge("the note is edited", has_edited_ferry(&home), model.parameters);
    }
    stop_long_prompt(&running, window).await;
    send_and_check(&running, "Is the ferry a ship?").await;
    remember_over_hub(&running, &hub, &home).await;
    running.quit().await;
    println!("session ok: {} at {window}", weights.display());
}
