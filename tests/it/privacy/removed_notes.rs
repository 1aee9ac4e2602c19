//! Text of a note that is not there any more: the note may be private by now.

use std::fs;
use std::path::Path;

use protocol::request::{DecideReview, HunkDecision, NoteDecision, ReviewDecision};
use protocol::settings::PrivateSettings;
use protocol::{ConversationId, Settings};
use serde_json::{Value, json};
use testkit::scripted_model::{last_message_text, tool_results};
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

pub(super) const CANARY: &str = "canary-b93d";
const NAME: &str = "Kanarienvogel";

pub(super) fn home() -> TestHome {
    home_with_key(&[
        ("Work/Kanarienvogel.md", "# Bird\n\ncanary-b93d, seen.\n"),
        ("Diary/Today.md", "nothing\n"),
        ("Open.md", "open\n"),
    ])
}

pub(super) fn settings(model: &ScriptedModel, never: &[&str]) -> Settings {
    let never = never.iter().map(|rule| (*rule).to_owned()).collect();
    let private = PrivateSettings { never, ..PrivateSettings::default() };
    Settings { private, ..settings_with_model(model) }
}

pub(super) fn read_replies() -> Vec<Reply> {
    vec![
        Reply::calls(vec![("read_file", json!({ "path": "kanarienvogel" }))]),
        Reply::text("It says canary-b93d."),
    ]
}

/// The last request after a turn that read the note and one turn after each of these events.
async fn request_after_events(never: &[&str], events: &[fn(&Path)]) -> String {
    let home = home();
    let mut replies = read_replies();
    replies.extend(events.iter().map(|_| Reply::text("Well.")));
    let model = ScriptedModel::start(replies).await;
    let running = home.open(settings(&model, never)).await;
    let conversation = running.send_and_wait(None, "what does it say?").await;
    for event in events {
        event(home.notes.root());
        running.send_and_wait(Some(&conversation), "and now?").await;
    }
    let told = model.requests().last().map(Value::to_string);
    running.quit().await;
    model.finish();
    told.expect("a request")
}

fn make_private(root: &Path) {
    let text = "# Bird\n\ncanary-b93d, seen. #private\n";
    fs::write(root.join("Work/Kanarienvogel.md"), text).expect("written");
}

fn delete_note(root: &Path) {
    fs::remove_file(root.join("Work/Kanarienvogel.md")).expect("removed");
}

pub(super) fn move_note(root: &Path) {
    let to = root.join("Diary/Kanarienvogel.md");
    fs::rename(root.join("Work/Kanarienvogel.md"), to).expect("moved");
}

pub(super) fn is_moved_and_replaced(root: &Path) {
    move_note(root);
    fs::write(root.join("Work/Kanarienvogel.md"), "moved\n").expect("written");
}

fn is_saved_as_programs_do(root: &Path) {
    fs::write(root.join("Work/.new"), "# Bird\n\nelse\n").expect("written");
    fs::rename(root.join("Work/.new"), root.join("Work/Kanarienvogel.md")).expect("renamed");
}

fn copy_and_delete(root: &Path) {
    let to = root.join("Diary/Other.md");
    fs::copy(root.join("Work/Kanarienvogel.md"), to).expect("copied");
    delete_note(root);
}

fn move_folder(root: &Path) {
    fs::rename(root.join("Work"), root.join("Diary/Work")).expect("moved");
}

