//! A long result is told once, shortened, and read on by its handle.

use protocol::Settings;
use protocol::settings::PrivateSettings;
use serde_json::{Value, json};
use testkit::scripted_model::tool_results;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{home_with_key, settings_with_model};

fn long_note() -> String {
    let lines = (0..400).map(|n| format!("Line {n} of the log, with some words.\n"));
    format!("# Log\n{}## The end\nlast words\n", lines.collect::<String>())
}

fn read() -> Reply {
    Reply::calls(vec![("read_file", json!({ "path": "Log.md" }))])
}

/// The texts of all results in a request, oldest first.
fn result_texts(request: &Value) -> Vec<String> {
    tool_results(request).into_iter().map(|(_, text)| text).collect()
}

/// Asks for the part of whatever result was told last.
fn read_part(part: u32) -> Reply {
    Reply::computed(move |request| {
        let handle = handle(request);
        Reply::calls(vec![("read_result", json!({ "handle": handle, "part": part }))])
    })
}

fn handle(request: &Value) -> String {
    let text = request.to_string();
    let at = text.find("`result-").expect("a handle") + 1;
    text[at..at + 19].to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rest_of_a_long_note_is_read_by_its_handle_after_a_restart_too() {
    let home = home_with_key(&[("Log.md", &long_note())]);
    let script = vec![read(), Reply::text("Long."), read_part(4), Reply::text("Done.")];
    let model = ScriptedModel::start(script).await;
    let running = home.open(settings_with_model(&model)).await;
    let chat = running.send_and_wait(None, "Read the log.").await;
    running.quit().await;
    let running = home.open(settings_with_model(&model)).await;
    running.send_and_wait(Some(&chat), "And its end?").await;
    running.quit().await;

    let requests = model.requests();
    let first = &result_texts(&requests[1])[0];
    assert!(first.contains("Line 99 of the log") && !first.contains("Line 399"), "{first}");
    assert!(first.contains("part 1 of 4. In the rest:\n  part 4: ## The end\n"), "{first}");
    assert!(first.len() < 7_000, "{}", first.len());
    let again = &requests[3]["messages"][2]["content"][0]["content"];
    assert_eq!(again, first, "told again as it was");
    let rest = result_texts(&requests[3]).pop().expect("a result");
    assert!(rest.contains("Line 399") && rest.contains("last words"), "{rest}");
    assert!(rest.ends_with("[Part 4 of 4, the last.]"), "{rest}");
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handle_is_unknown_in_another_conversation() {
    let home = home_with_key(&[("Log.md", &long_note())]);
    let known = Reply::calls(vec![("read_result", json!({ "handle": "result-0", "part": 1 }))]);
    let script = vec![read(), Reply::text("Long."), known, Reply::text("No.")];
    let model = ScriptedModel::start(script).await;
    let running = home.open(settings_with_model(&model)).await;
    running.send_and_wait(None, "Read the log.").await;
    running.send_and_wait(None, "And its end?").await;
    let refused = result_texts(&model.requests()[3]).pop().expect("a result");
    assert!(refused.starts_with("No result of this conversation"), "{refused}");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_became_private_is_not_read_on() {
    let home = home_with_key(&[("Log.md", &long_note())]);
    let script = vec![read(), Reply::text("Long.")];
    let model = ScriptedModel::start(script).await;
    let running = home.open(settings_with_model(&model)).await;
    let chat = running.send_and_wait(None, "Read the log.").await;
    let handle = handle(&model.requests()[1]);
    model.finish();

    let on = Reply::calls(vec![("read_result", json!({ "handle": handle, "part": 4 }))]);
    let model = ScriptedModel::start(vec![on, Reply::text("Private.")]).await;
    let never = PrivateSettings { never: vec!["Log.md".into()], ..PrivateSettings::default() };
    let settings = Settings { private: never, ..settings_with_model(&model) };
    running.app.save_settings(settings).await.expect("saved");
    running.send_and_wait(Some(&chat), "And its end?").await;
    let told = result_texts(&model.requests()[1]).pop().expect("a result");
    assert!(!told.contains("last words"), "{told}");
    assert!(!model.request_bodies().concat().contains("Line 1 of the log"));
    running.quit().await;
    model.finish();
}
