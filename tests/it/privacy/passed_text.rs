//! Text that a program passes to `ask --json`: that of private notes is withheld.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::cli_ask::{NOTES, ask_json};
use crate::harness::test_app::TestHome;
use crate::settings::LAST_LINE;

#[tokio::test(flavor = "multi_thread")]
async fn text_that_a_program_passes_from_a_private_note_is_withheld() {
    for (note, is_sent) in [("Diary/Today.md", false), ("Harbour.md", true)] {
        let home = TestHome::new(&NOTES);
        home.notes.write("Diary/Today.md", "a canary-5c1e\n");
        home.data.write("config.toml", format!("[private]\nnever = [\"Diary/\"]\n{LAST_LINE}\n"));
        let model = ScriptedModel::start(vec![Reply::text("Well.")]).await;
        let sources = json!([format!("note:{note}")]);
        let input = json!({
            "message": "And now?",
            "context": { "selection": "canary-5c1e, selected" },
            "context_sources": sources,
            "history": [
                { "role": "user", "text": "I read canary-5c1e.", "sources": sources },
                { "role": "assistant", "text": "", "sources": sources, "calls": [{
                    "tool": "read_file",
                    "arguments": { "path": note },
                    "output": "a canary-5c1e",
                }] },
            ],
        });
        let (said, _) = ask_json(&home, &model, &input.to_string(), &[]).await;
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let sent = Value::from(model.requests()).to_string();
        assert_eq!(sent.matches("canary-5c1e").count(), if is_sent { 3 } else { 0 }, "{sent}");
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn text_that_a_program_passes_from_a_note_that_was_replaced_since_is_withheld() {
    const HOUR_MS: i64 = 60 * 60 * 1_000;
    let now = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
        i64::try_from(since.as_millis()).expect("in range")
    };
    let before: fn(i64) -> i64 = |now| now - HOUR_MS;
    let after: fn(i64) -> i64 = |now| now + HOUR_MS;
    // A message without a time says nothing of when the note was read.
    for (at, is_sent) in [(Some(before), false), (Some(after), true), (None, true)] {
        let home = TestHome::new(&NOTES);
        home.notes.write("Diary/Today.md", "nothing\n");
        home.data.write("config.toml", format!("[private]\nnever = [\"Diary/\"]\n{LAST_LINE}\n"));
        let (old, new) =
            (home.notes.root().join("Harbour.md"), home.notes.root().join("Diary/H.md"));
        fs::rename(&old, new).expect("moved");
        fs::write(&old, "another note\n").expect("written");
        let model = ScriptedModel::start(vec![Reply::text("Well.")]).await;
        let mut past = json!({
            "role": "assistant",
            "text": "It says canary-5c1e.",
            "sources": ["note:Harbour.md"],
            "calls": [{
                "tool": "read_file",
                "arguments": { "path": "Harbour.md" },
                "output": "a canary-5c1e",
            }],
        });
        if let Some(at) = at {
            past["at"] = json!(at(now()));
        }
        let input = json!({ "message": "And now?", "history": [past] });
        let (said, told) = ask_json(&home, &model, &input.to_string(), &[]).await;
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let sent = Value::from(model.requests()).to_string();
        assert_eq!(sent.matches("canary-5c1e").count(), if is_sent { 2 } else { 0 }, "{sent}");
        let at = told["history"][2]["at"].as_i64().expect("a time");
        assert!((now() - HOUR_MS..=now()).contains(&at), "{told}");
        model.finish();
    }
}
