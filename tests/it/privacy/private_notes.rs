//! Private notes: neither a byte nor a name of one is in any request to a model.

use protocol::Settings;
use protocol::chat::conversation::ChatItem;
use protocol::notes::query::{PatternKind, TextSearch};
use protocol::settings::PrivateSettings;
use serde_json::{Map, Value, json};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, settings_without_model,
};
use crate::hub::inbox::change_database;
use crate::notes::queries::wait_for_vault_info;
use crate::settings::LAST_LINE;

/// Stands in every private note.
const CANARY: &str = "canary-a81c";
/// Stands in the name of every private note.
const CANARY_NAME: &str = "Kanarienvogel";
/// The name that the model asks for: near enough to be offered the real one.
const SIMILAR_NAME: &str = "Kanarienvogl";

const NOTES: [(&str, &str); 6] = [
    ("Diary/Kanarienvogel eins.md", "# Eins\n\ncanary-a81c, seen.\n"),
    ("Notes/Kanarienvogel zwei.md", "# Zwei\n\ncanary-a81c, seen. #private\n"),
    ("Kanarienvogel drei.md", "---\nstatus: secret\n---\ncanary-a81c, seen.\n"),
    ("Home/Kanarienvogel vier.md", "canary-a81c, seen.\n"),
    ("AGENTS.md", "canary-a81c #private\n"),
    ("Open.md", "# Open\n\nseen by anybody.\n"),
];

fn private_rules() -> PrivateSettings {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    PrivateSettings {
        never: owned(&["Diary/", "#private", "status: secret"]),
        local: owned(&["home"]),
        endpoint_is_local: false,
    }
}

/// A call of the tool with what its schema demands, every text being the near name.
fn call_with_similar_names(tool: &Value) -> (String, Value) {
    let schema = &tool["input_schema"];
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let value = |field: &Value| {
        let field = field.as_str().expect("a name");
        let kind = schema["properties"][field]["type"].as_str().unwrap_or("string").to_owned();
        let value = match kind.as_str() {
            "integer" | "number" => json!(1),
            "boolean" => json!(true),
            "array" => json!([]),
            _ => json!(SIMILAR_NAME),
        };
        (field.to_owned(), value)
    };
    let arguments: Map<String, Value> = required.iter().map(value).collect();
    (tool["name"].as_str().expect("a name").to_owned(), Value::Object(arguments))
}

/// Calls that look everywhere.
fn searching_calls() -> Vec<(&'static str, Value)> {
    vec![
        ("list_files", json!({ "pattern": "**/*", "max_results": 1000 })),
        ("list_files", json!({ "pattern": "*", "path": "Notes" })),
        ("search_files", json!({ "pattern": "seen", "max_results": 200 })),
        ("search_files", json!({ "pattern": ".", "file_pattern": "Notes/**" })),
        ("find_notes", json!({ "query": "seen canary", "limit": 50 })),
        ("find_notes", json!({ "query": SIMILAR_NAME })),
        ("read_file", json!({ "path": format!("Notes/{SIMILAR_NAME} zwei") })),
        ("read_file", json!({ "path": format!("{SIMILAR_NAME} drei.md") })),
        ("edit_file", json!({ "path": SIMILAR_NAME, "old_text": "seen", "new_text": "x" })),
        ("append_file", json!({ "path": SIMILAR_NAME, "content": "x", "heading": "Zwei" })),
        ("get_active_note", json!({})),
        ("get_conversation", json!({ "query": "seen" })),
        ("get_conversation", json!({})),
    ]
}

/// A model that first looks everywhere, then calls every tool it is offered, then ends.
async fn start_curious_model() -> ScriptedModel {
    let step = std::sync::atomic::AtomicUsize::new(0);
    ScriptedModel::responder(move |request| {
        match step.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 3 {
            0 => Reply::calls(searching_calls()),
            1 => {
                let tools = request["tools"].as_array().expect("tools");
                let talks = |name: &Value| name == "send_message" || name == "end_conversation";
                let looking = tools.iter().filter(|tool| !talks(&tool["name"]));
                let calls: Vec<_> = looking.map(call_with_similar_names).collect();
                let calls =
                    calls.iter().map(|(tool, arguments)| (tool.as_str(), arguments.clone()));
                Reply::calls(calls.collect())
            }
            _ => Reply::text("I looked."),
        }
    })
    .await
}

