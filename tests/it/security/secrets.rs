//! Keys outside of databases and answers: in logs, panics, memory, children and addresses.
//! `K-secrets-…` are the scenarios by their ids; those about servers are in `canary`.

use std::fs;

use protocol::{ProviderKind, Settings};
use testkit::scripted_model::KEY;
use testkit::{Gate, Reply, ScriptedModel};
use tokio::process::Command;

use crate::harness::test_app::{
    TestHome, cli_output, home_with_key, run_command, settings_with_model,
};

const CANARY: &str = "sk-CANARY-7f3a9c";

/// Files of the data folder in which a text stands.
fn files_containing(test_home: &TestHome, text: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let files = test_home.data.snapshot().into_iter();
    files.filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect()
}

fn log_text(test_home: &TestHome) -> String {
    let files = test_home.data.snapshot().into_iter().filter(|(name, _)| name.starts_with("logs/"));
    files.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_with_a_key_or_a_login_in_it_is_not_taken() {
    // K-secrets-01
    let home = TestHome::new(&[]);
    let running = home.start(Settings::default()).await;
    for address in [
        format!("https://models.example/v1?key={CANARY}"),
        format!("https://ann:{CANARY}@models.example/v1"),
        format!("https://models.example/#{CANARY}"),
    ] {
        let provider = ProviderKind::OpenAi;
        let settings = Settings { provider, base_url: address, ..Settings::default() };
        let refused = running.app.save_settings(settings).await.expect_err("it is refused");
        assert!(refused.message.contains("add your API key under Model"), "{refused}");
        assert!(!format!("{refused:?}").contains(CANARY), "{refused:?}");
    }
    assert_eq!(running.settings().await.base_url, "");
    running.quit().await;
    assert_eq!(files_containing(&home, CANARY), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_pasted_into_the_chat_stands_there_and_in_no_log() {
    // K-secrets-02, K-secrets-04
    let (home, model) =
        (home_with_key(&[]), ScriptedModel::start(vec![Reply::text("Noted.")]).await);
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let mut command = home.cli_command(&["ask", "--vault", vault, &format!("My key is {CANARY}")]);
    command.env("VAULTMATE_LOG", "trace").env("ANTHROPIC_BASE_URL", model.base_url());
    let said = run_command(&mut command).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(files_containing(&home, CANARY).iter().all(|name| name.contains("vaultmate.db")));
    assert!(!files_containing(&home, CANARY).is_empty(), "the messages are kept");
    let logs = log_text(&home);
    assert!(!logs.is_empty() && !logs.contains(CANARY) && !logs.contains(KEY), "{logs}");
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_panic_says_is_logged_without_the_key_in_it() {
    // K-secrets-05
    let home = TestHome::new(&[]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_story"));
    command.args([home.data.root(), home.notes.root(), "panic".as_ref()]).env("SAYS", CANARY);
    let said = run_command(&mut command).await;
    assert!(
        said.stderr.contains("panicked at") && said.stderr.contains("refused [key]"),
        "{said:?}"
    );
    assert!(!said.stderr.contains(CANARY) && !said.stdout.contains(CANARY), "{said:?}");
    assert!(log_text(&home).contains("refused [key]"), "{}", log_text(&home));
    assert_eq!(files_containing(&home, CANARY), Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_crash_writes_no_memory_and_no_child_or_argument_has_the_key() {
    // K-secrets-06, K-secrets-07
    let gate = Gate::closed();
    let model = ScriptedModel::start(vec![Reply::text("I begin to answer.").gated(&gate)]).await;
    let home = TestHome::new(&[]);
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let mut command = home.cli_command(&["ask", "--vault", vault, "Is it there?"]);
    command.env("ANTHROPIC_BASE_URL", model.base_url()).env("ANTHROPIC_API_KEY", KEY);
    command.current_dir(home.data.root());
    let child = command.spawn().expect("it starts");
    gate.wait_until_reached(1).await;
    let id = child.id().expect("it runs");
    let about = |what: &str| fs::read_to_string(format!("/proc/{id}/{what}")).expect("it runs");
    let limits = about("limits");
    let cores = limits.lines().find(|line| line.starts_with("Max core file size"));
    let cores: Vec<&str> = cores.expect("a limit").split_whitespace().collect();
    assert_eq!(cores[4..6], ["0", "0"], "{limits}");
    assert_eq!(about(&format!("task/{id}/children")), "", "it has no children");
    assert!(!about("cmdline").contains(KEY));

    let id = rustix::process::Pid::from_raw(i32::try_from(id).expect("an id")).expect("an id");
    rustix::process::kill_process(id, rustix::process::Signal::ABORT).expect("it crashes");
    let ended = cli_output(child.wait_with_output().await.expect("it ends"));
    assert_eq!(ended.code, None, "{ended:?}");
    assert_eq!(files_containing(&home, KEY), Vec::<String>::new(), "no file holds its memory");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_is_told_of_a_conversation_has_no_key() {
    // K-secrets-09
    let model = ScriptedModel::start(vec![
        Reply::status(400, &format!("the key {KEY} is odd")),
        Reply::text("Noted."),
    ])
    .await;
    let home = home_with_key(&[]);
    let running = home.open(settings_with_model(&model)).await;
    let chat = running.send_and_wait(None, "Is it there?").await;
    running.send_and_wait(Some(&chat), "And now?").await;
    let told = serde_json::to_string(&running.view(&chat).await).expect("JSON");
    assert!(told.contains("the key [key] is odd") && !told.contains(KEY), "{told}");
    running.quit().await;
    model.finish();
}
