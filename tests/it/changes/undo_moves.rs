//! Moves and deletions are undone with all links right, also those that were added since.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use protocol::changes::history::{AppliedSet, ChangeStatus, ListApplied, UndoScope};
use protocol::{AppEvent, ConversationId};
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use super::undo_identity::app_after_calls;
use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

/// The application after the model made one call and the user accepted all of it.
async fn app_after_call(
    notes: &[(&str, &str)],
    tool: &'static str,
    call: Value,
) -> (TestHome, RunningApp) {
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![(tool, call)]),
        Reply::text("It needs your review."),
    ])
    .await;
    let home = home_with_key(notes);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    let review = running.view(&conversation).await.review.expect("it is pending");
    let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
    running.decide(&conversation, &paths, &[]).await.expect("applied");
    (home, running)
}

async fn applied_sets(app: &RunningApp) -> Vec<AppliedSet> {
    let all = ListApplied { conversation: None, before: None };
    app.app.list_applied(&all).await.expect("a list").sets
}

async fn newest_set(app: &RunningApp) -> AppliedSet {
    applied_sets(app).await.remove(0)
}

/// How each note of a set stands by now.
async fn standings(app: &RunningApp, set: &AppliedSet) -> Vec<ChangeStatus> {
    let now = applied_sets(app).await.into_iter().find(|now| now.id == set.id);
    now.expect("it is listed").notes.iter().map(|note| note.standing).collect()
}

