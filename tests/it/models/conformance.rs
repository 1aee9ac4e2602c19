//! The wires as the providers themselves describe them: our requests are what their types take, and
//! a server that nobody here wrote takes turns with us.
//!
//! `./dev test` holds the bodies of all tests against the types; here it is those of one story.

use protocol::chat::conversation::ChatItem;
use protocol::chat::model::{Effort, ModelParameters};
use protocol::{ProviderKind, Settings};
use serde_json::json;
use tempfile::TempDir;
use testkit::conformance::{ConformanceReport, ThirdPartyServer, check_bodies, node_modules};

use crate::harness::test_app::TestHome;

const MODEL: &str = "model";

fn settings(provider: ProviderKind, server: &ThirdPartyServer) -> Settings {
    let set = ModelParameters {
        model: MODEL.into(),
        temperature: Some(0.5),
        top_p: Some(0.9),
        effort: Some(Effort::Low),
        ..ModelParameters::default()
    };
    let (base_url, model) = (server.url.clone(), MODEL.into());
    Settings { provider, base_url, model, parameters: vec![set], ..Settings::default() }
}

/// Two notes are read at once, a line is added to one, and the model says so; then it is thanked.
async fn run_story(provider: ProviderKind, server: &ThirdPartyServer) {
    let home = TestHome::new(&[("Alpha.md", "one\n"), ("Beta.md", "two\n")]).with_key("sk-test");
    home.data.write("key.openai", "sk-test");
    let running = home.open(settings(provider, server)).await;
    let chat = running.send_and_wait(None, "Please look at both notes.").await;
    running.send_and_wait(Some(&chat), "Thanks!").await;
    let view = running.view(&chat).await;
    running.quit().await;
    let mut calls = Vec::new();
    let mut words = Vec::new();
    for item in &view.items {
        match item {
            ChatItem::Tool { tool, is_error: false, .. } => calls.push(tool.as_str()),
            ChatItem::Assistant { text, cut: false, .. } => words.push(text.as_str()),
            ChatItem::User { .. } => {}
            other => panic!("{provider:?}: {other:?}"),
        }
    }
    assert_eq!(calls, ["read_file", "read_file", "append_file"], "{provider:?}");
    let said = ["One line is missing.", "Now it is there: ö ✓", "You are welcome."];
    assert_eq!(words, said, "{provider:?}");
    let alpha = home.notes.snapshot().remove("Alpha.md").expect("the note");
    assert!(alpha.ends_with(b"four\n") || alpha.ends_with(b"four"), "{provider:?}: {alpha:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_run_on_a_third_party_server_with_bodies_that_the_providers_types_accept() {
    let modules = match node_modules() {
        Ok(modules) => modules,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let bodies = TempDir::new().expect("a folder");
    let server = ThirdPartyServer::start(modules, bodies.path()).await;
    for provider in [ProviderKind::Anthropic, ProviderKind::OpenAi, ProviderKind::Ollama] {
        run_story(provider, &server).await;
    }
    let ConformanceReport { holds, output } = check_bodies(modules, bodies.path());
    assert!(
        holds && output.contains("bodies=12 refused=0") && output.contains("blind=0"),
        "{output}"
    );
}

#[test]
fn a_body_with_something_in_it_that_the_wire_does_not_have_is_refused() {
    let modules = match node_modules() {
        Ok(modules) => modules,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let result = json!({ "type": "tool_result", "tool_use_id": "1", "content": "x", "name": "y" });
    let body = json!({ "model": "m", "max_tokens": 1, "stream": true,
        "messages": [{ "role": "user", "content": [result] }] });
    let bodies = TempDir::new().expect("a folder");
    let file = bodies.path().join("anthropic-1.json");
    std::fs::write(file, body.to_string()).expect("the body is written");
    let ConformanceReport { holds, output: said } = check_bodies(modules, bodies.path());
    assert!(!holds && said.contains("\"name\"") && said.contains(" refused=1 "), "{said}");
}
