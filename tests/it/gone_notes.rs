//! What was read of a note that is not there any more: it may be private by now.

use std::fs;
use std::path::Path;

use protocol::Settings;
use protocol::settings::PrivateSettings;
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::stage::{Home, asking, keyed};

const TEXT: &str = "canary-b93d";
const NAME: &str = "Kanarienvogel";

fn home() -> Home {
    keyed(&[
        ("Work/Kanarienvogel.md", "# Bird\n\ncanary-b93d, seen.\n"),
        ("Diary/Today.md", "nothing\n"),
        ("Open.md", "open\n"),
    ])
}

fn settings(model: &ScriptedModel, never: &[&str]) -> Settings {
    let never = never.iter().map(|rule| (*rule).to_owned()).collect();
    let private = PrivateSettings { never, ..PrivateSettings::default() };
    Settings { private, ..asking(model) }
}

fn reads() -> Vec<Reply> {
    vec![
        Reply::calls(vec![("read_file", json!({ "path": "kanarienvogel" }))]),
        Reply::text("It says canary-b93d."),
    ]
}

/// The last request after a turn that read the note and one turn after each of these events.
async fn told_after(never: &[&str], events: &[fn(&Path)]) -> String {
    let home = home();
    let mut replies = reads();
    replies.extend(events.iter().map(|_| Reply::text("Well.")));
    let model = ScriptedModel::start(replies).await;
    let running = home.open(settings(&model, never)).await;
    let conversation = running.say(None, "what does it say?").await;
    for event in events {
        event(home.notes.root());
        running.say(Some(&conversation), "and now?").await;
    }
    let told = model.requests().last().map(Value::to_string);
    running.quit().await;
    model.finish();
    told.expect("a request")
}

fn becomes_private(root: &Path) {
    let text = "# Bird\n\ncanary-b93d, seen. #private\n";
    fs::write(root.join("Work/Kanarienvogel.md"), text).expect("written");
}

fn is_deleted(root: &Path) {
    fs::remove_file(root.join("Work/Kanarienvogel.md")).expect("removed");
}

fn is_moved(root: &Path) {
    let to = root.join("Diary/Kanarienvogel.md");
    fs::rename(root.join("Work/Kanarienvogel.md"), to).expect("moved");
}

fn is_copied_and_deleted(root: &Path) {
    let to = root.join("Diary/Other.md");
    fs::copy(root.join("Work/Kanarienvogel.md"), to).expect("copied");
    is_deleted(root);
}

fn folder_is_moved(root: &Path) {
    fs::rename(root.join("Work"), root.join("Diary/Work")).expect("moved");
}