fn rename_folder(root: &Path) {
    fs::remove_dir_all(root.join("Diary")).expect("removed");
    fs::rename(root.join("Work"), root.join("Diary")).expect("renamed");
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_text_nor_name_is_told_of_a_note_that_may_be_private_wherever_it_went() {
    let stories: [&[fn(&Path)]; 5] =
        [&[move_note], &[copy_and_delete], &[move_folder], &[rename_folder], &[delete_note]];
    for (number, events) in stories.into_iter().enumerate() {
        for never in [&["Diary/"][..], &["#private"]] {
            let told = request_after_events(never, events).await;
            let name = told.to_lowercase().contains(&NAME.to_lowercase());
            assert!(!told.contains(CANARY) && !name, "{never:?}, story {number}: {told}");
            assert!(told.contains("what does it say?"), "{told}");
        }
        let told = request_after_events(&[], events).await;
        assert!(
            told.contains(CANARY) && told.contains(NAME),
            "the control, story {number}: {told}"
        );
    }
    let told = request_after_events(&["Diary/"], &[|_| {}]).await;
    assert!(told.contains("It says canary-b93d"), "the control: it stays, {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_is_not_told_of_another_note_that_has_the_name_by_now() {
    for never in [&["Diary/"][..], &["#private", "Diary/"]] {
        let told = request_after_events(never, &[is_moved_and_replaced]).await;
        assert!(!told.contains(CANARY) && told.contains("what does it say?"), "{never:?}: {told}");
    }
    for never in [&[][..], &["Other/"]] {
        let told = request_after_events(never, &[is_moved_and_replaced]).await;
        assert!(told.contains(CANARY), "the control, {never:?}: {told}");
    }
    // Another program put a new file in its place, and no private note was touched.
    let told = request_after_events(&["Diary/"], &[is_saved_as_programs_do]).await;
    assert!(told.contains(CANARY), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_is_not_told_of_a_note_that_was_replaced_before_the_turn_ended() {
    for (never, is_told) in [("Diary/", false), ("Other/", true)] {
        let home = home();
        let root = home.notes.root().to_owned();
        let mut replies = read_replies();
        let answer = replies.pop().expect("the answer to what was read");
        replies.push(Reply::computed(move |_| {
            is_moved_and_replaced(&root);
            answer
        }));
        replies.push(Reply::text("Well."));
        let model = ScriptedModel::start(replies).await;
        let running = home.open(settings(&model, &[never])).await;
        let conversation = running.send_and_wait(None, "what does it say?").await;
        running.send_and_wait(Some(&conversation), "and now?").await;
        let told = model.requests().last().map(Value::to_string).expect("a request");
        running.quit().await;
        assert_eq!(told.contains(CANARY), is_told, "{never}: {told}");
        assert!(told.contains("what does it say?"), "{told}");
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_became_private_is_no_more_told_of_once_it_is_deleted() {
    let told = request_after_events(&["#private"], &[make_private, delete_note]).await;
    let name = told.to_lowercase().contains(&NAME.to_lowercase());
    assert!(!told.contains(CANARY) && !name && told.contains("what does it say?"), "{told}");
    let told = request_after_events(&[], &[make_private, delete_note]).await;
    assert!(told.contains(CANARY) && told.contains(NAME), "the control: {told}");
}

/// The last request after the note was read, and then changed by this call, which the user accepts.
async fn request_after_call(tool: &'static str, call: Value) -> String {
    let home = home();
    let mut replies = read_replies();
    replies.extend([
        Reply::calls(vec![(tool, call)]),
        Reply::text("It waits."),
        Reply::text("Well."),
    ]);
    let model = ScriptedModel::start(replies).await;
    let running = home.open(settings(&model, &["Diary/", "#private"])).await;
    let conversation = running.send_and_wait(None, "what does it say?").await;
    running.send_and_wait(Some(&conversation), "please").await;
    let review = running.view(&conversation).await.review.expect("it is pending");
    let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
    running.decide(&conversation, &paths, &[]).await.expect("applied");
    assert!(!home.notes.root().join("Work/Kanarienvogel.md").exists());
    running.send_and_wait(Some(&conversation), "and now?").await;
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
        let told = request_after_call(tool, call).await;
        assert!(
            told.contains("It says canary-b93d") && told.contains("and now?"),
            "{tool}: {told}"
        );
    }
}

/// The last request after the note was read, this was planned for it, the note was removed, and the
/// model was asked about it again.
async fn request_after_plan(
    never: &[&str],
    tool: &'static str,
    call: Value,
    event: fn(&Path),
) -> String {
    let home = home();
    let mut replies = read_replies();
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
    let conversation = running.send_and_wait(None, "what does it say?").await;
    running.send_and_wait(Some(&conversation), "please").await;
    event(home.notes.root());
    running.send_and_wait(Some(&conversation), "and now?").await;
    let told = model.requests().last().map(Value::to_string);
    running.quit().await;
    model.finish();
    told.expect("a request")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_plan_tells_nothing_of_a_note_that_left_for_a_private_place() {
    let note = "Work/Kanarienvogel.md";
    for (tool, call) in [
        ("append_file", json!({ "path": note, "content": "- more" })),
        ("move_file", json!({ "source": note, "destination": "Birds/Canary.md" })),
        ("delete_file", json!({ "path": note })),
    ] {
        for event in [move_note, is_moved_and_replaced] {
            let told = request_after_plan(&["Diary/"], tool, call.clone(), event).await;
            // The model's own last calls name what it asked for.
            assert!(!told.contains(CANARY), "{tool}: {told}");
            assert!(told.contains("and now?"), "{told}");
        }
        let told = request_after_plan(&["Diary/"], tool, call, |_| {}).await;
        assert!(told.contains(CANARY), "the control, {tool}: {told}");
    }
}

/// The last request of a conversation that listed the tags, after the only note with `#surgery` got
/// this text.
async fn request_after_tags(then: &str) -> String {
    let home = home_with_key(&[("Plan.md", "For May. #surgery\n"), ("Open.md", "open #garden\n")]);
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("list_tags", json!({}))]),
        Reply::text("There is a tag for an operation."),
        Reply::text("Well."),
    ])
    .await;
    let running = home.open(settings(&model, &["#private"])).await;
    let conversation = running.send_and_wait(None, "which tags are there?").await;
    let first = Value::from(model.requests()).to_string();
    assert!(first.contains("- #surgery, 1 note"), "it is listed while the note is open: {first}");
    home.notes.write("Plan.md", then);
    running.send_and_wait(Some(&conversation), "and now?").await;
    let told = model.requests().last().map(Value::to_string);
    running.quit().await;
    model.finish();
    told.expect("a request")
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_that_only_private_notes_have_by_now_are_not_told_of_earlier_turns() {
    let told = request_after_tags("For May. #surgery #private\n").await;
    assert!(!told.contains("surgery") && !told.contains("operation"), "{told}");
    // The control: the note changes and stays open.
    let told = request_after_tags("For May, or June. #surgery\n").await;
    assert!(told.contains("- #surgery, 1 note") && told.contains("operation"), "{told}");
}

/// Asks for this part of the result that was shortened.
fn read_on(part: u32) -> Reply {
    Reply::computed(move |request| {
        let text = request.to_string();
        let at = text.find("`result-").expect("a handle") + 1;
        let handle = &text[at..at + 19];
        Reply::calls(vec![("read_result", json!({ "handle": handle, "part": part }))])
    })
}

/// The requests after a long list of tags was read on, and these rules were written.
async fn told_after_long_list(then: &[&str]) -> String {
    let many: String = (0..400).map(|n| format!("#an-open-tag-with-number-{n:04} ")).collect();
    let home = home_with_key(&[("Diary/Plan.md", "For May. #surgery\n"), ("Open.md", &many)]);
    let lists = Reply::calls(vec![("list_tags", json!({ "limit": 1_000 }))]);
    let said = Reply::text("There is a tag for an operation.");
    let script = vec![lists, read_on(3), read_on(4), said, read_on(4), Reply::text("Well.")];
    let model = ScriptedModel::start(script).await;
    let running = home.open(settings(&model, &[])).await;
    let conversation = running.send_and_wait(None, "which tags are there?").await;
    let before = model.requests().len();
    assert!(model.request_bodies()[before - 1].contains("#surgery"), "it was read");
    running.replace_settings(settings(&model, then)).await;
    running.send_and_wait(Some(&conversation), "and now?").await;
    running.quit().await;
    model.request_bodies().split_off(before).join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_that_were_read_on_in_a_long_list_are_withheld_as_well() {
    let told = told_after_long_list(&["Diary/"]).await;
    assert!(!told.contains("surgery") && !told.contains("operation"), "{told}");
    let told = told_after_long_list(&["Other/"]).await;
    assert!(told.contains("#surgery") && told.contains("operation"), "the control: {told}");
}

/// The last request after the note was read, was changed, was told as such, and then left.
async fn told_after_change(event: fn(&Path)) -> String {
    let changes: fn(&Path) = |root| {
        fs::write(root.join("Work/Kanarienvogel.md"), "# Bird\n\nelse\n").expect("written");
    };
    request_after_events(&["Diary/"], &[changes, event]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_a_note_that_left_is_in_no_earlier_context_block() {
    let told = told_after_change(move_note).await;
    assert!(!told.to_lowercase().contains("kanarienvogel"), "{told}");
    let told = told_after_change(|_| {}).await;
    let named = "Changed since you read them, so read them again: Work/Kanarienvogel.md";
    assert!(told.contains(named), "the control: {told}");
}

/// The requests of a message that is sent after this happened to the open note, with a selection.
async fn told_of_open(event: fn(&Path), is_said_before: bool) -> String {
    let home = home();
    let mut script = vec![Reply::calls(vec![("get_active_note", json!({}))]), Reply::text("Well.")];
    if is_said_before {
        script.insert(0, Reply::text("It is a bird."));
    }
    let model = ScriptedModel::start(script).await;
    let running = home.open(settings(&model, &["Diary/"])).await;
    running.show("Work/Kanarienvogel.md").await;
    running.select("Work/Kanarienvogel.md", "canary-b93d, seen.", None).await;
    let conversation = match is_said_before {
        true => Some(running.send_and_wait(None, "what is this?").await),
        false => None,
    };
    let before = model.requests().len();
    event(home.notes.root());
    running.send_and_wait(conversation.as_ref(), "and this?").await;
    running.quit().await;
    let told = model.request_bodies().split_off(before).join("\n");
    model.finish();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_name_nor_selection_is_told_of_an_open_note_that_left() {
    let has_a_namesake: fn(&Path) = |root| {
        move_note(root);
        fs::write(root.join("Kanarienvogel.md"), "another\n").expect("written");
    };
    for is_said_before in [false, true] {
        for event in [move_note, has_a_namesake] {
            let told = told_of_open(event, is_said_before).await;
            let name = told.to_lowercase().contains("kanarienvogel");
            assert!(!told.contains(CANARY) && !name && told.contains("and this?"), "{told}");
            assert!(told.contains("did not send the open note"), "{told}");
        }
        let told = told_of_open(|_| {}, is_said_before).await;
        assert!(told.contains(CANARY) && told.contains(NAME), "the control: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selection_is_not_told_of_an_open_note_whose_path_another_note_has() {
    let is_replaced_by_older: fn(&Path) = |root| {
        move_note(root);
        fs::rename(root.join("Open.md"), root.join("Work/Kanarienvogel.md")).expect("moved");
    };
    for event in [is_moved_and_replaced, is_replaced_by_older] {
        let told = told_of_open(event, false).await;
        assert!(!told.contains(CANARY) && told.contains("and this?"), "{told}");
        assert!(told.contains("did not send the open note"), "{told}");
    }
    let told = told_of_open(is_moved_and_replaced, true).await;
    assert!(!told.contains(CANARY) && told.contains("and this?"), "{told}");
    for is_said_before in [false, true] {
        let told = told_of_open(is_saved_as_programs_do, is_said_before).await;
        assert!(told.contains(CANARY) && told.contains(NAME), "the control: {told}");
    }
}

/// Accepts the first hunk of the note with pending changes, and rejects the others.
async fn takes_the_first(app: &RunningApp, conversation: &ConversationId) {
    let review = app.view(conversation).await.review.expect("it is pending");
    let note = &review.notes[0];
    let one = |at: usize| if at == 0 { HunkDecision::Accept } else { HunkDecision::Reject };
    let hunks: Vec<HunkDecision> = (0..note.hunks.len()).map(one).collect();
    assert_eq!(hunks.len(), 2, "{review:?}");
    let (path, seen) = (note.path.clone(), note.seen.clone());
    let notes = vec![NoteDecision { path, seen, decision: ReviewDecision::Hunks { hunks } }];
    app.app.decide_review(&DecideReview { review: review.id, notes }).await.expect("decided");
}

/// The last request after a part of a change of the note was rejected, and this happened to it.
async fn told_after_rejection(event: fn(&Path)) -> String {
    let text = "one\n\ntwo\n\ncanary-b93d, seen.\n";
    let home = home_with_key(&[("Kanarienvogel.md", text), ("Diary/Today.md", "nothing\n")]);
    let edit = |old: &str| {
        ("edit_file", json!({ "path": "kanarienvogel", "old_text": old, "new_text": "new" }))
    };
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![edit("one"), edit("seen.")]),
        Reply::text("It waits."),
        Reply::text("Well."),
    ])
    .await;
    let running = home.open(settings(&model, &["Diary/", "#private"])).await;
    let conversation = running.send_and_wait(None, "please").await;
    takes_the_first(&running, &conversation).await;
    event(home.notes.root());
    running.send_and_wait(Some(&conversation), "and now?").await;
    running.quit().await;
    model.request_bodies().pop().expect("a request")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_rejected_is_not_told_of_a_note_that_left() {
    let leaves: fn(&Path) = |root| {
        let to = root.join("Diary/Kanarienvogel.md");
        fs::rename(root.join("Kanarienvogel.md"), to).expect("moved");
    };
    let becomes_private: fn(&Path) = |root| {
        let text = "one\n\ntwo\n\ncanary-b93d, seen. #private\n";
        fs::write(root.join("Kanarienvogel.md"), text).expect("written");
    };
    for event in [leaves, becomes_private] {
        let told = told_after_rejection(event).await;
        // The model spelled the name in lower case.
        let name = told.to_lowercase().contains("kanarienvogel");
        assert!(!told.contains(CANARY) && !name && told.contains("and now?"), "{told}");
    }
    let told = told_after_rejection(|_| {}).await;
    assert!(told.contains("-canary-b93d, seen.") && told.contains(NAME), "the control: {told}");
}

/// The request after a note was moved to which this note links that models never see.
async fn told_after_move(private: &str) -> String {
    let home = home_with_key(&[
        ("Plan.md", "plan\n"),
        ("Open.md", "see [[Plan]]\n"),
        ("Diary/Today.md", private),
    ]);
    let moved = json!({ "source": "Plan.md", "destination": "Projects/Plot.md" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("move_file", moved)]),
        Reply::text("It waits."),
        Reply::text("It still waits."),
        Reply::text("Well."),
    ])
    .await;
    let running = home.open(settings(&model, &["Diary/"])).await;
    let conversation = running.send_and_wait(None, "move it").await;
    running.send_and_wait(Some(&conversation), "and now?").await;
    let waiting = running.pending_paths(&conversation).await;
    let paths: Vec<&str> = waiting.iter().map(String::as_str).collect();
    running.decide(&conversation, &paths, &[]).await.expect("applied");
    assert_eq!(home.notes.read("Diary/Today.md"), private.replace("Plan", "Plot"));
    running.send_and_wait(Some(&conversation), "then?").await;
    running.quit().await;
    let timeless = |text: String| {
        let lines = text.lines().filter(|line| !line.starts_with("Time: "));
        lines.collect::<Vec<_>>().join("\n")
    };
    let told = |request: &Value| {
        let results = tool_results(request).into_iter().map(|(_, text)| text);
        timeless(results.chain([last_message_text(request)]).collect::<Vec<_>>().join("\n"))
    };
    model.requests().iter().map(told).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn how_many_private_notes_link_to_a_moved_note_is_not_told() {
    let (with, without) = (told_after_move("[[Plan]] x\n").await, told_after_move("x\n").await);
    assert_eq!(with, without);
    assert!(without.contains("applied the changes to"), "{without}");
}
