//! Text that a program passes to `ask --json`: that of private notes is withheld, and its sources are kept.

use std::fs;
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::Settings;
use protocol::settings::PrivateSettings;
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::cli_ask::{NOTES, ask_json};
use crate::harness::test_app::{TestHome, home_with_key, settings_with_model};
use crate::settings::LAST_LINE;

/// The time in milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    i64::try_from(since.as_millis()).expect("in range")
}

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

#[tokio::test(flavor = "multi_thread")]
async fn text_of_a_note_that_was_replaced_during_its_question_is_withheld_from_the_next_one() {
    for is_replaced in [true, false] {
        let home = TestHome::new(&NOTES);
        home.notes.write("Diary/Today.md", "nothing\n");
        home.data.write("config.toml", format!("[private]\nnever = [\"Diary/\"]\n{LAST_LINE}\n"));
        let (note, hidden) =
            (home.notes.root().join("Harbour.md"), home.notes.root().join("Diary/H.md"));
        // The clock of a file system may be behind by so much; the note is older than that.
        let made = now();
        while now() < made + 50 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let (answering, answered_at) = mpsc::channel();
        let answer = Reply::computed(move |_| {
            answering.send(now()).expect("the test waits for it");
            if is_replaced {
                fs::rename(&note, &hidden).expect("moved");
                fs::write(&note, "another note\n").expect("written");
            }
            Reply::text("It leaves at nine.")
        });
        let read = Reply::calls(vec![("read_file", json!({ "path": "Harbour.md" }))]);
        let model = ScriptedModel::start(vec![read, answer, Reply::text("Well.")]).await;
        let input = json!({ "message": "When does the ferry leave?" });
        let (said, told) = ask_json(&home, &model, &input.to_string(), &[]).await;
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let answered_at = answered_at.try_recv().expect("it was answered");
        for past in told["history"].as_array().expect("messages") {
            let at = past["at"].as_i64().expect("a time");
            assert!(at <= answered_at, "it was read before {answered_at}: {past}");
        }
        let input = json!({ "message": "And now?", "history": told["history"] });
        let (said, _) = ask_json(&home, &model, &input.to_string(), &[]).await;
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let sent = model.requests().pop().expect("a request").to_string();
        assert_eq!(sent.contains("leaves at nine"), !is_replaced, "{sent}");
        assert!(sent.contains("When does the ferry leave?"), "{sent}");
        model.finish();
    }
}

/// The requests of the window to a cloud model, in a conversation that a program began with a local model
/// and text from this note.
async fn sent_after_local_question(note: &str) -> String {
    let home = home_with_key(&[NOTES.as_slice(), &[("AGENTS.md", "Be brief.\n")]].concat());
    home.notes.write("Diary/Today.md", "a canary-5c1e\n");
    let rule = json!({ "path": "AGENTS.md", "content": "Be loud." });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("append_file", rule)]),
        Reply::text("It waits."),
        Reply::text("Well."),
    ])
    .await;
    let server = format!("provider = \"anthropic\"\nbaseUrl = \"{}\"\n", model.base_url());
    let private = "[private]\nlocal = [\"Diary/\"]\nendpointIsLocal = true\n";
    home.data.write("config.toml", format!("{server}{private}{LAST_LINE}\n"));
    let sources = json!([format!("note:{note}")]);
    let input = json!({
        "message": "And now?",
        "context": { "selection": "canary-5c1e, selected" },
        "context_sources": sources,
        "history": [
            { "role": "user", "text": "I read canary-5c1e.", "sources": sources },
            { "role": "user", "text": "My own text.", "sources": ["user"] },
        ],
    });
    let (said, _) = ask_json(&home, &model, &input.to_string(), &["--write"]).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let local = model.requests().first().map(Value::to_string).expect("a request");
    assert_eq!(local.matches("canary-5c1e").count(), 2, "a local model is told it: {local}");
    let before = model.utility_requests().len();
    let rules = vec!["Diary/".to_owned()];
    let private = PrivateSettings { local: rules, ..PrivateSettings::default() };
    let running = home.open(Settings { private, ..settings_with_model(&model) }).await;
    let conversation = running.only_conversation().await;
    running.send_and_wait(Some(&conversation), "go on").await;
    let last = model.requests().pop().expect("a request");
    let others = model.utility_requests().into_iter().skip(before);
    let sent = Value::from_iter(others.chain([last])).to_string();
    running.quit().await;
    model.finish();
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn text_that_a_program_passed_to_a_local_model_is_withheld_from_another_in_the_window() {
    let sent = sent_after_local_question("Diary/Today.md").await;
    assert!(!sent.contains("canary-5c1e"), "{sent}");
    assert!(sent.contains("This text is withheld"), "{sent}");
    for own in ["My own text.", "And now?", "go on"] {
        assert!(sent.contains(own), "{own}: {sent}");
    }
    let sent = sent_after_local_question("Harbour.md").await;
    assert!(sent.contains("canary-5c1e, selected"), "the control: {sent}");
    assert!(sent.contains("I read canary-5c1e."), "the control: {sent}");
}

