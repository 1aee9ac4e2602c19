//! A review of many notes leaves room for the next messages, also in a small window.

use std::fmt::Write as _;

use protocol::{ConversationId, Mode, Settings};
use serde_json::{Value, json};

use super::{FakeLlamaServer, LlamaOptions, tool_call};
use crate::harness::test_app::{RunningApp, TestHome, turn_failure};

/// The notes that link to the one that moves.
const LINKING_NOTES: usize = 1_000;

/// Sends a message, which is answered; returns the text of the last request.
async fn answered_request(
    app: &RunningApp,
    llama: &FakeLlamaServer,
    conversation: &ConversationId,
) -> String {
    app.send_and_wait(Some(conversation), "How are the beans?").await;
    assert_eq!(turn_failure(&app.view(conversation).await), None);
    let chats = llama.chat_requests();
    let (sent, answered) = chats.last().expect("the model is asked");
    assert!(*answered, "it was too long");
    let mut texts = String::new();
    for message in sent["messages"].as_array().into_iter().flatten() {
        let text = message["content"].as_str().map(str::to_owned);
        let text = text.unwrap_or_else(|| message["content"].to_string());
        writeln!(texts, "{text}").expect("written");
    }
    texts
}

#[tokio::test(flavor = "multi_thread")]
async fn at_8192_messages_are_answered_while_a_large_move_waits_and_after_its_decision() {
    let linking: Vec<(String, String)> = (0..LINKING_NOTES)
        .map(|n| (format!("Projects/Vegetables/Note {n}.md"), "See [[Beans/Garden]].\n".to_owned()))
        .collect();
    let mut notes: Vec<(&str, &str)> =
        linking.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    notes.push(("Beans/Garden.md", "# Garden\n"));
    let home = TestHome::new(&notes);
    let plan = json!({ "source": "Beans/Garden.md", "destination": "Archive/Old garden.md" });
    let says: [Value; 2] = [tool_call("move_file", &plan), json!({ "content": "Planned." })];
    let llama = FakeLlamaServer::start(LlamaOptions::with_window(32_768), &says).await;
    let mode = Mode::Review;
    let running = home.open(Settings { mode, ..llama.settings() }).await;
    let conversation = running.send_and_wait(None, "Archive my garden note.").await;
    let waiting = running.pending_paths(&conversation).await;
    assert_eq!(waiting.len(), LINKING_NOTES + 1, "the control: they all wait");
    running.quit().await;

    let llama = FakeLlamaServer::start(LlamaOptions::with_window(8_192), &[]).await;
    let running = home.open(Settings { mode, ..llama.settings() }).await;
    let told = answered_request(&running, &llama, &conversation).await;
    let begins = "Changes still waiting for the user's review: Beans/Garden.md, ";
    let line = told.lines().find(|line| line.starts_with(begins));
    let line = line.unwrap_or_else(|| panic!("the note that the model moved is first: {told}"));
    assert!(line.ends_with(".md, and other notes") && line.len() < 3_200, "{line}");

    let all: Vec<&str> = waiting.iter().map(String::as_str).collect();
    running.decide(&conversation, &[], &all).await.expect("rejected");
    let told = answered_request(&running, &llama, &conversation).await;
    assert!(told.contains("the user rejected the changes to Beans/Garden.md, "), "{told}");
    assert!(told.contains(".md, and other notes; those notes are as they were."), "{told}");
    running.quit().await;
}