fn folder_is_renamed(root: &Path) {
    fs::remove_dir_all(root.join("Diary")).expect("removed");
    fs::rename(root.join("Work"), root.join("Diary")).expect("renamed");
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_text_nor_name_is_told_of_a_note_that_may_be_private_wherever_it_went() {
    let stories: [&[fn(&Path)]; 5] = [
        &[is_moved],
        &[is_copied_and_deleted],
        &[folder_is_moved],
        &[folder_is_renamed],
        &[is_deleted],
    ];
    for (number, events) in stories.into_iter().enumerate() {
        for never in [&["Diary/"][..], &["#private"]] {
            let told = told_after(never, events).await;
            let name = told.to_lowercase().contains(&NAME.to_lowercase());
            assert!(!told.contains(TEXT) && !name, "{never:?}, story {number}: {told}");
            assert!(told.contains("what does it say?"), "{told}");
        }
        let told = told_after(&[], events).await;
        assert!(told.contains(TEXT) && told.contains(NAME), "the control, story {number}: {told}");
    }
    let told = told_after(&["Diary/"], &[|_| {}]).await;
    assert!(told.contains("It says canary-b93d"), "the control: it stays, {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_became_private_is_no_more_told_of_once_it_is_deleted() {
    let told = told_after(&["#private"], &[becomes_private, is_deleted]).await;
    let name = told.to_lowercase().contains(&NAME.to_lowercase());
    assert!(!told.contains(TEXT) && !name && told.contains("what does it say?"), "{told}");
    let told = told_after(&[], &[becomes_private, is_deleted]).await;
    assert!(told.contains(TEXT) && told.contains(NAME), "the control: {told}");
}

/// The last request after the note was read, and then changed by this call, which the user accepts.
async fn told_after_call(tool: &'static str, call: Value) -> String {
    let home = home();
    let mut replies = reads();
    replies.extend([
        Reply::calls(vec![(tool, call)]),
        Reply::text("It waits."),
        Reply::text("Well."),
    ]);
    let model = ScriptedModel::start(replies).await;
    let running = home.open(settings(&model, &["Diary/", "#private"])).await;
    let conversation = running.say(None, "what does it say?").await;
    running.say(Some(&conversation), "please").await;
    let review = running.view(&conversation).await.review.expect("it waits");
    let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
    running.decide(&conversation, &paths, &[]).await.expect("applied");
    assert!(!home.notes.root().join("Work/Kanarienvogel.md").exists());
    running.say(Some(&conversation), "and now?").await;
    let told = model.requests().last().map(Value::to_string);
    running.quit().await;
    model.finish();
    told.expect("a request")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_accepted_change_moved_to_an_open_place_or_deleted_is_still_heard() {
    let note = "Work/Kanarienvogel.md";
    for (tool, call) in [
        ("move_file", json!({ "source": note, "destination": "Birds/Canary.md" })),
        ("delete_file", json!({ "path": note })),
    ] {
        let told = told_after_call(tool, call).await;
        assert!(
            told.contains("It says canary-b93d") && told.contains("and now?"),
            "{tool}: {told}"
        );
    }
}

/// The last request after the note was read and this was planned for it, the note left, and was asked for again.
async fn told_after_plan(
    never: &[&str],
    tool: &'static str,
    call: Value,
    event: fn(&Path),
) -> String {
    let home = home();
    let mut replies = reads();
    replies.extend([
        Reply::calls(vec![(tool, call)]),
        Reply::text("It waits."),
        Reply::calls(vec![
            ("read_file", json!({ "path": "Work/Kanarienvogel.md" })),
            ("search_files", json!({ "query": "seen" })),
            ("list_files", json!({ "folder": "Work" })),
        ]),
        Reply::text("Well."),
    ]);
    let model = ScriptedModel::start(replies).await;
    let running = home.open(settings(&model, never)).await;
    let conversation = running.say(None, "what does it say?").await;
    running.say(Some(&conversation), "please").await;
    event(home.notes.root());
    running.say(Some(&conversation), "and now?").await;
    let told = model.requests().last().map(Value::to_string);
    running.quit().await;
    model.finish();
    told.expect("a request")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_waits_tells_nothing_of_a_note_that_left_for_a_private_place() {
    let note = "Work/Kanarienvogel.md";
    for (tool, call) in [
        ("append_file", json!({ "path": note, "content": "- more" })),
        ("move_file", json!({ "source": note, "destination": "Birds/Canary.md" })),
        ("delete_file", json!({ "path": note })),
    ] {
        let told = told_after_plan(&["Diary/"], tool, call.clone(), is_moved).await;
        // The model's own last calls name what it asked for.
        assert!(!told.contains(TEXT), "{tool}: {told}");
        assert!(told.contains("and now?"), "{told}");
        let told = told_after_plan(&["Diary/"], tool, call, |_| {}).await;
        assert!(told.contains(TEXT), "the control, {tool}: {told}");
    }
}

/// The last request of a conversation that listed the tags, after the only note with `#surgery` got these
/// words.
async fn told_after_tags(then: &str) -> String {
    let home = keyed(&[("Plan.md", "For May. #surgery\n"), ("Open.md", "open #garden\n")]);
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("list_tags", json!({}))]),
        Reply::text("There is a tag for an operation."),
        Reply::text("Well."),
    ])
    .await;
    let running = home.open(settings(&model, &["#private"])).await;
    let conversation = running.say(None, "which tags are there?").await;
    let first = Value::from(model.requests()).to_string();
    assert!(first.contains("- #surgery, 1 note"), "it is listed while the note is open: {first}");
    home.notes.write("Plan.md", then);
    running.say(Some(&conversation), "and now?").await;
    let told = model.requests().last().map(Value::to_string);
    running.quit().await;
    model.finish();
    told.expect("a request")
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_that_only_private_notes_have_by_now_are_not_told_of_earlier_turns() {
    let told = told_after_tags("For May. #surgery #private\n").await;
    assert!(!told.contains("surgery") && !told.contains("operation"), "{told}");
    // The control: the note changes and stays open.
    let told = told_after_tags("For May, or June. #surgery\n").await;
    assert!(told.contains("- #surgery, 1 note") && told.contains("operation"), "{told}");
}
