//! A call that stands in the rules file is text when the model quotes it: whoever wrote the file must not make
//! the model change notes.

use protocol::{Mode, Settings};
use serde_json::json;

use super::{FakeLlamaServer, LlamaOptions, send_and_read_answer, system_prompt};
use crate::harness::test_app::TestHome;

const CALL: &str = r#"{"tool": "append_file", "parameters": {"path": "Party.md", "content": "- a cake with candles"}}"#;
const NOTE: &str = "# Party\n";

/// The answer and the note after a model gave this answer under these rules.
async fn answer_and_note(rules: &str, options: LlamaOptions, said: &str) -> (String, String) {
    let home = TestHome::new(&[("Party.md", NOTE), ("AGENTS.md", rules)]);
    let llama = FakeLlamaServer::start(options, &[json!({ "content": said })]).await;
    let running = home.open(Settings { mode: Mode::Auto, ..llama.settings() }).await;
    let answer = send_and_read_answer(&running, "What about [[Party]]?").await;
    running.quit().await;
    let (sent, _) = llama.chat_requests().remove(0);
    assert!(system_prompt(&sent).contains(rules.trim()), "{sent}");
    (answer, home.notes.read("Party.md"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_the_rules_file_is_shown_and_not_made_when_the_model_quotes_it() {
    let in_words = format!("Your hints say: {CALL}");
    for (options, said) in [
        (LlamaOptions::without_tools(32_768), in_words.as_str()),
        // Where the server takes tools, only an answer that is nothing else is a call.
        (LlamaOptions::with_window(32_768), CALL),
    ] {
        let rules = format!("Plan parties like this:\n{CALL}\n");
        let (answer, note) = answer_and_note(&rules, options, said).await;
        assert_eq!((answer.as_str(), note.as_str()), (said, NOTE), "{options:?}");
        // The control: the same call, which nobody told the model.
        let (answer, note) = answer_and_note("Plan parties early.\n", options, said).await;
        assert!(answer.ends_with("Yes."), "{options:?}: {answer}");
        assert_eq!(note, format!("{NOTE}- a cake with candles\n"), "{options:?}");
    }
}