fn scope_of_set(set: &AppliedSet) -> UndoScope {
    UndoScope::ChangeSet { change_set: set.id.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_note_comes_back_with_the_links_that_were_added_since() {
    let notes = [("Plan.md", "# Plan\n"), ("Old.md", "see [[Plan]]\n"), ("New.md", "nothing\n")];
    let call = json!({ "source": "Plan.md", "destination": "Work/The plan.md" });
    let (home, running) = app_after_call(&notes, "move_file", call).await;
    assert_eq!(home.notes.read("Old.md"), "see [[The plan]]\n");
    home.notes.write("New.md", "now [[The plan#Plan|it]] too\n");
    let set = newest_set(&running).await;

    let undone = running.app.undo(&scope_of_set(&set)).await.expect("undone");
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read("Plan.md"), "# Plan\n");
    assert_eq!(home.notes.read("Old.md"), "see [[Plan]]\n");
    assert_eq!(home.notes.read("New.md"), "now [[Plan#Plan|it]] too\n");

    let redone = running.app.redo(&scope_of_set(&set)).await.expect("redone");
    assert!(redone.conflicts.is_empty(), "{redone:?}");
    assert_eq!(home.notes.read("Work/The plan.md"), "# Plan\n");
    assert_eq!(home.notes.read("Old.md"), "see [[The plan]]\n");
    assert_eq!(home.notes.read("New.md"), "now [[The plan#Plan|it]] too\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_restored_where_another_note_took_the_name_of_its_note() {
    let notes = [("Plan.md", "old\n"), ("New.md", "new\n"), ("Links.md", "[[Plan]]\n\n[[New]]\n")];
    let move_to =
        |from: &str, to: &str| ("move_file", json!({ "source": from, "destination": to }));
    let calls = [move_to("Plan.md", "Plan 2025.md"), move_to("New.md", "Plan.md")];
    let calls = calls.map(|call| vec![call]).to_vec();
    let (home, running, conversation) = app_after_calls(&notes, calls, |_| {}).await;
    assert_eq!(home.notes.read("Links.md"), "[[Plan 2025]]\n\n[[Plan]]\n");
    // The control: a link that was added since is rewritten.
    home.notes.write("Links.md", "[[Plan 2025]]\n\n[[Plan]]\n\n- [[Plan 2025]]\n");
    let scope = UndoScope::Conversation { conversation };

    running.app.undo(&scope).await.expect("undone");
    for (path, text) in [notes[0], notes[1]] {
        assert_eq!(home.notes.read(path), text);
    }
    assert_eq!(home.notes.read("Links.md"), "[[Plan]]\n\n[[New]]\n\n- [[Plan]]\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_folder_comes_back_with_what_was_written_in_it_since() {
    let notes =
        [("A/One.md", "one [[A/Two]]\n"), ("A/Two.md", "two\n"), ("Top.md", "[x](A/One.md)\n")];
    let call = json!({ "source": "A/", "destination": "Archive/B" });
    let (home, running) = app_after_call(&notes, "move_file", call).await;
    assert_eq!(home.notes.read("Top.md"), "[x](Archive/B/One.md)\n");
    home.notes.write("Archive/B/Two.md", "two\nand more\n");
    home.notes.write("Archive/B/Three.md", "three\n");
    let set = newest_set(&running).await;

    let undone = running.app.undo(&scope_of_set(&set)).await.expect("undone");
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read("Top.md"), "[x](A/One.md)\n");
    assert_eq!(home.notes.read("A/One.md"), "one [[A/Two]]\n");
    assert_eq!(home.notes.read("A/Two.md"), "two\nand more\n");
    assert_eq!(home.notes.read("A/Three.md"), "three\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_folder_and_a_deleted_note_come_back_from_the_trash() {
    for (path, call) in [("A/", json!({ "path": "A/" })), ("A/One.md", json!({ "path": "A/One" }))]
    {
        let notes = [("A/One.md", "one\n"), ("A/Two.md", "two\n"), ("Top.md", "[[One]]\n")];
        let (home, running) = app_after_call(&notes, "delete_file", call).await;
        assert_eq!(home.notes.try_read("A/One.md"), None, "{path}");
        let set = newest_set(&running).await;
        let undone = running.app.undo(&scope_of_set(&set)).await.expect("undone");
        assert!(undone.conflicts.is_empty(), "{path}: {undone:?}");
        for (note, text) in notes {
            assert_eq!(home.notes.read(note), text, "{path}");
        }
        running.app.redo(&scope_of_set(&set)).await.expect("redone");
        assert_eq!(home.notes.try_read("A/One.md"), None, "{path}");
        running.quit().await;
    }
}

pub(crate) fn close_note(home: &TestHome, note: &str) {
    let note = home.notes.root().join(note);
    fs::set_permissions(note, Permissions::from_mode(0o600)).expect("closed");
}

pub(crate) fn mode(home: &TestHome, note: &str) -> u32 {
    let about = fs::metadata(home.notes.root().join(note)).expect("it is there");
    about.permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_note_comes_back_as_closed_as_it_was_also_from_an_emptied_trash() {
    for is_emptied in [false, true] {
        let calls = vec![vec![("delete_file", json!({ "path": "Diary.md" }))]];
        let notes = [("Diary.md", "secret\n"), ("Top.md", "top\n")];
        let close = |home: &TestHome| close_note(home, "Diary.md");
        let (home, running, _) = app_after_calls(&notes, calls, close).await;
        if is_emptied {
            let trashed = home.notes.root().join(".trash/Diary.md");
            fs::remove_file(trashed).expect("it went there");
        }
        let set = newest_set(&running).await;
        running.app.undo(&scope_of_set(&set)).await.expect("undone");
        assert_eq!(home.notes.read("Diary.md"), "secret\n");
        assert_eq!(mode(&home, "Diary.md"), 0o600, "emptied: {is_emptied}");
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_note_comes_back_as_closed_as_it_was_with_links_of_today() {
    let moved = json!({ "source": "Plan.md", "destination": "Work/The plan.md" });
    let calls =
        vec![vec![("move_file", moved)], vec![("delete_file", json!({ "path": "Diary.md" }))]];
    let write_diary = |home: &TestHome| {
        home.notes.write("Diary.md", "see [[The plan]]\n");
        close_note(home, "Diary.md");
    };
    let notes = [("Plan.md", "# Plan\n"), ("Top.md", "top\n")];
    let (home, running, conversation) = app_after_calls(&notes, calls, write_diary).await;
    assert_eq!(home.notes.try_read("Diary.md"), None);
    undo_conversation(&running, &conversation).await;
    assert_eq!(home.notes.read("Diary.md"), "see [[Plan]]\n");
    assert_eq!(mode(&home, "Diary.md"), 0o600);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_was_made_is_undone_around_what_stands_in_it() {
    let notes = [("x.md", "x\n"), ("Top.md", "top\n")];
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("create_folder", json!({ "path": "New" }))]),
        Reply::calls(vec![("move_file", json!({ "source": "x.md", "destination": "New/x.md" }))]),
        Reply::text("It needs your review."),
    ])
    .await;
    let home = home_with_key(&notes);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    let review = running.view(&conversation).await.review.expect("it is pending");
    let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
    running.decide(&conversation, &paths, &[]).await.expect("applied");
    assert_eq!(home.notes.read("New/x.md"), "x\n");
    let set = newest_set(&running).await;
    let undone = running.app.undo(&scope_of_set(&set)).await.expect("undone");
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read("x.md"), "x\n");
    assert!(home.notes.root().join("New").is_dir(), "it went with the note still in it");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_folder_of_the_same_name_does_not_come_back_from_the_trash() {
    let notes = [("A/One.md", "one\n"), ("Top.md", "[[One]]\n")];
    let (home, running) = app_after_call(&notes, "delete_file", json!({ "path": "A/" })).await;
    let trash = home.notes.root().join(".trash");
    fs::remove_dir_all(&trash).expect("emptied");
    fs::create_dir_all(trash.join("A")).expect("a folder");
    fs::write(trash.join("A/Other.md"), "other\n").expect("a note");
    let set = newest_set(&running).await;
    let undone = running.app.undo(&scope_of_set(&set)).await.expect("tried");
    assert!(
        undone.conflicts[0].why.contains("The folder in the trash no longer holds"),
        "{undone:?}"
    );
    assert_eq!(home.notes.try_read("A/Other.md"), None);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_review_of_a_folders_deletion_shows_what_goes_and_nothing_else_does() {
    let notes = [("A/One.md", "one\n"), ("A/Deep/Two.md", "two\n"), ("Top.md", "top\n")];
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("delete_file", json!({ "path": "A/" }))]),
        Reply::text("It needs your review."),
    ])
    .await;
    let home = home_with_key(&notes);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    let review = running.view(&conversation).await.review.expect("it is pending");
    let lines = review.notes[0].hunks.iter().flat_map(|hunk| &hunk.lines);
    let shown: Vec<String> =
        lines.map(|line| line.words.iter().map(|words| words.text.as_str()).collect()).collect();
    assert_eq!(shown, ["Deep/Two.md", "One.md"]);

    home.notes.write("A/Theirs.md", "theirs\n");
    let _told_in_the_review = running.decide(&conversation, &["A"], &[]).await;
    let review = running.view(&conversation).await.review.expect("it is still pending");
    let problem = review.notes[0].problem.as_deref().unwrap_or_default();
    assert!(problem.contains("has other contents than when this was planned"), "{problem}");
    for (note, text) in notes.iter().chain(&[("A/Theirs.md", "theirs\n")]) {
        assert_eq!(home.notes.read(note), *text);
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_came_back_and_was_written_in_does_not_go_again() {
    let notes = [("A/One.md", "one\n"), ("Top.md", "[[One]]\n")];
    let (home, running) = app_after_call(&notes, "delete_file", json!({ "path": "A/" })).await;
    let set = newest_set(&running).await;
    running.app.undo(&scope_of_set(&set)).await.expect("undone");
    home.notes.write("A/Theirs.md", "theirs\n");
    let redone = running.app.redo(&scope_of_set(&set)).await.expect("tried");
    assert!(
        redone.conflicts[0].why.contains("Files in this folder have changed since then"),
        "{redone:?}"
    );
    assert_eq!(home.notes.read("A/Theirs.md"), "theirs\n");
    assert_eq!(home.notes.read("A/One.md"), "one\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_was_made_goes_when_it_is_empty() {
    let call = json!({ "path": "New/Deep" });
    let (home, running) = app_after_call(&[("Top.md", "x\n")], "create_folder", call).await;
    assert!(home.notes.root().join("New/Deep").is_dir());
    let set = newest_set(&running).await;
    running.app.undo(&scope_of_set(&set)).await.expect("undone");
    assert!(!home.notes.root().join("New/Deep").exists());
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn overwritten_link_is_reapplied_and_the_moved_note_stays() {
    let notes = [("Plan.md", "# Plan\n"), ("Index.md", "see [Plan](Plan.md)\n")];
    let call = json!({ "source": "Plan.md", "destination": "Archive/Plan.md" });
    let (home, running) = app_after_call(&notes, "move_file", call).await;
    assert_eq!(home.notes.read("Index.md"), "see [Plan](Archive/Plan.md)\n");
    let set = newest_set(&running).await;
    home.notes.write("Index.md", "see [Plan](Plan.md)\nand more\n");
    let effect = running
        .wait_for_event("an overwritten link", |event| match event {
            AppEvent::AppliedChanged { set } => {
                let note = set.notes.iter().find(|n| n.standing == ChangeStatus::Overwritten)?;
                Some(note.effect.clone())
            }
            _ => None,
        })
        .await;
    let reapplied = running.app.reapply(&effect).await.expect("reapplied");
    assert!(reapplied.conflicts.is_empty(), "{reapplied:?}");
    assert_eq!(home.notes.read("Index.md"), "see [Plan](Archive/Plan.md)\nand more\n");
    assert_eq!(home.notes.read("Archive/Plan.md"), "# Plan\n");
    assert_eq!(home.notes.try_read("Plan.md"), None);
    assert_eq!(standings(&running, &set).await, [ChangeStatus::Stands; 2]);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deletion_in_a_folder_that_was_moved_later_is_undone_and_redone() {
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("delete_file", json!({ "path": "Old/n.md" }))]),
        Reply::calls(vec![("move_file", json!({ "source": "Old/", "destination": "New" }))]),
        Reply::text("It needs your review."),
    ])
    .await;
    let home = home_with_key(&[("Old/n.md", "n\n"), ("Old/stays.md", "stays\n")]);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    let review = running.view(&conversation).await.review.expect("it is pending");
    let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
    running.decide(&conversation, &paths, &[]).await.expect("applied");
    let set = newest_set(&running).await;

    let undone = running.app.undo(&scope_of_set(&set)).await.expect("undone");
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read("Old/n.md"), "n\n");
    assert_eq!(home.notes.read("Old/stays.md"), "stays\n");
    assert_eq!(standings(&running, &set).await, [ChangeStatus::Undone; 2]);
    running.app.undo(&scope_of_set(&set)).await.expect_err("nothing is left to undo");

    let redone = running.app.redo(&scope_of_set(&set)).await.expect("redone");
    assert!(redone.conflicts.is_empty(), "{redone:?}");
    assert_eq!(home.notes.read("New/stays.md"), "stays\n");
    assert_eq!(home.notes.try_read("New/n.md"), None);
    assert_eq!(home.notes.try_read("Old/n.md"), None);
    assert_eq!(standings(&running, &set).await, [ChangeStatus::Stands; 2]);
    running.quit().await;
}

