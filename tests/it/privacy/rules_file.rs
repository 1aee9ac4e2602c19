//! A rules file that only local models may see: answers that repeat it are private as it is.

use std::sync::atomic::{AtomicUsize, Ordering};

use protocol::settings::PrivateSettings;
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use super::model_switch::settings;
use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{home_with_key, settings_with_model, with_hub};

const CANARY: &str = "canary-9d20";
const ANSWER: &str = "The rules say canary-9d20.";

/// A text of the rules file, the rule for local models, and whether the file falls under it.
const CASES: [(&str, &str, bool); 3] = [
    ("Remember canary-9d20. #home\n", "#home", true),
    ("Remember canary-9d20.\n", "AGENTS", true),
    ("Remember canary-9d20.\n", "#home", false),
];

/// The messages that a cloud model gets after a local model repeated the rules file.
async fn told_after_switch(text: &str, rule: &str, restarts: bool) -> String {
    let home = home_with_key(&[("AGENTS.md", text), ("Open.md", "# Open\n")]);
    let model = ScriptedModel::start(vec![Reply::text(ANSWER), Reply::text("Well.")]).await;
    let mut running = home.open(settings(&model, &[rule], true)).await;
    let conversation = running.send_and_wait(None, "what are the rules?").await;
    let first = model.wait_for_request(1).await.to_string();
    assert!(first.contains(CANARY), "a local model gets it: {first}");
    let cloud = settings(&model, &[rule], false);
    if restarts {
        running.quit().await;
        running = home.open(cloud).await;
    } else {
        running.replace_settings(cloud).await;
    }
    running.send_and_wait(Some(&conversation), "go on").await;
    let told = model.wait_for_request(2).await["messages"].to_string();
    running.quit().await;
    model.finish();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_repeats_a_rules_file_for_local_models_is_withheld_from_others() {
    for (text, rule, is_private) in CASES {
        for restarts in [true, false] {
            let told = told_after_switch(text, rule, restarts).await;
            // Where the rule is about other notes, that is the control.
            assert_eq!(told.contains(ANSWER), !is_private, "{rule}: {told}");
            assert_eq!(told.contains(CANARY), !is_private, "{rule}: {told}");
            assert!(told.contains("what are the rules?"), "{rule}: {told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_the_hub_an_answer_after_a_rules_file_for_local_models_needs_approval() {
    for (text, rule, is_private) in CASES {
        let home = home_with_key(&[("AGENTS.md", text), ("inbox/Inbox.md", "- here\n")]);
        let added = json!({ "path": "inbox/Inbox.md", "content": "- eggs" });
        let calls = Reply::calls(vec![("append_file", added)]);
        let model = ScriptedModel::start(vec![calls, Reply::text(ANSWER)]).await;
        let hub = RawHub::bind().await;
        let running = home.open(with_hub(settings(&model, &[rule], true), &hub.url())).await;
        let mut line = hub.accept().await;
        line.deliver("m-1", "eggs").await;
        assert_eq!(line.next_response().await.kind, "ack");
        let said = line.next_response().await.payload["body"].as_str().map(str::to_owned);
        let held = "An answer needs your approval in Vaultmate.";
        assert_eq!(said.as_deref(), Some(if is_private { held } else { ANSWER }), "{rule}");
        running.quit().await;
        model.finish();
    }
}

/// Which of the two requests of a turn have the hints; while the first one is answered, the rules file gets this text, or
/// goes.
async fn requests_with_hints(later: Option<&'static str>) -> Vec<bool> {
    let home = home_with_key(&[("AGENTS.md", "Remember canary-9d20.\n"), ("Open.md", "# Open\n")]);
    let (step, file) = (AtomicUsize::new(0), home.notes.root().join("AGENTS.md"));
    let model = ScriptedModel::responder(move |_| match step.fetch_add(1, Ordering::SeqCst) {
        0 => {
            match later {
                Some(text) => std::fs::write(&file, text).expect("written"),
                None => std::fs::remove_file(&file).expect("removed"),
            }
            Reply::calls(vec![("read_file", json!({ "path": "Open.md" }))])
        }
        _ => Reply::text("Done."),
    })
    .await;
    let mut settings = settings_with_model(&model);
    settings.private = PrivateSettings { never: vec!["#home".to_owned()], ..Default::default() };
    let running = home.open(settings).await;
    let conversation = running.send_and_wait(None, "What is open?").await;
    let items = format!("{:?}", running.view(&conversation).await.items);
    assert!(items.contains("Done."), "it is answered all the same: {items}");
    running.quit().await;
    model.request_bodies().iter().map(|body| body.contains(CANARY)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rules_file_that_becomes_private_during_a_turn_is_in_no_later_request() {
    assert_eq!(requests_with_hints(Some("#home Remember canary-9d20.\n")).await, [true, false]);
    assert_eq!(requests_with_hints(None).await, [true, false]);
    // The control: an edit changes nothing for a turn that runs.
    assert_eq!(requests_with_hints(Some("Now forget it.\n")).await, [true, true]);
}

/// What the second turn of a conversation is sent of the first one, whose answer repeated the hints; between them the
/// rules file gets this text, or goes.
async fn told_after(later: Option<&str>) -> String {
    let home = home_with_key(&[("AGENTS.md", "Remember canary-9d20.\n")]);
    let model = ScriptedModel::start(vec![Reply::text(ANSWER), Reply::text("Well.")]).await;
    let mut settings = settings_with_model(&model);
    settings.private = PrivateSettings { never: vec!["#home".to_owned()], ..Default::default() };
    let running = home.open(settings).await;
    let conversation = running.send_and_wait(None, "what are the rules?").await;
    match later {
        Some(text) => home.notes.write("AGENTS.md", text),
        None => std::fs::remove_file(home.notes.root().join("AGENTS.md")).expect("removed"),
    }
    running.send_and_wait(Some(&conversation), "go on").await;
    let told = model.wait_for_request(2).await["messages"].to_string();
    running.quit().await;
    model.finish();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_repeats_hints_is_withheld_once_their_file_is_private() {
    let told = told_after(Some("#home Remember canary-9d20.\n")).await;
    assert!(!told.contains(CANARY) && told.contains("what are the rules?"), "{told}");
    // The control: hints that were edited or removed were open to the model.
    for later in [Some("Now forget it.\n"), None] {
        let told = told_after(later).await;
        assert!(told.contains(ANSWER), "{later:?}: {told}");
    }
}
