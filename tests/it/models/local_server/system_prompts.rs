//! The whole system prompt as a model is sent it: every change of it shows in review.
//!
//! `INSTA_UPDATE=always cargo test --workspace --test it -- system_prompts` writes the files in `snapshots`.

use protocol::Settings;

use super::prompt_budget::request_in_hub_turn;
use super::{FakeLlamaServer, LlamaOptions, send_and_read_answer, system_prompt};
use crate::harness::test_app::TestHome;

const LARGE_WINDOW: u32 = 131_072;
const SMALL_WINDOW: u32 = 4_096;

const NOTES: [(&str, &str); 2] = [("Alpha.md", "one\n"), ("AGENTS.md", "Keep order.")];
const ORGANISATION: &str = "By year.";

/// The system prompt of a turn in the window.
async fn prompt_in_window(options: LlamaOptions) -> String {
    let home = TestHome::new(&NOTES);
    let llama = FakeLlamaServer::start(options, &[]).await;
    let settings = Settings { organisation: ORGANISATION.to_owned(), ..llama.settings() };
    let running = home.open(settings).await;
    assert_eq!(send_and_read_answer(&running, "What do I grow?").await, "Yes.");
    running.quit().await;
    let chats = llama.chat_requests();
    system_prompt(&chats[0].0).to_owned()
}

/// The system prompt of a turn of the hub whose message may answer a question.
async fn prompt_in_hub_turn(options: LlamaOptions) -> String {
    let sent = request_in_hub_turn(options, &NOTES, ORGANISATION).await;
    system_prompt(&sent).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn instructions_beside_declared_tools_are_exactly_these() {
    let large = LlamaOptions::with_window(LARGE_WINDOW);
    let small = LlamaOptions::with_window(SMALL_WINDOW);
    for (name, prompt) in [
        ("window", prompt_in_window(large).await),
        ("hub", prompt_in_hub_turn(large).await),
        ("small_window", prompt_in_window(small).await),
        ("small_hub", prompt_in_hub_turn(small).await),
    ] {
        insta::assert_snapshot!(name, prompt);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn instructions_that_describe_the_tools_in_text_are_exactly_these() {
    let large = LlamaOptions::without_tools(LARGE_WINDOW);
    let small = LlamaOptions::without_tools(SMALL_WINDOW);
    for (name, prompt) in [
        ("json_window", prompt_in_window(large).await),
        // With an open question all tools of the small set are told, each in one line.
        ("json_small_hub", prompt_in_hub_turn(small).await),
    ] {
        insta::assert_snapshot!(name, prompt);
    }
}
