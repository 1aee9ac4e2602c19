//! The wait for a model on this computer: the terminal is told of it while it lasts.

use std::process::Stdio;
use std::sync::mpsc;

use testkit::{Reply, ScriptedModel};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::{NOTES, ask_command};
use crate::harness::test_app::{TEST_TIMEOUT, TestHome, run_command};

const LOADING: &str = "(The server loads the model …)\n";

#[tokio::test(flavor = "multi_thread")]
async fn the_terminal_is_told_that_a_prompt_is_read_before_the_answer_begins() {
    let (answer_now, may_answer) = mpsc::channel();
    let slow = Reply::computed(move |_| {
        // The prompt is read until the test has seen that it is told.
        let told = tokio::task::block_in_place(|| may_answer.recv_timeout(TEST_TIMEOUT));
        told.expect("the wait is told");
        Reply::text("At nine.")
    });
    let (home, model) = (TestHome::new(&NOTES), ScriptedModel::start(vec![slow]).await);
    let mut command = ask_command(&home, &model, &["When?"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut told = BufReader::new(child.stderr.take().expect("piped")).lines();
    let reading = tokio::time::timeout(TEST_TIMEOUT, async {
        loop {
            let line = told.next_line().await.expect("readable").expect("it goes on");
            if line.starts_with("(Reading ") {
                return line;
            }
        }
    });
    let line = reading.await.expect("the wait is told");
    let figure = line.strip_prefix("(Reading ").and_then(|rest| rest.strip_suffix(" tokens …)"));
    let tokens: u32 = figure.and_then(|figure| figure.replace(',', "").parse().ok()).expect(&line);
    assert!(tokens >= 1_000 && tokens.is_multiple_of(100), "{line}");
    answer_now.send(()).expect("the model waits");
    let ended = tokio::time::timeout(TEST_TIMEOUT, child.wait_with_output()).await;
    let ended = ended.expect("it ends").expect("it ran");
    assert_eq!((ended.status.code(), ended.stdout.as_slice()), (Some(0), &b"At nine.\n"[..]));
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_terminal_is_told_that_a_server_loads_its_model_and_nothing_of_a_quick_answer() {
    for (refused, is_told) in [(Some("Loading model"), true), (None, false)] {
        let refusal = refused.map(|message| Reply::status(503, message));
        let replies = refusal.into_iter().chain([Reply::text("At nine.")]).collect();
        let (home, model) = (TestHome::new(&NOTES), ScriptedModel::start(replies).await);
        let said = run_command(&mut ask_command(&home, &model, &["When?"])).await;
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), "At nine.\n"), "{said:?}");
        assert_eq!(said.stderr.contains(LOADING), is_told, "{said:?}");
        // A quick answer, and one that is waited for already, is not told as the reading of a prompt.
        assert!(!said.stderr.contains("(Reading "), "{said:?}");
        model.finish();
    }
}