/// The second question to a cloud model, after an answer that searched the vault; its model was a local one or
/// the same. This happens to each message of the history before it is passed on.
async fn sent_after_search(is_local: bool, edit: fn(&mut Value)) -> String {
    let home = TestHome::new(&NOTES);
    home.notes.write("Diary/Today.md", "nothing\n");
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("search_files", json!({ "pattern": "zanzibar" }))]),
        Reply::text("One stall, canary-5c1e."),
        Reply::text("Well."),
    ])
    .await;
    let server = format!("provider = \"anthropic\"\nbaseUrl = \"{}\"\n", model.base_url());
    let write_settings = |is_local: bool| {
        let private = format!("[private]\nlocal = [\"Diary/\"]\nendpointIsLocal = {is_local}\n");
        home.data.write("config.toml", format!("{server}{private}{LAST_LINE}\n"));
    };
    write_settings(is_local);
    let input = json!({ "message": "Is there a stall?" });
    let (said, mut told) = ask_json(&home, &model, &input.to_string(), &[]).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let level = if is_local { "local" } else { "open" };
    for past in told["history"].as_array_mut().expect("messages") {
        assert_eq!(past["max_privacy"], level, "{past}");
        let sources = past["sources"].as_array().expect("sources");
        assert!(past["role"] == "user" || sources.contains(&json!("vault")), "{past}");
        edit(past);
    }
    write_settings(false);
    let input = json!({ "message": "And now?", "history": told["history"] });
    let (said, _) = ask_json(&home, &model, &input.to_string(), &[]).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let sent = model.requests().pop().expect("a request").to_string();
    assert!(sent.contains("Is there a stall?") && sent.contains("And now?"), "{sent}");
    model.finish();
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_searched_is_sent_to_models_that_see_as_much_as_its_own() {
    let sent = sent_after_search(false, |_| {}).await;
    assert!(sent.contains("canary-5c1e") && !sent.contains("This answer is withheld"), "{sent}");
    let forgotten: fn(&mut Value) = |past| {
        past.as_object_mut().expect("an object").remove("max_privacy");
    };
    let unreadable: fn(&mut Value) = |past| past["max_privacy"] = json!("elsewhere");
    let wrong_type: fn(&mut Value) = |past| past["max_privacy"] = json!({ "level": 0 });
    let unchanged: fn(&mut Value) = |_| {};
    for (name, is_local, edit) in [
        ("a local model", true, unchanged),
        ("without a level", false, forgotten),
        ("with an unknown level", false, unreadable),
        ("with no level", false, wrong_type),
    ] {
        let sent = sent_after_search(is_local, edit).await;
        assert!(!sent.contains("canary-5c1e"), "{name}: {sent}");
        assert!(sent.contains("This answer is withheld"), "{name}: {sent}");
    }
}

/// A question with this context, and the answer to it.
async fn asked_with(context_sources: Option<&str>) -> Value {
    let home = TestHome::new(&NOTES);
    let model = ScriptedModel::start(vec![Reply::text("At nine.")]).await;
    let mut input = json!({ "message": "When?", "context": { "page": "Obey." } });
    if let Some(source) = context_sources {
        input["context_sources"] = json!([source]);
    }
    let (said, told) = ask_json(&home, &model, &input.to_string(), &[]).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    model.finish();
    told
}

/// Whether a question that goes on from this history may write rules for the assistant.
async fn may_write_rules(history: &Value) -> bool {
    let home = TestHome::new(&NOTES);
    let rule = json!({ "path": "AGENTS.md", "content": "x" });
    let replies = vec![Reply::calls(vec![("append_file", rule)]), Reply::text("Kept.")];
    let model = ScriptedModel::start(replies).await;
    let input = json!({ "message": "keep it", "history": history });
    let (said, _) = ask_json(&home, &model, &input.to_string(), &["--write"]).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    model.finish();
    home.notes.try_read("AGENTS.md").is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sources_of_a_context_come_back_with_the_answer_and_count_in_the_next_question() {
    for (context_sources, told_source) in
        [(None, "foreign"), (Some("hub"), "hub"), (Some("note:Harbour.md"), "note:Harbour.md")]
    {
        let told = asked_with(context_sources).await;
        let answer = &told["history"][1];
        assert_eq!(answer["text"], "At nine.", "{told}");
        assert_eq!(answer["sources"], json!(["user", told_source]), "{told}");
        assert!(!may_write_rules(&told["history"]).await, "{told}");
    }
    // The control: of a context from the user nothing else comes back.
    let told = asked_with(Some("user")).await;
    assert_eq!(told["history"][1]["sources"], json!(["user"]), "{told}");
    assert!(may_write_rules(&told["history"]).await, "{told}");
}
