//! Mistakes of users, and failures around them: each is one clear sentence that says what to do,
//! and nothing is lost.

mod database;
mod disk;
mod model_and_hub;

use std::process::Stdio;
use std::time::Duration;

use app::Fallback;
use protocol::{ErrorCode, Mode, Settings, SettingsChoice, UserError};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::harness::test_app::{TEST_TIMEOUT, TestHome, settings_without_model};

const NOTES: [(&str, &str); 1] = [("Alpha.md", "# Alpha\n\nThe first line.\n")];

/// The law of all sentences, whatever they say: a person can read them.
fn assert_readable(sentence: &str) {
    let first = sentence.chars().next().expect("some words");
    let begins_well = first.is_uppercase() || matches!(first, '/' | '`' | '“' | '1'..='9');
    assert!(begins_well, "it does not begin as a sentence: {sentence}");
    assert!(sentence.ends_with(['.', '?', ')']), "it does not end as a sentence: {sentence}");
    assert!(!sentence.contains('\n'), "it is more than one line: {sentence}");
    for jargon in
        ["os error", "Error", "Err(", "Some(", "None", " { ", "code:", "kind:", "panicked", "sqlx"]
    {
        assert!(!sentence.contains(jargon), "`{jargon}` is no word for a person: {sentence}");
    }
}

/// That this is the error, word for word.
fn assert_error(error: &UserError, code: ErrorCode, sentence: &str) {
    assert_eq!((error.code, error.message.as_str()), (code, sentence));
    assert_readable(sentence);
}

/// The error of opening the home's notes.
async fn open_error(test_home: &TestHome, folder: &std::path::Path) -> UserError {
    let running = test_home.start(settings_without_model()).await;
    let refused = running.app.open_vault(folder).await.expect_err("it is refused");
    running.quit().await;
    refused
}

#[tokio::test]
async fn a_missing_vault_is_named() {
    let home = TestHome::new(&[]);
    let folder = home.notes.root().join("gone");
    let sentence = format!(
        "There is no folder at {}. Choose another folder, or restore this one.",
        folder.display()
    );
    assert_error(&open_error(&home, &folder).await, ErrorCode::Vault, &sentence);
    let text = folder.to_str().expect("UTF-8");
    let said = crate::harness::test_app::run_command(
        &mut home.cli_command(&["ask", "--vault", text, "zanzibar"]),
    )
    .await;
    assert_eq!((said.code, said.stderr), (Some(1), format!("{sentence}\n")));
    assert!(!folder.exists(), "it is not made");
}

#[tokio::test]
async fn a_vault_that_is_a_file_is_named_and_left_as_it_is() {
    let home = TestHome::new(&NOTES);
    let before = home.notes.snapshot();
    let file = home.notes.root().join("Alpha.md");
    let sentence =
        format!("{} isn’t a folder. Choose the folder that contains your notes.", file.display());
    assert_error(&open_error(&home, &file).await, ErrorCode::Vault, &sentence);
    assert_eq!(home.notes.snapshot(), before);
}

