//! Each request begins with the bytes of the one before, so that the provider's cache holds.

use protocol::Mode;
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{TestHome, home_with_key, settings_with_model, with_mode};

pub(crate) const CACHE_CONTROL: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// The part of a body that the next one shares: all of it but the closing brackets, without the
/// marks.
pub(crate) fn cacheable_prefix(body: &str) -> String {
    let bare = body.replace(CACHE_CONTROL, "");
    bare.strip_suffix("]}]}").expect("it ends with a message").to_owned()
}

fn home_with_long_notes() -> TestHome {
    let notes = [
        ("AGENTS.md", "Recipes live in `Recipes/`."),
        ("Recipes/Soup.md", "# Soup\n\nsalt\n"),
        ("Alpha.md", "one\ntwo\n"),
    ];
    home_with_key(&notes)
}

fn script() -> Vec<Reply> {
    let edit = json!({ "path": "Alpha.md", "edit": { "kind": "replace_text", "find": "two",
        "replace": "three" } });
    let ask = json!({ "message": "Which?", "is_question": true, "options": ["a", "b"] });
    vec![
        Reply::calls(vec![
            ("read_file", json!({ "path": "Recipes/Soup.md" })),
            ("find_notes", json!({ "query": "salt", "limit": 1.0 })),
        ]),
        Reply::text("Salt."),
        Reply::calls(vec![("read_file", json!({ "path": "Alpha.md" })), ("edit_file", edit)]),
        Reply::text("Planned.\n\n"),
        Reply::calls(vec![("send_message", ask)]),
        Reply::text("Then a."),
        Reply::text("You are welcome."),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn over_many_turns_and_a_restart_each_request_begins_as_the_one_before() {
    let (home, model) = (home_with_long_notes(), ScriptedModel::start(script()).await);
    let running = home.open(settings_with_model(&model)).await;
    let chat = running.send_and_wait(None, "What is in the soup?").await;
    running.send_and_wait(Some(&chat), "Change two to three in Alpha.").await;
    running.quit().await;

    let running = home.open(settings_with_model(&model)).await;
    if !running.pending_paths(&chat).await.is_empty() {
        running.decide(&chat, &["Alpha.md"], &[]).await.expect("applied");
    }
    running.send_and_wait(Some(&chat), "Ask me something.").await;
    let question = running.view(&chat).await.question.expect("it asks").id;
    running.send(Some(&chat), "a", Some(&question)).await.expect("taken");
    running.app.wait_until_idle(&chat).await.expect("idle");
    running.send_and_wait(Some(&chat), "Thanks!").await;
    running.quit().await;

    let bodies = model.request_bodies();
    assert_eq!(bodies.len(), 7);
    for (before, after) in bodies.iter().zip(bodies.iter().skip(1)) {
        let (before, after) = (cacheable_prefix(before), after.replace(CACHE_CONTROL, ""));
        assert!(after.starts_with(&before), "{before}\n\nis not how this begins:\n\n{after}");
    }
    for request in model.requests() {
        let marks = cache_breakpoints(&request);
        let messages = request["messages"].as_array().expect("messages").len();
        let expected = if messages == 1 { 3 } else { 4 };
        assert_eq!(marks.len(), expected, "{marks:?}");
        assert_eq!(*marks.last().expect("a mark"), format!("message {}", messages - 1));
    }
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_comparison_notices_a_prompt_that_changes() {
    let model = ScriptedModel::start(vec![Reply::text("one"), Reply::text("two")]).await;
    let home = home_with_long_notes();
    let running = home.open(settings_with_model(&model)).await;
    let chat = running.send_and_wait(None, "First").await;
    running
        .app
        .save_settings(with_mode(settings_with_model(&model), Mode::ReadOnly))
        .await
        .expect("saved");
    running.send_and_wait(Some(&chat), "Second").await;
    running.quit().await;
    let [before, after] = <[String; 2]>::try_from(model.request_bodies()).expect("two requests");
    assert!(!after.replace(CACHE_CONTROL, "").starts_with(&cacheable_prefix(&before)));
    model.finish();
}

/// Where the cache is told to end: `tools`, `system`, `message 4`.
fn cache_breakpoints(request: &serde_json::Value) -> Vec<String> {
    let marked = |list: &serde_json::Value| {
        let entries = list.as_array().cloned().unwrap_or_default();
        entries.iter().any(|entry| entry.get("cache_control").is_some())
    };
    let mut found = Vec::new();
    found.extend(marked(&request["tools"]).then(|| "tools".to_owned()));
    found.extend(marked(&request["system"]).then(|| "system".to_owned()));
    let messages = request["messages"].as_array().expect("messages");
    for (n, message) in messages.iter().enumerate() {
        found.extend(marked(&message["content"]).then(|| format!("message {n}")));
    }
    found
}
