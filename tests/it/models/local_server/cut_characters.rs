//! Characters beyond U+FFFF that a server cuts in two between the chunks of a stream: they reach the note whole,
//! or the note stays as it is.

use app::TimeScale;
use serde_json::{Value, json};

use super::{FakeLlamaServer, LlamaOptions};
use crate::harness::test_app::{TestHome, turn_failure};

const NOTE: &str = "# Party\n";

/// A stream that cannot be read is asked for again, so many times in all.
const ATTEMPTS: usize = 3;

/// A stream of one call of `append_file`; each piece of its arguments is spelled as JSON spells it.
fn append_stream(pieces: &[&str]) -> Value {
    let mut stream = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        let name = if at == 0 { r#""name":"append_file","# } else { "" };
        let id = if at == 0 { r#""id":"c1","type":"function","# } else { "" };
        let call = format!(r#"{{"index":0,{id}"function":{{{name}"arguments":"{piece}"}}}}"#);
        let choice =
            format!(r#"{{"index":0,"delta":{{"tool_calls":[{call}]}},"finish_reason":null}}"#);
        stream.push_str(&format!("data: {{\"choices\":[{choice}]}}\n\n"));
    }
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] });
    stream.push_str(&format!("data: {end}\n\ndata: [DONE]\n\n"));
    Value::String(stream)
}

/// The note and the failure after a model streamed this call so many times.
async fn note_and_failure(pieces: &[&str], times: usize) -> (String, Option<String>) {
    let home = TestHome::new(&[("Party.md", NOTE)]);
    let says = vec![append_stream(pieces); times];
    let llama = FakeLlamaServer::start(LlamaOptions::with_window(32_768), &says).await;
    let running = home.open_with_time_scale(llama.settings(), TimeScale::divided_by(20)).await;
    let conversation = running.send_and_wait(None, "Add the cake to [[Party]].").await;
    let failure = turn_failure(&running.view(&conversation).await).map(|error| error.message);
    running.quit().await;
    (home.notes.read("Party.md"), failure)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_character_that_is_cut_between_chunks_reaches_the_note_whole() {
    let start = r#"{\"path\":\"Party.md\",\"content\":\"cake "#;
    let (first, last) = (format!(r"{start}\ud83c"), r#"\udd73!\"}"#);
    let pieces = [first.as_str(), r"\udf82 for Mia \ud83e", last];
    let (note, failure) = note_and_failure(&pieces, 1).await;
    assert_eq!((note, failure), (format!("{NOTE}cake 🎂 for Mia 🥳!\n"), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn half_a_character_leaves_the_note_as_it_is_and_the_failure_is_told() {
    for half in [r"\ud83c", r"\udf82"] {
        let call = format!(r#"{{\"path\":\"Party.md\",\"content\":\"cake {half} for Mia\"}}"#);
        let (note, failure) = note_and_failure(&[&call], ATTEMPTS).await;
        assert_eq!(note, NOTE, "{half}");
        let failure = failure.unwrap_or_else(|| panic!("{half}: no failure"));
        assert!(failure.contains("can’t be read"), "{failure}");
    }
    // The control: the same call with the whole character.
    let call = r#"{\"path\":\"Party.md\",\"content\":\"cake \ud83c\udf82 for Mia\"}"#;
    let (note, failure) = note_and_failure(&[call], 1).await;
    assert_eq!((note, failure), (format!("{NOTE}cake 🎂 for Mia\n"), None));
}
