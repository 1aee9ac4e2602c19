//! Text of a note whose path, or the one that a change of ours gave it, another note has by now: also where
//! the file there is one of ours.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use super::removed_notes::{
    CANARY, home, is_moved_and_replaced, move_note, read_replies, settings,
};
use crate::harness::test_app::RunningApp;

const NOTE: &str = "Work/Kanarienvogel.md";

/// Something that happens in the vault without us.
type VaultEvent = fn(&Path);

fn nothing(_: &Path) {}

fn private_note_is_written(root: &Path) {
    fs::write(root.join("Diary/Today.md"), "more\n").expect("written");
}

/// The last request of a conversation in which nothing else happens.
async fn last_request(running: RunningApp, model: ScriptedModel) -> String {
    let told = model.requests().last().map(Value::to_string);
    running.quit().await;
    model.finish();
    told.expect("a request")
}

/// The last request after the note was read, this happened to it, and the model wrote at its path without a
/// review.
async fn told_after_own_change(never: &str, event: VaultEvent, tool: &'static str) -> String {
    let home = home();
    let mut replies = read_replies();
    let call = json!({ "path": NOTE, "content": "more" });
    replies.extend([Reply::calls(vec![(tool, call)]), Reply::text("Done."), Reply::text("Well.")]);
    let model = ScriptedModel::start(replies).await;
    let running = home.open(settings(&model, &[never])).await;
    let conversation = running.send_and_wait(None, "what does it say?").await;
    event(home.notes.root());
    running.send_and_wait(Some(&conversation), "please").await;
    assert!(home.notes.read(NOTE).contains("more"), "{tool}: it is written");
    running.send_and_wait(Some(&conversation), "and now?").await;
    last_request(running, model).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_is_not_told_of_another_note_in_which_we_wrote() {
    let stories: [(VaultEvent, &str); 2] =
        [(move_note, "write_file"), (is_moved_and_replaced, "append_file")];
    for (event, tool) in stories {
        for (never, is_told) in [("Diary/", false), ("Other/", true)] {
            let told = told_after_own_change(never, event, tool).await;
            assert_eq!(told.contains(CANARY), is_told, "{tool}, {never}: {told}");
            assert!(told.contains("what does it say?"), "{tool}, {never}: {told}");
        }
    }
    // It is the note that was read, in a file of ours.
    for event in [nothing, private_note_is_written] {
        let told = told_after_own_change("Diary/", event, "append_file").await;
        assert!(told.contains(CANARY), "the control: {told}");
    }
}

/// The last request after the note was read, the first thing happened, the user accepted this change of the
/// note at its path, and the second thing happened.
async fn told_after_accepted_change(
    first: VaultEvent,
    (tool, call): (&'static str, Value),
    second: VaultEvent,
) -> String {
    let home = home();
    let mut replies = read_replies();
    replies.extend([
        Reply::calls(vec![(tool, call)]),
        Reply::text("It waits."),
        Reply::text("Well."),
    ]);
    let model = ScriptedModel::start(replies).await;
    let running = home.open(settings(&model, &["Diary/"])).await;
    let conversation = running.send_and_wait(None, "what does it say?").await;
    first(home.notes.root());
    running.send_and_wait(Some(&conversation), "please").await;
    let waiting = running.pending_paths(&conversation).await;
    let waiting: Vec<&str> = waiting.iter().map(String::as_str).collect();
    running.decide(&conversation, &waiting, &[]).await.expect("applied");
    assert_eq!(home.notes.try_read(NOTE), None, "{tool}");
    second(home.notes.root());
    running.send_and_wait(Some(&conversation), "and now?").await;
    last_request(running, model).await
}

fn target_is_moved_and_replaced(root: &Path) {
    let target = root.join("Birds/Canary.md");
    fs::rename(&target, root.join("Diary/Canary.md")).expect("moved");
    fs::write(target, "another\n").expect("written");
}

fn target_is_saved_as_programs_do(root: &Path) {
    fs::write(root.join("Birds/.new"), "# Bird\n\nelse\n").expect("written");
    fs::rename(root.join("Birds/.new"), root.join("Birds/Canary.md")).expect("renamed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_ours_opens_the_note_that_was_read_and_no_other() {
    let moves = || ("move_file", json!({ "source": NOTE, "destination": "Birds/Canary.md" }));
    let deletes = || ("delete_file", json!({ "path": NOTE }));
    let stories: [(VaultEvent, (&'static str, Value), VaultEvent, bool); 7] = [
        (nothing, moves(), target_is_moved_and_replaced, false),
        (is_moved_and_replaced, moves(), nothing, false),
        (is_moved_and_replaced, deletes(), nothing, false),
        // The controls.
        (nothing, moves(), nothing, true),
        (nothing, moves(), private_note_is_written, true),
        (nothing, moves(), target_is_saved_as_programs_do, true),
        (nothing, deletes(), private_note_is_written, true),
    ];
    for (number, (first, change, second, is_told)) in stories.into_iter().enumerate() {
        let told = told_after_accepted_change(first, change, second).await;
        assert_eq!(told.contains(CANARY), is_told, "story {number}: {told}");
        assert!(told.contains("what does it say?"), "story {number}: {told}");
    }
}

/// The last request after the user accepted this change of the note, another note got its path, a turn of another
/// conversation read that one, and then this happened.
async fn told_after_older_change((tool, call): (&'static str, Value), event: VaultEvent) -> String {
    let home = home();
    let mut replies = vec![Reply::calls(vec![(tool, call)]), Reply::text("It waits.")];
    replies.extend(read_replies());
    replies.push(Reply::text("Well."));
    let model = ScriptedModel::start(replies).await;
    let running = home.open(settings(&model, &["Diary/"])).await;
    let text = home.notes.read(NOTE);
    let conversation = running.send_and_wait(None, "tidy up").await;
    running.decide(&conversation, &[NOTE], &[]).await.expect("applied");
    assert_eq!(home.notes.try_read(NOTE), None, "{tool}");
    home.notes.write(NOTE, &text);
    let conversation = running.send_and_wait(None, "what does it say?").await;
    event(home.notes.root());
    running.send_and_wait(Some(&conversation), "and now?").await;
    last_request(running, model).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_ours_does_not_open_a_note_that_was_made_and_read_after_it() {
    let moves = || ("move_file", json!({ "source": NOTE, "destination": "Birds/Canary.md" }));
    let deletes = || ("delete_file", json!({ "path": NOTE }));
    for change in [moves(), deletes()] {
        let told = told_after_older_change(change.clone(), move_note).await;
        assert!(!told.contains(CANARY) && told.contains("what does it say?"), "{change:?}: {told}");
        let told = told_after_older_change(change, nothing).await;
        assert!(told.contains(CANARY), "the control: {told}");
    }
}
