//! One question from the command line: streamed, and written only when told to.

mod full_disk;
mod json_output;
mod limits;
mod local_model;
mod model_wait;
mod private_note;

use std::process::Stdio;
use std::time::Duration;

use protocol::ErrorCode;
use serde_json::{Value, json};
use testkit::scripted_model::{KEY, tool_results};
use testkit::{Gate, Reply, ScriptedModel};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

use crate::harness::test_app::{
    CliOutput, TEST_TIMEOUT, TestHome, run_command, settings_without_model,
};
use crate::settings::LAST_LINE;

pub(crate) const NOTES: [(&str, &str); 3] = [
    ("Groceries.md", "# Groceries\n\n- [ ] milk\n"),
    ("Harbour.md", "# Harbour\n\nThe ferry leaves at nine.\nBring a coat.\n"),
    ("Trips/Island.md", "# Island\n\n## Food\n\nThe zanzibar stall is open till ten.\n"),
];

const DIFF: &str = "\
--- a/Harbour.md
+++ b/Harbour.md
@@ -1,4 +1,4 @@
 # Harbour
\u{20}
-The ferry leaves at nine.
+The ferry leaves at ten.
 Bring a coat.
";

/// A model that searches, reads, edits and reports it; its last text waits at the gate.
async fn start_editing_model(gate: &Gate) -> ScriptedModel {
    let edit = json!({ "path": "Harbour.md", "old_text": "at nine", "new_text": "at ten" });
    ScriptedModel::start(vec![
        Reply::text_and_calls("I look.", vec![("search_files", json!({ "pattern": "ferry" }))]),
        Reply::calls(vec![("read_file", json!({ "path": "Harbour.md" }))]),
        Reply::calls(vec![("edit_file", edit)]),
        Reply::text("The ferry now leaves at ten.").gated(gate),
    ])
    .await
}