/// The user looks private notes up in the window, whatever the rules say.
async fn query_private_notes(app: &RunningApp) {
    wait_for_vault_info(app, "that the index stands", |vault| vault.indexing.is_none()).await;
    let named = app.app.find_names(CANARY_NAME).await.expect("it finds");
    assert_eq!(named.names.len(), 4, "{named:?}");
    let request = TextSearch {
        pattern: CANARY.to_owned(),
        meaning: PatternKind::Literal,
        case_sensitive: true,
    };
    let found = app.app.search_text(request).await.expect("it searches");
    assert_eq!((found.files, found.cut), (5, None), "{found:?}");
    let tags = app.app.list_tags("private").await.expect("it lists").expect("it stands");
    assert_eq!(tags.words.first().map(|tag| tag.notes), Some(2), "{tags:?}");
}

/// The user looks private notes up, finds them by commands, and then asks a model in the same
/// conversation and in a new one. Returns all that the model was sent.
async fn all_requests_text(private: PrivateSettings) -> String {
    let home = home_with_key(&NOTES);
    let model = start_curious_model().await;
    let by_hand = Settings { private: private.clone(), ..settings_without_model() };
    let running = home.open(by_hand.clone()).await;
    query_private_notes(&running).await;
    let conversation = running.send_and_wait(None, "find canary seen").await;
    for words in ["open Kanarienvogel drei", "list", "append Kanarienvogel zwei: more"] {
        running.send_and_wait(Some(&conversation), words).await;
    }
    let asked = Settings { private, ..settings_with_model(&model) };
    running.app.save_settings(asked).await.expect("saved");
    running.show("Kanarienvogel eins").await;
    running.send_and_wait(Some(&conversation), "look around").await;
    running.send_and_wait(None, "look around").await;
    let requests = serde_json::to_string(&model.requests()).expect("json");
    running.quit().await;
    requests
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_to_a_model_holds_a_byte_or_a_name_of_a_private_note() {
    let requests = all_requests_text(private_rules()).await;
    // The user's own text is the user's to send.
    let told =
        requests.replace("open Kanarienvogel drei", "").replace("append Kanarienvogel zwei", "");
    for canary in [CANARY, CANARY_NAME] {
        let at = told.find(canary).map(|at| {
            let from = told.floor_char_boundary(at.saturating_sub(300));
            told.get(from..told.floor_char_boundary(at + 200)).unwrap_or_default().to_owned()
        });
        assert_eq!(at, None, "{canary} was sent");
    }
    assert!(told.contains("seen by anybody"), "what is open is found all the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_rules_the_same_story_tells_everything() {
    let requests = all_requests_text(PrivateSettings::default()).await;
    assert!(requests.contains(CANARY) && requests.contains("Diary/Kanarienvogel eins.md"));
}

#[tokio::test(flavor = "multi_thread")]
async fn local_notes_are_for_a_loopback_address_that_the_user_marked_and_for_no_other() {
    // Ollama answers at a loopback address for models that its maker runs, which it names so.
    let cloud = Some("gpt-oss:120b-cloud");
    for (marked, name, expected) in [
        (true, None, true),
        (true, Some("gpt-oss:120b"), true),
        (false, None, false),
        (true, cloud, false),
        (true, Some("kimi-k2:cloud"), false),
    ] {
        let home = home_with_key(&NOTES);
        let model = start_curious_model().await;
        let private = PrivateSettings { endpoint_is_local: marked, ..private_rules() };
        let mut settings = Settings { private, ..settings_with_model(&model) };
        if let Some(name) = name {
            name.clone_into(&mut settings.model);
        }
        let running = home.open(settings).await;
        running.send_and_wait(None, "look around").await;
        let requests = serde_json::to_string(&model.requests()).expect("json");
        assert_eq!(requests.contains("Kanarienvogel vier"), expected, "marked: {marked}, {name:?}");
        for never in ["Kanarienvogel eins", "Kanarienvogel zwei", "Kanarienvogel drei"] {
            assert!(!requests.contains(never), "{never}");
        }
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_made_under_a_private_name_and_the_refusal_says_only_what_was_asked() {
    let home = home_with_key(&NOTES);
    let call =
        |path: &str| ("write_file", json!({ "path": path, "content": "x", "overwrite": true }));
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![call("diary/New.md"), call("notes/kanarienvogel ZWEI.md")]),
        Reply::text("I cannot."),
    ])
    .await;
    let before = home.notes.snapshot();
    let running =
        home.open(Settings { private: private_rules(), ..settings_with_model(&model) }).await;
    running.send_and_wait(None, "write").await;
    let told = serde_json::to_string(&model.requests()).expect("json");
    assert!(told.contains("The user keeps `diary/New.md` private"), "{told}");
    assert!(told.contains("The user keeps `notes/kanarienvogel ZWEI.md` private"), "{told}");
    assert!(!told.contains(CANARY_NAME));
    assert_eq!(home.notes.snapshot(), before);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_that_cannot_be_understood_are_refused_and_in_the_file_keep_everything() {
    let home = home_with_key(&NOTES);
    let running = home.open(settings_without_model()).await;
    let never = vec!["../elsewhere".to_owned()];
    let wrong = PrivateSettings { never, ..PrivateSettings::default() };
    let settings = Settings { private: wrong, ..settings_without_model() };
    let refused = running.app.save_settings(settings).await.expect_err("refused");
    assert!(refused.message.contains("“../elsewhere” isn’t a"), "{refused}");
    running.quit().await;

    let model = start_curious_model().await;
    let told =
        request_with_settings_file(&home, &model, "[private]\nnever = [\"../elsewhere\"]\n").await;
    assert_eq!(told, "[]", "no model is asked");
    let model = start_curious_model().await;
    let told = request_with_settings_file(&home, &model, "").await;
    assert!(told.contains("seen by anybody"), "the control: without rules it is found");
}

/// The request to a model when the file of settings ends like this.
async fn request_with_settings_file(
    test_home: &TestHome,
    model: &ScriptedModel,
    end: &str,
) -> String {
    let url = model.base_url();
    let end = format!("{end}{LAST_LINE}\n");
    test_home
        .data
        .write("config.toml", format!("provider = \"anthropic\"\nbaseUrl = \"{url}\"\n{end}"));
    let running = test_home.start_with_stored_settings().await;
    running.app.open_vault(test_home.notes.root()).await.expect("it opens");
    running.send_and_wait(None, "look around").await;
    running.quit().await;
    serde_json::to_string(&model.requests()).expect("json")
}

/// The request to a model after an answer was made from a selection, the note of which is under
/// this rule from then on.
async fn request_after_selection(never: &[&str]) -> String {
    let home = home_with_key(&[("Ann.md", "She said canary-a81c.\n"), ("Open.md", "# Open\n")]);
    let model =
        ScriptedModel::start(vec![Reply::text("In short: canary-a81c."), Reply::text("Well.")])
            .await;
    let running = home.open(settings_with_model(&model)).await;
    running.show("Ann").await;
    running.select("Ann.md", "She said canary-a81c.", None).await;
    let conversation = running.send_and_wait(None, "put that shorter").await;
    running.app.close_note().await.expect("closed");
    running.exclude_note();
    let never = never.iter().map(|rule| (*rule).to_owned()).collect();
    let private = PrivateSettings { never, ..PrivateSettings::default() };
    running
        .app
        .save_settings(Settings { private, ..settings_with_model(&model) })
        .await
        .expect("saved");
    running.send_and_wait(Some(&conversation), "and now?").await;
    let told = model.wait_for_request(2).await["messages"].to_string();
    running.quit().await;
    model.finish();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_made_from_a_selection_is_withheld_once_the_note_is_private() {
    let told = request_after_selection(&["Ann"]).await;
    assert!(!told.contains(CANARY) && told.contains("This answer is withheld"), "{told}");
    assert!(request_after_selection(&[]).await.contains("In short: canary-a81c."), "the control");
}

/// The result of reading a note whose pending text falls under this rule.
async fn read_pending_text(never: &[&str]) -> String {
    let home = home_with_key(&[("Plan.md", "# Plan\n"), ("Open.md", "# Open\n")]);
    let text = json!({ "path": "Plan.md", "content": "canary-a81c #later\n", "overwrite": true });
    let look = json!({ "path": "Plan.md" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", look.clone())]),
        Reply::calls(vec![("write_file", text)]),
        Reply::text("Done."),
        Reply::calls(vec![("read_file", look)]),
        Reply::text("Well."),
    ])
    .await;
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "plan").await;
    assert_eq!(home.notes.read("Plan.md"), "# Plan\n", "it is pending");
    let never = never.iter().map(|rule| (*rule).to_owned()).collect();
    let private = PrivateSettings { never, ..PrivateSettings::default() };
    running
        .app
        .save_settings(Settings { private, ..settings_with_model(&model) })
        .await
        .expect("saved");
    running.send_and_wait(Some(&conversation), "what does it say?").await;
    let request = model.wait_for_request(5).await;
    let told = request["messages"].as_array().and_then(|all| all.last()).map(Value::to_string);
    running.quit().await;
    model.finish();
    told.expect("a result")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_text_that_would_make_its_note_private_is_not_read_to_a_model() {
    let told = read_pending_text(&["#later"]).await;
    assert!(told.contains("tool_result") && !told.contains(CANARY), "{told}");
    assert!(read_pending_text(&[]).await.contains(CANARY), "the control");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_copy_of_a_note_that_is_private_by_name_is_not_there_for_a_model() {
    let copies = [
        "Plan (Ann's conflicted copy 2026-01-02).md",
        "Plan.sync-conflict-20260102-030405-ABCDEFG.md",
        "Plan_conflict-20260102-030405.md",
        "Plan (In Konflikt stehende Kopie von Ann 2026-01-02).md",
        "Plan (SFConflict ann@x 2026-01-02-03-04-05).md",
        "Plan.md.bak~",
        "Plan.md.~1~",
        "#Plan.md#",
        "Plan.bak.md",
        "Plan_LOCAL_1.md",
    ];
    for (never, is_told) in [(vec!["Plan".to_owned()], false), (Vec::new(), true)] {
        let notes: Vec<_> = copies.iter().map(|copy| (*copy, "canary-a81c\n")).collect();
        let home = home_with_key(&notes);
        let mut calls = vec![("list_files", json!({}))];
        calls.extend(copies.iter().map(|copy| ("read_file", json!({ "path": copy }))));
        let model = ScriptedModel::start(vec![Reply::calls(calls), Reply::text("Well.")]).await;
        let private = PrivateSettings { never, ..PrivateSettings::default() };
        let running = home.open(Settings { private, ..settings_with_model(&model) }).await;
        running.send_and_wait(None, "look around").await;
        let told = model.wait_for_request(2).await["messages"].to_string();
        assert_eq!(told.contains(CANARY), is_told, "{told}");
        let all = format!("{} entries match", copies.len());
        assert_eq!(told.contains(&all), is_told, "{told}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_text_is_not_read_to_a_model_under_the_name_of_another_file() {
    let names = ["Plan.txt", "Plan.markdown", "Plan.json", "Plan.patch", "#Plan.md#"];
    for (never, is_told) in [(vec!["#private".to_owned()], false), (Vec::new(), true)] {
        let files: Vec<_> = names.iter().map(|name| (*name, "canary-a81c #private\n")).collect();
        let home = home_with_key(&files);
        let calls = names.iter().map(|name| ("read_file", json!({ "path": name })));
        let replies = vec![Reply::calls(calls.collect()), Reply::text("Well.")];
        let model = ScriptedModel::start(replies).await;
        let private = PrivateSettings { never, ..PrivateSettings::default() };
        let running = home.open(Settings { private, ..settings_with_model(&model) }).await;
        running.send_and_wait(None, "look around").await;
        let told = model.wait_for_request(2).await["messages"].to_string();
        let read = told.matches(CANARY).count();
        assert!(if is_told { read >= names.len() } else { read == 0 }, "{told}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_result_of_an_interrupted_move_names_no_private_note_that_links_to_the_moved_one() {
    const PRIVATE: &str = "Diary/Kanarienvogel.md";
    let home = home_with_key(&[("Garden.md", "# Garden\n"), (PRIVATE, "[[Garden]]\n")]);
    let moves = json!({ "source": "Garden.md", "destination": "Archive/Plot.md" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("move_file", moves)]),
        Reply::text("It waits."),
        Reply::text("Well."),
    ])
    .await;
    let private = PrivateSettings { never: vec!["Diary/".to_owned()], ..Default::default() };
    let settings = Settings { private, ..settings_with_model(&model) };
    let running = home.open(settings.clone()).await;
    let conversation = running.send_and_wait(None, "archive it").await;
    running.decide(&conversation, &["Garden.md", PRIVATE], &[]).await.expect("applied");
    running.quit().await;
    assert!(home.notes.read(PRIVATE).contains("Plot"), "the control: it was changed as well");

    // As if the program had ended after the change, before the result and its sources were stored.
    for lost in [
        "UPDATE tool_call SET output = NULL",
        "UPDATE turn SET status = 'running', ended_at = NULL",
        "DELETE FROM source",
    ] {
        change_database(&home, lost.to_owned()).await;
    }
    let running = home.open(settings).await;
    let stored = running.view(&conversation).await.items.into_iter().find_map(|item| match item {
        ChatItem::Tool { output, .. } => output,
        _ => None,
    });
    let named = "The program was interrupted; move_file had changed Garden.md.";
    assert_eq!(stored.as_deref(), Some(named));
    running.send_and_wait(Some(&conversation), "and now?").await;
    let told = model.requests().last().map(Value::to_string).expect("a request");
    assert!(told.contains(named) && !told.contains(CANARY_NAME), "{told}");
    running.quit().await;
    model.finish();
}