#[tokio::test]
async fn a_folder_of_the_system_is_no_vault_in_the_window_nor_in_a_terminal() {
    let home = TestHome::new(&NOTES);
    for folder in ["/proc", "/proc/self/cwd", "/sys/kernel", "/dev"] {
        let sentence =
            format!("{folder} is a system folder, not one with notes. Choose another folder.");
        let refused = open_error(&home, folder.as_ref()).await;
        assert_error(&refused, ErrorCode::Vault, &sentence);
        for command in [&["ask", "--vault", folder, "hello"][..], &["serve", "--vault", folder]] {
            let said = home.cli_command(command).output().await.expect("it runs");
            let words = String::from_utf8_lossy(&said.stderr).into_owned();
            assert!(!said.status.success() && words.contains(&sentence), "{command:?}: {words}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_that_is_gone_at_the_start_is_told_with_the_first_view_until_another_is_opened() {
    let home = TestHome::new(&NOTES);
    let running = home.start(settings_without_model()).await;
    running.app.open_initial_vault(Some(home.notes.root().join("gone")), Fallback::FirstRun);
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    let [problem] = snapshot.problems.as_slice() else { panic!("{:?}", snapshot.problems) };
    assert_eq!((problem.code, snapshot.vault), (ErrorCode::Vault, None));
    let nothing_open = running.send(None, "hello", None).await.expect_err("there is no vault");
    assert_error(&nothing_open, ErrorCode::Vault, "No vault is open. Choose one first.");
    running.app.open_vault(home.notes.root()).await.expect("this one is there");
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert_eq!(snapshot.problems, []);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_instance_is_refused_and_its_trouble_is_over_with_the_next_vault() {
    let (home, other) = (TestHome::new(&NOTES), TestHome::new(&NOTES));
    let first = home.open(settings_without_model()).await;
    let second = home.start(settings_without_model()).await;
    second.app.open_initial_vault(Some(home.notes.root().to_owned()), Fallback::FirstRun);
    let snapshot = second.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    let [problem] = snapshot.problems.as_slice() else { panic!("{:?}", snapshot.problems) };
    let sentence = format!(
        "{} is already open in another Vaultmate. Switch to it, or close it first.",
        home.notes.root().display()
    );
    assert_error(problem, ErrorCode::Busy, &sentence);
    second.app.open_vault(other.notes.root()).await.expect("this one is free");
    let snapshot = second.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert_eq!(snapshot.problems, []);
    let conversation = first.send_and_wait(None, "help").await;
    assert_eq!(first.view(&conversation).await.items.len(), 2, "the first one goes on");
    second.quit().await;
    first.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_corrupt_config_is_told_left_alone_and_reopens_when_it_is_corrected() {
    let home = TestHome::new(&NOTES);
    let text = "mode = \"read_only\"\nprovider = [oops\n";
    home.data.write("config.toml", text);
    let running = home.start_with_stored_settings().await;
    running.app.open_vault(home.notes.root()).await.expect("the vault opens");
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert_eq!((snapshot.settings, snapshot.problems), (Settings::default(), Vec::new()));
    let told = snapshot.settings_trouble.expect("it is told").message;
    let file = home.data.root().join("config.toml");
    let begins = format!("The settings file {} can’t be read (", file.display());
    assert!(told.starts_with(&begins) && told.contains("line 2"), "{told}");
    assert_readable(&told);
    let refused = running.app.change_settings(|settings| settings.mode = Mode::Auto).await;
    assert_eq!(refused.expect_err("it is closed").code, ErrorCode::Settings);
    assert_eq!(home.data.read("config.toml"), text);
    let said = home.ask(&["Alpha"]).await;
    assert!(said.stderr.contains(&begins), "the command line tells it too: {said:?}");

    home.data.write("config.toml", "mode = \"read_only\"\n");
    let counts = async {
        while running.app.settings().mode != Mode::ReadOnly {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, counts).await.expect("it counts once it is correct");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_of_a_wrong_kind_is_told_and_kept_when_the_user_starts_over() {
    let home = TestHome::new(&NOTES);
    home.data.write("config.toml", "# mine\nmode = \"yolo\"\n");
    let running = home.start_with_stored_settings().await;
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    let told = snapshot.settings_trouble.expect("it is told").message;
    assert!(told.contains("yolo"), "{told}");
    assert_readable(&told);
    running.app.recover_settings(SettingsChoice::Defaults).await.expect("settled");
    let settings = Settings { mode: Mode::Auto, ..Settings::default() };
    running.app.save_settings(settings.clone()).await.expect("saved");
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert_eq!((snapshot.settings, snapshot.settings_trouble), (settings, None));
    assert_eq!(home.data.read("config.toml.broken"), "# mine\nmode = \"yolo\"\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_on_a_vault_that_is_served_says_how_to_end_that_and_opens_it_then() {
    let home = TestHome::new(&NOTES);
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let mut served = home
        .cli_command(&["serve", "--vault", vault])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(served.stderr.take().expect("its words")).lines();
    while let Some(line) = lines.next_line().await.expect("it talks") {
        if line.starts_with("Serving ") {
            break;
        }
    }
    let process = served.id().expect("it runs");
    let second = home.start(settings_without_model()).await;
    second.app.open_initial_vault(Some(home.notes.root().to_owned()), Fallback::FirstRun);
    let snapshot = second.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    let [problem] = snapshot.problems.as_slice() else { panic!("{:?}", snapshot.problems) };
    let sentence = format!(
        "`vaultmate-cli serve` (process {process}) has {vault} open without a window. Stop it \
         with Ctrl+C where it runs, or with `kill {process}`, then open the folder again."
    );
    assert_error(problem, ErrorCode::Busy, &sentence);
    // As it says.
    let killed = Command::new("kill").arg(process.to_string()).status().await.expect("a program");
    assert!(killed.success());
    served.wait().await.expect("it ends");
    second.app.open_vault(home.notes.root()).await.expect("it is free");
    second.quit().await;
}