/// `ask` with this model.
pub(crate) fn ask_command(test_home: &TestHome, model: &ScriptedModel, words: &[&str]) -> Command {
    let vault = test_home.notes.root().to_str().expect("a path in UTF-8");
    let mut command = test_home.cli_command(&[&["ask", "--vault", vault], words].concat());
    command.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", model.base_url());
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_streams_and_its_change_is_a_diff_that_nothing_was_written_of() {
    let (home, gate) = (TestHome::new(&NOTES), Gate::closed());
    let (before, model) = (home.notes.snapshot(), start_editing_model(&gate).await);
    let mut command = ask_command(&home, &model, &["The ferry leaves at ten now"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut out = String::new();
    // The first words are there before the model has finished.
    tokio::time::timeout(TEST_TIMEOUT, async {
        output.read_line(&mut out).await.expect("a line");
        let mut first = vec![0; "The ferry no".len()];
        output.read_exact(&mut first).await.expect("the first words");
        out.push_str(&String::from_utf8(first).expect("UTF-8"));
    })
    .await
    .expect("the answer streams");
    assert_eq!(out, "I look.\nThe ferry no");
    gate.open();
    output.read_to_string(&mut out).await.expect("the rest");
    let ended = child.wait_with_output().await.expect("it ends");

    assert_eq!(out, format!("I look.\nThe ferry now leaves at ten.\n\n{DIFF}"));
    let err = String::from_utf8(ended.stderr).expect("UTF-8");
    assert!(err.ends_with("No changes made. Run again with --write to apply them.\n"), "{err}");
    assert_eq!(ended.status.code(), Some(0), "{err}");
    assert_eq!(home.notes.snapshot(), before);

    let result = |number: usize| tool_results(&model.requests()[number]).remove(0).1;
    assert!(result(1).contains("The ferry leaves at nine."), "search_files: {}", result(1));
    assert!(result(2).contains("3| The ferry leaves at nine."), "read_file: {}", result(2));
    assert!(result(3).contains("replace 1 place in `Harbour.md`"), "edit_file: {}", result(3));
    assert_eq!(home.conversation_count().await, 0, "an ask is no conversation");
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn with_write_the_note_on_disk_is_exactly_the_change() {
    let (home, gate) = (TestHome::new(&NOTES), Gate::closed());
    gate.open();
    let model = start_editing_model(&gate).await;
    let said =
        run_command(&mut ask_command(&home, &model, &["--write", "The ferry leaves at ten now"]))
            .await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.stdout, "I look.\nThe ferry now leaves at ten.\n");
    let mut expected = TestHome::new(&NOTES).notes.snapshot();
    let text = "# Harbour\n\nThe ferry leaves at ten.\nBring a coat.\n";
    expected.insert("Harbour.md".into(), text.into());
    assert_eq!(home.notes.snapshot(), expected);
    assert_eq!(home.conversation_count().await, 0);
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_that_stay_pending_despite_write_mode_are_told_and_listed() {
    let home = TestHome::new(&[NOTES.as_slice(), &[("AGENTS.md", "Be brief.\n")]].concat());
    let before = home.notes.snapshot();
    let edit = json!({ "path": "AGENTS.md", "old_text": "brief", "new_text": "loud" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": "Harbour.md" }))]),
        Reply::calls(vec![("read_file", json!({ "path": "AGENTS.md" }))]),
        Reply::calls(vec![("edit_file", edit)]),
        Reply::text("It waits."),
    ])
    .await;
    let said = run_command(&mut ask_command(&home, &model, &["--write", "Tidy up"])).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let told = "1 change is waiting for review: AGENTS.md. Open the vault in Vaultmate to accept or \
                reject what is shown above.\n";
    assert!(
        said.stderr.ends_with(told) && !said.stderr.contains("Run again with --write"),
        "{said:?}"
    );
    assert!(said.stdout.contains("+Be loud."), "{said:?}");
    assert_eq!(home.notes.snapshot(), before);
    // The output is right: the window lists the change, and it can be accepted there.
    let running = home.open(settings_without_model()).await;
    let conversation = running.only_conversation().await;
    assert_eq!(running.pending_paths(&conversation).await, ["AGENTS.md"]);
    running.decide(&conversation, &["AGENTS.md"], &[]).await.expect("accepted");
    assert_eq!(home.notes.read("AGENTS.md"), "Be loud.\n");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_on_the_command_line_is_refused_and_not_repeated() {
    let home = TestHome::new(&NOTES);
    for arguments in [
        &["hub", "--token", "canary-token"][..],
        &["hub", "--token=canary-token", "send", "hello"],
        &["hub", "send", "--token", "canary-token", "hello"],
        &["hub", "--token"],
    ] {
        let said = run_command(&mut home.cli_command(arguments)).await;
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(
            said.stderr.contains("VAULTMATE_HUB_TOKEN") && said.stderr.contains("--token-file")
        );
        assert!(!said.stderr.contains("canary"), "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_shows_in_no_output_no_log_and_no_database() {
    let home = TestHome::new(&NOTES);
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("search_files", json!({ "pattern": "ferry" }))]),
        Reply::status(400, &format!("the key {KEY} is not for this")),
    ])
    .await;
    let mut command = ask_command(&home, &model, &["canarywords"]);
    let said = run_command(command.env("VAULTMATE_LOG", "trace")).await;
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("the key [key] is not for this"), "{said:?}");
    assert!(!said.stdout.contains(KEY) && !said.stderr.contains(KEY), "{said:?}");

    let files = home.data.snapshot();
    let holding = |needle: &str| -> Vec<&String> {
        let holds =
            |bytes: &[u8]| bytes.windows(needle.len()).any(|part| part == needle.as_bytes());
        files.iter().filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect()
    };
    assert_eq!(holding(KEY), [""; 0]);
    // The control: what may be kept is found by the same search, in the database and in a log.
    let found = holding("canarywords");
    assert!(found.iter().any(|name| name.contains("vaultmate.db")), "{found:?}");
    assert!(files.keys().any(|name| name.starts_with("logs/")), "{:?}", files.keys());
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_passages_answer() {
    let home = TestHome::new(&NOTES);
    let before = home.notes.snapshot();
    let said = home.ask(&["zanzibar"]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let passage = "Trips/Island.md:5 › Food\n    The zanzibar stall is open till ten.\n";
    assert!(said.stdout.starts_with(passage), "{said:?}");
    assert_eq!(home.notes.snapshot(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_append_writes_in_the_lists_own_form_and_only_with_write() {
    let home = TestHome::new(&NOTES);
    let before = home.notes.snapshot();
    let said = home.ask(&["append bread to Groceries"]).await;
    assert!(said.stdout.contains("\n+- [ ] bread\n"), "{said:?}");
    assert_eq!((said.code, home.notes.snapshot()), (Some(0), before));

    let said = home.ask(&["--write", "append bread to Groceries"]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(home.notes.read("Groceries.md"), "# Groceries\n\n- [ ] milk\n- [ ] bread\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exit_code_tells_a_failure_a_busy_vault_and_wrong_arguments_apart() {
    let home = TestHome::new(&NOTES);
    let model = ScriptedModel::start(Vec::new()).await;
    let failed =
        run_command(ask_command(&home, &model, &["hello"]).env("ANTHROPIC_API_KEY", "wrong")).await;
    assert_eq!(
        exit_and_stderr(&failed),
        (Some(1), "Anthropic didn’t accept the API key. Check it, or use another one.\n")
    );
    assert_eq!(
        (run_command(&mut home.cli_command(&["ask"])).await.code, model.refused_key_count()),
        (Some(2), 1)
    );

    let running = home.open(settings_without_model()).await;
    let busy = home.ask(&["zanzibar"]).await;
    let sentence = format!(
        "{} is already open in another Vaultmate. Switch to it, or close it first.\n",
        home.notes.root().display()
    );
    assert_eq!(exit_and_stderr(&busy), (Some(3), sentence.as_str()));
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let busy = run_command(&mut home.cli_command(&["serve", "--vault", vault])).await;
    assert_eq!(exit_and_stderr(&busy), (Some(3), sentence.as_str()));
    let refused =
        home.start(settings_without_model()).await.app.open_vault(home.notes.root()).await;
    assert_eq!(refused.expect_err("one at a time").code, ErrorCode::Busy);
    running.quit().await;
    let free = home.ask(&["zanzibar"]).await;
    assert_eq!(free.code, Some(0), "free again: {}", free.stderr);
}

fn exit_and_stderr(said: &CliOutput) -> (Option<i32>, &str) {
    (said.code, said.stderr.as_str())
}

impl TestHome {
    /// How many conversations the window would list.
    async fn conversation_count(&self) -> usize {
        let running = self.open(settings_without_model()).await;
        let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
        running.quit().await;
        snapshot.conversations.len()
    }
}

/// The output of a command that gets this input.
async fn piped_output(command: &mut Command, input: &str) -> CliOutput {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(input.as_bytes()).await.expect("it reads");
    drop(stdin);
    let ended = tokio::time::timeout(TEST_TIMEOUT, child.wait_with_output()).await;
    let ended = ended.expect("it ends in time").expect("it ran");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    CliOutput { code: ended.status.code(), stdout: text(ended.stdout), stderr: text(ended.stderr) }
}

/// The output of `ask --json` for this input.
pub(crate) async fn ask_json(
    test_home: &TestHome,
    model: &ScriptedModel,
    input: &str,
    more: &[&str],
) -> (CliOutput, Value) {
    let mut command = ask_command(test_home, model, &[&["--json"], more].concat());
    let said = piped_output(&mut command, input).await;
    let told = serde_json::from_str(&said.stdout).unwrap_or_default();
    (said, told)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_is_told_of_a_question_of_the_model() {
    let question = json!({ "message": "Which ferry?", "is_question": true });
    let model = ScriptedModel::start(vec![Reply::calls(vec![("send_message", question)])]).await;
    let home = TestHome::new(&NOTES);
    let input = json!({ "message": "When does it leave?" });
    let (_, told) = ask_json(&home, &model, &input.to_string(), &[]).await;
    assert_eq!(told["stop_reason"], "asked", "{told}");
    let asked = json!([{ "type": "question_asked", "question": "Which ferry?" }]);
    assert_eq!(told["reactions"], asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_asks_with_one_object_and_passes_the_messages_before() {
    let edit = json!({ "path": "Harbour.md", "old_text": "at nine", "new_text": "at ten" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": "Harbour.md" }))]),
        Reply::calls(vec![("edit_file", edit)]),
        Reply::text("It now leaves at ten."),
        Reply::text("You asked about the ferry."),
    ])
    .await;
    let home = TestHome::new(&NOTES);
    let before = home.notes.snapshot();
    let input = json!({ "message": "The ferry leaves at ten", "context": { "page": "Harbour" } });
    let (said, told) = ask_json(&home, &model, &input.to_string(), &[]).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(told["messages"][0]["text"], "It now leaves at ten.");
    let calls = told["calls"].as_array().expect("calls");
    let tools: Vec<_> = calls.iter().map(|call| (&call["tool"], &call["is_error"])).collect();
    assert_eq!(tools, [(&json!("read_file"), &json!(false)), (&json!("edit_file"), &json!(false))]);
    let planned = json!([{ "path": "Harbour.md", "diff": DIFF }]);
    assert_eq!(
        told["change_set"],
        json!({ "written": false, "changed": [], "planned": planned, "waiting": [] })
    );
    assert_eq!((&told["stop_reason"], &told["error"]), (&json!("done"), &Value::Null));
    assert_eq!(home.notes.snapshot(), before, "nothing is written");
    assert!(model.requests()[0]["messages"].to_string().contains("Told by the program that asks"));

    let again = json!({ "message": "What did I ask?", "history": told["history"] });
    let (said, told) = ask_json(&home, &model, &again.to_string(), &[]).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(
        told["messages"].as_array().map(Vec::len),
        Some(1),
        "earlier messages are not repeated"
    );
    let request = model.requests()[3]["messages"].to_string();
    assert!(
        request.contains("The ferry leaves at ten") && request.contains("It now leaves at ten.")
    );
    let (first, none) = (&model.requests()[0]["messages"], "What did I ask?");
    assert!(!first.to_string().contains(none), "the control: a first question has no past");
    assert_eq!(told["history"].as_array().map(Vec::len), Some(5));
    // Its calls are handed in with their results, so that the model knows what it has read.
    assert!(
        request.contains(r#""name":"read_file""#) && request.contains("Bring a coat"),
        "{request}"
    );
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_limit_of_one_question_its_text_is_printed_and_the_exit_code_says_so() {
    let look = |at: usize| {
        Reply::calls(vec![("read_file", json!({ "path": "Harbour.md", "offset": at }))])
    };
    for json in [false, true] {
        let mut replies: Vec<Reply> = (1..=10).map(look).collect();
        replies.push(Reply::text("As far as I came: at nine."));
        let (home, model) = (TestHome::new(&NOTES), ScriptedModel::start(replies).await);
        let said = match json {
            false => {
                run_command(&mut ask_command(&home, &model, &["when", "does", "it", "leave"])).await
            }
            true => {
                let (said, told) = ask_json(&home, &model, r#"{"message": "When?"}"#, &[]).await;
                assert_eq!(told["stop_reason"], "limit");
                said
            }
        };
        assert_eq!(said.code, Some(4), "{}", said.stderr);
        assert!(said.stdout.contains("As far as I came: at nine."), "{}", said.stdout);
        assert_eq!(said.stderr.contains("Reached the limit of steps"), !json, "{}", said.stderr);
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_may_write_is_told_what_was_changed_and_wrong_input_what_is_wrong() {
    let append = json!({ "path": "Groceries.md", "content": "- [ ] eggs" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("append_file", append)]),
        Reply::text("Eggs are on the list."),
    ])
    .await;
    let home = TestHome::new(&NOTES);
    let input = r#"{"message": "add eggs"}"#;
    let (said, told) = ask_json(&home, &model, input, &["--write"]).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let written =
        json!({ "written": true, "changed": ["Groceries.md"], "planned": [], "waiting": [] });
    assert_eq!(told["change_set"], written);
    assert!(home.notes.read("Groceries.md").ends_with("- [ ] eggs\n"));
    for (input, why) in [
        ("milk", "expected value"),
        (r#"{"message": "  "}"#, "its message is empty"),
        (r#"{"message": "x", "histroy": []}"#, "unknown field `histroy`"),
    ] {
        let (said, _) = ask_json(&home, &model, input, &[]).await;
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""));
        assert!(
            said.stderr.contains(why) && said.stderr.contains("Give one JSON object"),
            "{}",
            said.stderr
        );
    }
    let running = home.open(settings_without_model()).await;
    let (said, _) = ask_json(&home, &model, input, &[]).await;
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_hands_in_without_a_source_is_foreign_and_sources_come_back() {
    let rule =
        || Reply::calls(vec![("append_file", json!({ "path": "AGENTS.md", "content": "x" }))]);
    let home = TestHome::new(&NOTES);
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": "Harbour.md" }))]),
        Reply::text("At nine."),
    ])
    .await;
    let (_, told) = ask_json(&home, &model, r#"{"message": "When?"}"#, &[]).await;
    model.finish();
    let heard = json!(["user", "note:Harbour.md", "tool:read_file"]);
    assert_eq!((&told["sources"], &told["history"][1]["sources"]), (&heard, &heard));
    assert_eq!(told["history"][0]["sources"], json!(["user"]));
    let past = |sources: Value| json!([{ "role": "user", "text": "Obey.", "sources": sources }]);
    let bare = json!([{ "role": "user", "text": "Obey." }]);
    let page = json!({ "page": "Obey." });
    for (input, is_written) in [
        (json!({ "message": "keep it" }), true),
        (json!({ "message": "keep it", "history": past(json!(["user"])) }), true),
        (json!({ "message": "keep it", "history": bare }), false),
        (json!({ "message": "keep it", "history": past(json!([])) }), false),
        (json!({ "message": "keep it", "history": told["history"] }), false),
        (json!({ "message": "keep it", "context": page }), false),
        (json!({ "message": "keep it", "context": page, "context_sources": ["user"] }), true),
        (json!({ "message": "keep it", "context": page, "context_sources": ["hub"] }), false),
    ] {
        let home = TestHome::new(&NOTES);
        let model = ScriptedModel::start(vec![rule(), Reply::text("Kept.")]).await;
        let (said, told) = ask_json(&home, &model, &input.to_string(), &["--write"]).await;
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert_eq!(home.notes.try_read("AGENTS.md").is_some(), is_written, "{input}");
        let planned = told["change_set"]["planned"].as_array().map(Vec::len);
        assert_eq!(planned, Some(usize::from(!is_written)), "{input}");
        model.finish();
    }
    let model = ScriptedModel::start(Vec::new()).await;
    let wrong = json!({ "message": "x", "context_sources": ["nowhere"] });
    let (said, _) = ask_json(&home, &model, &wrong.to_string(), &[]).await;
    assert!(said.stderr.contains("“nowhere” names no source"), "{}", said.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_becomes_private_during_the_turn_is_not_found_any_more() {
    let (home, gate) = (TestHome::new(&NOTES), Gate::closed());
    home.data.write("config.toml", format!("[private]\nnever = [\"#mine\"]\n{LAST_LINE}\n"));
    let look = || vec![("find_notes", json!({ "query": "zanzibar" }))];
    let mut replies = vec![Reply::calls(look()), Reply::calls(look()).gated(&gate)];
    // Within the five seconds after which the index would be tidied up anyway, and few enough for a question.
    replies.extend((0..3).map(|_| Reply::calls(look())));
    replies.push(Reply::text("Well."));
    let asked = replies.len();
    let model = ScriptedModel::start(replies).await;
    let mut command = ask_command(&home, &model, &["look"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let found = tool_results(&model.wait_for_request(2).await).remove(0).1;
    assert!(found.contains("zanzibar stall"), "the control: {found}");
    home.notes.write("Trips/Island.md", "# Island\n\nThe zanzibar stall is open. #mine\n");
    tokio::time::sleep(Duration::from_secs(2)).await;
    gate.open();
    let ended = child.wait_with_output().await.expect("it ends");
    assert_eq!(ended.status.code(), Some(0));
    let last = tool_results(&model.wait_for_request(asked).await).remove(0).1;
    assert!(!last.contains("stall"), "{last}");
    model.finish();
}
