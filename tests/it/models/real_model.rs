//! A real model on this computer, served by llama.cpp's own server: whatever it says, each turn comes to its
//! end, nothing is too long for the window that the server was started with, and no call is shown as an
//! answer. What a model of half a billion parameters answers is not judged.
//!
//! `./dev local` brings server and weights and runs the whole session; the tests run a short one where
//! they are present, and say so where they are not.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use protocol::chat::conversation::ChatItem;
use protocol::{Mode, ProviderKind, Settings, TurnStatus};
use tempfile::TempDir;
use testkit::TestHub;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::harness::test_app::{RunningApp, TestHome, with_hub};

/// Where server and weights are.
const FOLDER_VARIABLE: &str = "VAULTMATE_LOCAL_MODEL";

/// A file of weights there, and the window that the server is started with.
const WEIGHTS_VARIABLE: &str = "VAULTMATE_LOCAL_MODEL_FILE";
const WINDOW_VARIABLE: &str = "VAULTMATE_LOCAL_MODEL_CTX";

/// To load the weights takes no longer.
const LOAD_TIMEOUT: Duration = Duration::from_secs(120);

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
        let free = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
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

    fn settings(&self) -> Settings {
        let base_url = format!("http://127.0.0.1:{}", self.port);
        let (provider, mode) = (ProviderKind::OpenAi, Mode::Auto);
        Settings { provider, base_url, model: "tiny".into(), mode, ..Settings::default() }
    }
}

/// A note of 300 lines and another one.
fn home() -> TestHome {
    let lines = (1..=300).map(|n| format!("- bed {n}: plant {} rows of beans\n", n * 7));
    let garden: String = lines.collect();
    TestHome::new(&[("Garden.md", &garden), ("Ferry.md", "# Ferry\n\nThe ferry leaves at nine.\n")])
}

/// Says it, and judges how the turn ended.
async fn send_and_check(app: &RunningApp, text: &str) {
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
    let is_answered =
        matches!(items.last(), Some(ChatItem::Assistant { .. } | ChatItem::Ended { .. }));
    assert!(is_answered, "{items:?}");
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
    let server = LlamaServerProcess::start(&folder, &weights, window).await;
    let hub = TestHub::start().await;
    let home = home();
    let running = home.open(with_hub(server.settings(), &hub.url())).await;
    send_and_check(&running, "When does the ferry leave?").await;
    send_and_check(&running, "Which of my notes are about beans? Search for them.").await;
    if window >= 4_096 {
        send_and_check(&running, "Read [[Garden]] and tell me what grows in bed 250.").await;
        send_and_check(&running, "In [[Ferry]], change “nine” to “ten”.").await;
    }
    let before = home.notes.try_read("inbox/Inbox.md").unwrap_or_default();
    hub.wait_for_registration().await;
    let id = hub.send("remember oat milk").await;
    hub.wait_for_notification(&id).await;
    let all: Vec<String> = home
        .notes
        .snapshot()
        .into_values()
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    assert!(all.iter().any(|text| text.contains("oat milk")), "it is in no note: {before:?}");
    running.quit().await;
    println!("session ok: {} at {window}", weights.display());
}
