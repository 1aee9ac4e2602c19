//! The output of `ask --json`: the value as it is, and an error where it cannot be written.

use std::fs::File;
use std::process::Stdio;

use serde_json::json;
use testkit::{Reply, ScriptedModel};
use tokio::io::AsyncWriteExt as _;

use super::{NOTES, ask_command, ask_json};
use crate::harness::test_app::{TEST_TIMEOUT, TestHome};

/// The exit code and the errors of `ask --json` whose output goes to `out`; a pipe is closed.
async fn ask_into(
    home: &TestHome,
    model: &ScriptedModel,
    out: Stdio,
    more: &[&str],
) -> (Option<i32>, String) {
    let mut command = ask_command(home, model, &[&["--json"], more].concat());
    let piped = command.stdin(Stdio::piped()).stdout(out).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("it starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(br#"{"message": "Add eggs"}"#).await.expect("it reads");
    drop(stdin);
    let ended = tokio::time::timeout(TEST_TIMEOUT, child.wait_with_output()).await;
    let ended = ended.expect("it ends in time").expect("it ran");
    (ended.status.code(), String::from_utf8(ended.stderr).expect("UTF-8"))
}

/// A device on which every write finds the disk full.
fn full_disk() -> Stdio {
    File::options().write(true).open("/dev/full").expect("a full disk").into()
}

#[tokio::test(flavor = "multi_thread")]
async fn control_characters_come_back_as_they_were_and_reach_no_terminal() {
    let home = TestHome::new(&NOTES);
    let model = ScriptedModel::start(vec![Reply::text("At nine.")]).await;
    let text = "one\u{7f}two\u{80}\u{9b}31m\u{85}\u{9f}\u{1b}[2J\r\n\tthree";
    let past = json!([{ "role": "user", "text": text, "sources": ["user"] }]);
    let input = json!({ "message": "When?", "history": past });
    let (said, told) = ask_json(&home, &model, &input.to_string(), &[]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(told["history"][0]["text"], text);
    let line = said.stdout.strip_suffix('\n').expect("a line");
    assert!(!line.contains(char::is_control), "{line:?}");
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_a_full_disk_does_not_take_is_an_error() {
    let home = TestHome::new(&NOTES);
    let model = ScriptedModel::start(vec![Reply::text("At nine.")]).await;
    let (code, told) = ask_into(&home, &model, full_disk(), &[]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("Couldn’t write the answer: No space left on device"), "{told}");
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_told_whose_answer_a_full_disk_does_not_take() {
    let home = TestHome::new(&NOTES);
    let append = json!({ "path": "Groceries.md", "content": "- [ ] eggs" });
    let calls = Reply::calls(vec![("append_file", append)]);
    let model = ScriptedModel::start(vec![calls, Reply::text("Added.")]).await;
    let (code, told) = ask_into(&home, &model, full_disk(), &["--write"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("The changes are made, but the answer couldn’t be"), "{told}");
    assert!(home.notes.read("Groceries.md").ends_with("- [ ] eggs\n"));
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_pipe_is_no_error() {
    let home = TestHome::new(&NOTES);
    let model = ScriptedModel::start(vec![Reply::text("At nine.")]).await;
    let (code, told) = ask_into(&home, &model, Stdio::piped(), &[]).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(!told.contains("Couldn’t write"), "{told}");
    model.finish();
}