/// Undoes all changes of a conversation, each of which then counts as undone.
pub(crate) async fn undo_conversation(running: &RunningApp, conversation: &ConversationId) {
    let scope = UndoScope::Conversation { conversation: conversation.clone() };
    let undone = running.app.undo(&scope).await.expect("undone");
    assert_eq!((undone.conflicts.as_slice(), undone.left), (&[][..], 0));
    for set in applied_sets(running).await.iter().skip(1) {
        let standings: Vec<_> = set.notes.iter().map(|note| note.standing).collect();
        assert_eq!(standings, vec![ChangeStatus::Undone; set.notes.len()], "{set:?}");
    }
    running.app.undo(&scope).await.expect_err("nothing is left to undo");
}

#[tokio::test(flavor = "multi_thread")]
async fn move_into_a_folder_that_was_renamed_later_is_undone_and_redone() {
    let call =
        |from: &str, to: &str| vec![("move_file", json!({ "source": from, "destination": to }))];
    let calls = vec![call("a.md", "Old/a.md"), call("Old/", "New")];
    let notes = [("a.md", "a\n"), ("Old/stays.md", "stays\n"), ("Links.md", "[x](a.md)\n")];
    let (home, running, conversation) = app_after_calls(&notes, calls, |_| {}).await;
    assert_eq!(home.notes.read("Links.md"), "[x](New/a.md)\n");
    undo_conversation(&running, &conversation).await;
    for (note, text) in notes {
        assert_eq!(home.notes.read(note), text);
    }
    let scope = UndoScope::Conversation { conversation };
    let redone = running.app.redo(&scope).await.expect("redone");
    assert!(redone.conflicts.is_empty(), "{redone:?}");
    assert_eq!(home.notes.read("New/a.md"), "a\n");
    assert_eq!(home.notes.read("Links.md"), "[x](New/a.md)\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deletions_of_a_note_and_then_of_its_folder_are_undone_together() {
    let calls = ["Old/n.md", "Old/"].map(|path| vec![("delete_file", json!({ "path": path }))]);
    let notes = [("Old/n.md", "n\n"), ("Old/stays.md", "stays\n"), ("Top.md", "top\n")];
    let (home, running, conversation) = app_after_calls(&notes, calls.into(), |_| {}).await;
    assert!(!home.notes.root().join("Old").exists());
    undo_conversation(&running, &conversation).await;
    for (note, text) in notes {
        assert_eq!(home.notes.read(note), text);
    }
    let scope = UndoScope::Conversation { conversation };
    let redone = running.app.redo(&scope).await.expect("redone");
    assert!(redone.conflicts.is_empty(), "{redone:?}");
    assert!(!home.notes.root().join("Old").exists());
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_notes_and_the_deletion_of_their_folder_are_undone_together() {
    let made = json!({ "path": "F/new.md", "content": "new\n" });
    let edit = json!({ "path": "F/old.md", "old_text": "old", "new_text": "changed" });
    let calls = vec![
        vec![("write_file", made)],
        vec![("edit_file", edit)],
        vec![("delete_file", json!({ "path": "F/" }))],
    ];
    let notes = [("F/old.md", "old\n"), ("Top.md", "top\n")];
    let (home, running, conversation) = app_after_calls(&notes, calls, |_| {}).await;
    assert!(!home.notes.root().join("F").exists());
    undo_conversation(&running, &conversation).await;
    assert_eq!(home.notes.read("F/old.md"), "old\n");
    assert_eq!(home.notes.try_read("F/new.md"), None, "the created note is in the trash");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_in_a_folder_that_is_gone_from_the_trash_are_reported() {
    let edit = json!({ "path": "F/old.md", "old_text": "old", "new_text": "changed" });
    let calls = vec![vec![("edit_file", edit)], vec![("delete_file", json!({ "path": "F/" }))]];
    let notes = [("F/old.md", "old\n"), ("Top.md", "top\n")];
    let (home, running, conversation) = app_after_calls(&notes, calls, |_| {}).await;
    fs::remove_dir_all(home.notes.root().join(".trash")).expect("emptied");
    let scope = UndoScope::Conversation { conversation };
    let undone = running.app.undo(&scope).await.expect("tried");
    let whys: Vec<_> = undone.conflicts.iter().map(|conflict| conflict.why.as_str()).collect();
    assert_eq!(whys.len(), 2, "{undone:?}");
    assert!(whys[0].contains("no longer exists"), "{whys:?}");
    // The note can be restored all the same.
    running.app.resolve_conflict(&undone.conflicts[0]).await.expect("restored");
    assert_eq!(home.notes.read("F/old.md"), "old\n");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redo_of_one_change_leaves_a_move_that_was_undone_with_it() {
    let edit = json!({ "path": "Diary.md", "old_text": "one", "new_text": "two" });
    let moved = json!({ "source": "Plan.md", "destination": "Work/The plan.md" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("edit_file", edit)]),
        Reply::calls(vec![("move_file", moved)]),
        Reply::text("It needs your review."),
    ])
    .await;
    let notes = [("Plan.md", "# Plan\n"), ("Links.md", "see [[Plan]]\n"), ("Diary.md", "one\n")];
    let home = home_with_key(&notes);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    let review = running.view(&conversation).await.review.expect("it is pending");
    let paths: Vec<_> = review.notes.iter().map(|note| note.path.as_str()).collect();
    running.decide(&conversation, &paths, &[]).await.expect("applied");
    let set = newest_set(&running).await;
    let undone = running.app.undo(&UndoScope::Turn { turn: set.turn.clone() }).await;
    assert_eq!(undone.expect("undone").changed.len(), 3);

    let redo = async |path: &str| {
        let note = set.notes.iter().find(|note| note.path.as_str() == path).expect(path);
        let scope = UndoScope::Effect { effect: note.effect.clone(), hunks: Vec::new() };
        let redone = running.app.redo(&scope).await.expect("redone");
        assert!(redone.conflicts.is_empty(), "{redone:?}");
    };
    redo("Diary.md").await;
    assert_eq!(home.notes.read("Diary.md"), "two\n");
    assert_eq!(home.notes.read("Plan.md"), "# Plan\n", "it stays where it is");
    assert_eq!(home.notes.read("Links.md"), "see [[Plan]]\n");

    // The control: a move brings its links along.
    redo("Plan.md").await;
    assert_eq!(home.notes.read("Work/The plan.md"), "# Plan\n");
    assert_eq!(home.notes.read("Links.md"), "see [[The plan]]\n");
    assert_eq!(standings(&running, &set).await, [ChangeStatus::Stands; 3]);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_moves_where_one_note_took_the_path_of_the_other_are_undone_together() {
    let call =
        |from: &str, to: &str| vec![("move_file", json!({ "source": from, "destination": to }))];
    let calls = vec![call("Plan.md", "Old.md"), call("New.md", "Plan.md")];
    let notes = [
        ("Plan.md", "# Plan\n"),
        ("New.md", "# New\n"),
        ("Links.md", "[x](Plan.md)\n\nmiddle\n\n[y](New.md)\n"),
    ];
    let (home, running, conversation) = app_after_calls(&notes, calls, |_| {}).await;
    let links = home.notes.read("Links.md");
    assert_eq!(links, "[x](Old.md)\n\nmiddle\n\n[y](Plan.md)\n");
    undo_conversation(&running, &conversation).await;
    for (note, text) in notes {
        assert_eq!(home.notes.read(note), text);
    }
    assert_eq!(home.notes.try_read("Old.md"), None);
    let redone = running.app.redo(&UndoScope::Conversation { conversation }).await;
    let redone = redone.expect("redone");
    assert!(redone.conflicts.is_empty(), "{redone:?}");
    assert_eq!(home.notes.read("Old.md"), "# Plan\n");
    assert_eq!(home.notes.read("Plan.md"), "# New\n");
    assert_eq!(home.notes.read("Links.md"), links);
    running.quit().await;
}
