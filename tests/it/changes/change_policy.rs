//! Which changes are written at once and which need a review: the table of `docs/architecture.md`,
//! end to end.

use protocol::{Mode, NoteOpener, NotePath};
use serde_json::{Value, json};
use testkit::scripted_model::{offered_tools, tool_results};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, home_with_key, settings_with_model, with_mode};

const NOTES: [(&str, &str); 2] =
    [("Alpha.md", "# Alpha\n\nThe first line.\n"), ("Deep/Gamma.md", "# Gamma\n\n- one\n")];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeHandling {
    AtOnce,
    Pending,
}

use ChangeHandling::{AtOnce, Pending};

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
}

fn edit_alpha() -> (&'static str, Value) {
    edit("Alpha.md", "first", "FIRST")
}

fn append_alpha() -> (&'static str, Value) {
    ("append_file", json!({ "path": "Alpha.md", "content": "More." }))
}

fn create() -> (&'static str, Value) {
    ("write_file", json!({ "path": "New/Beta.md", "content": "# Beta\n" }))
}

fn overwrite_alpha() -> (&'static str, Value) {
    ("write_file", json!({ "path": "Alpha.md", "content": "# Other\n", "overwrite": true }))
}

/// Sends `words`, lets the model read Alpha and then make the call, and checks how the change is
/// handled.
async fn check(mode: Mode, words: &str, call: (&'static str, Value), expected: ChangeHandling) {
    check_with_open_note(mode, Open::Nothing, words, call, expected).await;
}

/// The note that is open beside the chat, and whether it is sent.
#[derive(Debug, Clone, Copy)]
enum Open {
    Nothing,
    /// This note, which is sent with the message.
    Sent(&'static str),
    /// This note, which the user excluded.
    Excluded(&'static str),
}

async fn check_with_open_note(
    mode: Mode,
    open: Open,
    words: &str,
    call: (&'static str, Value),
    expected: ChangeHandling,
) {
    let case = format!("{mode:?}, {open:?}, “{words}”: {call:?}");
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": "Alpha.md" }))]),
        Reply::calls(vec![call]),
        Reply::text("So far."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let before = home.notes.snapshot();
    let running = home.open(with_mode(settings_with_model(&model), mode)).await;
    if let Open::Sent(note) | Open::Excluded(note) = open {
        running.show(note).await;
    }
    if let Open::Excluded(_) = open {
        running.exclude_note();
    }
    let conversation = running.send_and_wait(None, words).await;
    let waiting = running.pending_paths(&conversation).await.len();
    let result = tool_results(&model.wait_for_request(3).await).remove(0).1;
    let is_unchanged = home.notes.snapshot() == before;
    let fate = match (is_unchanged, waiting) {
        (false, 0) => AtOnce,
        (true, 1) => Pending,
        other => panic!("{case}: {other:?}, {result}"),
    };
    assert_eq!(fate, expected, "{case}: {result}");
    assert_eq!(
        result.contains("Waiting for review, not applied"),
        fate == Pending,
        "{case}: {result}"
    );
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn in_review_creations_and_additions_go_through_and_the_rest_is_pending() {
    check(Mode::Review, "make it", create(), AtOnce).await;
    check(Mode::Review, "add it", append_alpha(), AtOnce).await;
    check(Mode::Review, "change [[Alpha]] (Alpha.md)", edit_alpha(), Pending).await;
    check_with_open_note(Mode::Review, Open::Sent("Alpha"), "change it", edit_alpha(), Pending)
        .await;
    check(Mode::Review, "replace [[Alpha]]", overwrite_alpha(), Pending).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_also_edits_the_note_that_is_linked_spelled_or_open() {
    check(Mode::Auto, "change [[Alpha]]", edit_alpha(), AtOnce).await;
    check(Mode::Auto, "change Alpha.md", edit_alpha(), AtOnce).await;
    let gamma = || edit("Deep/Gamma.md", "- one", "- two");
    check(Mode::Auto, "change deep/gamma, please", gamma(), AtOnce).await;
    check_with_open_note(Mode::Auto, Open::Sent("Alpha"), "change it", edit_alpha(), AtOnce).await;
    check(Mode::Auto, "make it", create(), AtOnce).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_puts_other_notes_and_overwriting_before_the_user() {
    check(Mode::Auto, "change the alpha note", edit_alpha(), Pending).await;
    check(Mode::Auto, "change [[Gamma]]", edit_alpha(), Pending).await;
    check_with_open_note(Mode::Auto, Open::Sent("Gamma"), "change it", edit_alpha(), Pending).await;
    check_with_open_note(Mode::Auto, Open::Excluded("Alpha"), "change it", edit_alpha(), Pending)
        .await;
    check(Mode::Auto, "replace [[Alpha]]", overwrite_alpha(), Pending).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_offers_no_changing_tool_and_refuses_one_that_is_called_anyway() {
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![append_alpha(), create()]),
        Reply::text("I cannot."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let before = home.notes.snapshot();
    let running = home.open(with_mode(settings_with_model(&model), Mode::ReadOnly)).await;
    let conversation = running.send_and_wait(None, "add it").await;
    let offered = offered_tools(&model.requests()[0]);
    for tool in ["edit_file", "write_file", "append_file"] {
        assert!(!offered.iter().any(|name| name == tool), "{tool} is offered: {offered:?}");
    }
    assert!(offered.iter().any(|name| name == "read_file"), "{offered:?}");
    let refusals = tool_results(&model.requests()[1]);
    assert_eq!(refusals.len(), 2);
    for (_, refusal) in refusals {
        assert!(refusal.starts_with("There is no tool `"), "{refusal}");
    }
    assert_eq!(home.notes.snapshot(), before);
    assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn from_the_eleventh_note_of_a_turn_on_every_change_is_pending() {
    let path = |n: usize| format!("Many/Note {n:02}.md");
    let calls = (1..=12).map(|n| ("write_file", json!({ "path": path(n), "content": "x\n" })));
    let model =
        ScriptedModel::start(vec![Reply::calls(calls.collect()), Reply::text("Made.")]).await;
    let home = home_with_key(&NOTES);
    let running = home.open(with_mode(settings_with_model(&model), Mode::Auto)).await;
    let conversation = running.send_and_wait(None, "make a dozen").await;
    for n in 1..=12 {
        assert_eq!(home.notes.try_read(&path(n)).is_some(), n <= 10, "note {n}");
    }
    assert_eq!(running.pending_paths(&conversation).await, [path(11), path(12)]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_on_a_pending_one_is_pending_with_it() {
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![edit_alpha(), append_alpha()]),
        Reply::text("Both wait."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let before = home.notes.snapshot();
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "change and add").await;
    assert_eq!(home.notes.snapshot(), before);
    accept_all(&running, &conversation).await;
    assert_eq!(home.notes.read("Alpha.md"), "# Alpha\n\nThe FIRST line.\nMore.\n");
    running.quit().await;
    model.finish();
}

async fn accept_all(app: &RunningApp, conversation: &protocol::ConversationId) {
    let review = app.view(conversation).await.review.expect("something is pending");
    let accepted: Vec<NotePath> = review.notes.into_iter().map(|note| note.path).collect();
    let paths: Vec<&str> = accepted.iter().map(NotePath::as_str).collect();
    app.decide(conversation, &paths, &[]).await.expect("applied");
}

/// The user says this, the model edits the note, and what comes of it.
async fn handling_of_edit(notes: &[(&str, &str)], words: &str, path: &str) -> ChangeHandling {
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![edit(path, "one", "two")]),
        Reply::text("So far."),
    ])
    .await;
    let home = home_with_key(notes);
    let running = home.open(with_mode(settings_with_model(&model), Mode::Auto)).await;
    let conversation = running.send_and_wait(None, words).await;
    let waits = running.pending_paths(&conversation).await == [path];
    let is_changed = home.notes.read(path) == "two\n";
    assert!(waits != is_changed, "“{words}”, {path}");
    running.quit().await;
    model.finish();
    if waits { Pending } else { AtOnce }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_auto_only_the_users_own_text_names_a_note() {
    let notes = [("Plan.md", "one\n"), ("Work/Plan.md", "one\n"), ("Beta.md", "one\n")];
    for (words, path, fate) in [
        ("tidy\n\nAttached file: a.txt\n```\nchange [[Beta]]\n```", "Beta.md", Pending),
        ("tidy\n\n[[Beta]]\n\nAttached file: a.txt\n```\nx\n```", "Beta.md", AtOnce),
        ("he wrote:\n> change Beta.md", "Beta.md", Pending),
        ("he wrote:\n```\nchange Beta.md\n```", "Beta.md", Pending),
        ("change Beta.md\n> as he wrote", "Beta.md", AtOnce),
        ("change [[Plan]]", "Work/Plan.md", Pending),
        ("change [[Plan]]", "Plan.md", Pending),
        ("change [[Work/Plan|Plan]]", "Work/Plan.md", AtOnce),
        ("change [[Plan.md|Plan]]", "Plan.md", AtOnce),
        ("change [[Plan.md|Plan]]", "Work/Plan.md", Pending),
        ("change [[Beta]]", "Beta.md", AtOnce),
    ] {
        assert_eq!(handling_of_edit(&notes, words, path).await, fate, "“{words}”, {path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_option_that_the_model_worded_names_no_note() {
    for (answer, fate) in [
        ("Yes, change Alpha.md", Pending),
        ("yes: Alpha.md", AtOnce),
        // The window puts behind it what the user attached.
        ("Yes, change Alpha.md\n\n[[Gamma]]", Pending),
        ("Yes, change Alpha.md\n\nAttached file: a.txt\n```\nAlpha.md\n```", Pending),
        ("Yes, change Alpha.md\n\n[[Alpha]]", AtOnce),
    ] {
        let ask = json!({
            "message": "Shall I?", "is_question": true, "options": ["Yes, change Alpha.md", "No"],
        });
        let model = ScriptedModel::start(vec![
            Reply::calls(vec![("send_message", ask)]),
            Reply::calls(vec![edit_alpha()]),
            Reply::text("So far."),
            Reply::calls(vec![edit("Alpha.md", "line", "LINE")]),
            Reply::text("So far."),
        ])
        .await;
        let home = home_with_key(&NOTES);
        let running = home.open(with_mode(settings_with_model(&model), Mode::Auto)).await;
        let conversation = running.send_and_wait(None, "tidy up").await;
        let question = running.view(&conversation).await.question.expect("it is open").id;
        running.send(Some(&conversation), answer, Some(&question)).await.expect("taken");
        running.app.wait_until_idle(&conversation).await.expect("idle");
        let waits = running.pending_paths(&conversation).await.len();
        assert_eq!(waits, usize::from(fate == Pending), "{answer}");
        // Sent once more, the text is still the model's.
        running.send_and_wait(Some(&conversation), answer).await;
        let waits = running.pending_paths(&conversation).await.len();
        assert_eq!(waits, usize::from(fate == Pending), "{answer}, once more");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_is_read_in_the_same_answer_counts_as_read_only_in_the_next_one() {
    let read = ("read_file", json!({ "path": "Alpha.md" }));
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![read, overwrite_alpha()]),
        Reply::calls(vec![overwrite_alpha()]),
        Reply::text("So far."),
    ])
    .await;
    let home = home_with_key(&NOTES);
    let running = home.open(with_mode(settings_with_model(&model), Mode::Review)).await;
    let conversation = running.send_and_wait(None, "replace [[Alpha]]").await;
    let first = tool_results(&model.wait_for_request(2).await);
    assert!(first[0].1.contains("The first line."), "{first:?}");
    assert!(first[1].1.contains("was not shown"), "{first:?}");
    // The control: the same call waits for review once the lines were shown.
    let second = tool_results(&model.wait_for_request(3).await);
    let last = second.last().map(|(_, words)| words.as_str()).unwrap_or_default();
    assert!(last.contains("Waiting for review, not applied"), "{second:?}");
    assert_eq!(running.pending_paths(&conversation).await, ["Alpha.md"]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_note_that_a_tool_chose_is_named_by_the_user_only_in_words() {
    for (shown, words, fate) in [
        ("Alpha.md", "thanks", Pending),
        ("Alpha.md", "thanks, change Alpha.md", AtOnce),
        // The control: the user opened the other one.
        ("Gamma", "thanks", AtOnce),
    ] {
        let model = ScriptedModel::start(vec![
            Reply::calls(vec![("show_note", json!({ "path": shown }))]),
            Reply::text("Here it is."),
            Reply::calls(vec![edit_alpha()]),
            Reply::text("So far."),
        ])
        .await;
        let home = home_with_key(&NOTES);
        let running = home.open(with_mode(settings_with_model(&model), Mode::Auto)).await;
        let conversation = running.send_and_wait(None, "look around").await;
        // The window opens what a tool shows, and sends it along from then on.
        running.show("Alpha").await;
        running.send_and_wait(Some(&conversation), words).await;
        let waits = running.pending_paths(&conversation).await.len();
        assert_eq!(waits, usize::from(fate == Pending), "{shown}, {words}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_a_tool_opened_is_not_the_users_choice_in_another_conversation_either() {
    for (opened_by, fate) in [
        (NoteOpener::Tool, Pending),
        (NoteOpener::Unknown, Pending),
        // The control: after the tool, the user opened it as well.
        (NoteOpener::User, AtOnce),
    ] {
        let model = ScriptedModel::start(vec![
            Reply::calls(vec![("show_note", json!({ "path": "Alpha.md" }))]),
            Reply::text("Here it is."),
            Reply::calls(vec![edit_alpha()]),
            Reply::text("So far."),
        ])
        .await;
        let home = home_with_key(&NOTES);
        let running = home.open(with_mode(settings_with_model(&model), Mode::Auto)).await;
        running.send_and_wait(None, "look around").await;
        running.show_by("Alpha", NoteOpener::Tool).await;
        // The note stays open beside the new conversation.
        running.show_by("Alpha", opened_by).await;
        let conversation = running.send_and_wait(None, "thanks").await;
        let waits = running.pending_paths(&conversation).await.len();
        assert_eq!(waits, usize::from(fate == Pending), "{opened_by:?}");
        assert_eq!(home.notes.read("Alpha.md").contains("FIRST"), fate == AtOnce, "{opened_by:?}");
        running.quit().await;
        model.finish();
    }
}
