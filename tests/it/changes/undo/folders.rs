//! Moves and deletions of folders are undone and redone beside other changes in those folders.

use protocol::ConversationId;
use protocol::changes::history::{ChangeStatus, UndoResult};
use serde_json::json;

use super::second_plan::{ScriptedCall, edit, move_to};
use super::{applied_sets, scope_of_set};
use crate::changes::undo_identity::{app_after_calls, only_conflict};
use crate::changes::undo_moves::undo_conversation;
use crate::harness::test_app::{RunningApp, TestHome};

const NOTES: [(&str, &str); 2] = [("Old/Plan.md", "# Plan\n\nfirst\n"), ("Links.md", "[[Plan]]\n")];

fn create(path: &str) -> ScriptedCall {
    ("write_file", json!({ "path": path, "content": "# New\n" }))
}

fn delete_folder(path: &str) -> ScriptedCall {
    ("delete_file", json!({ "path": path }))
}

/// The application after each call was accepted in a message of its own.
async fn app_after<const N: usize>(
    calls: [ScriptedCall; N],
) -> (TestHome, RunningApp, ConversationId) {
    app_after_calls(&NOTES, calls.map(|call| vec![call]).to_vec(), |_| {}).await
}

/// Undoes the changes of a message, by its place among them.
async fn undo_message(running: &RunningApp, message: usize) -> UndoResult {
    let set = applied_sets(running).await.into_iter().rev().nth(message).expect("a set");
    running.app.undo(&scope_of_set(&set)).await.expect("as far as it goes")
}

async fn redo_message(running: &RunningApp, message: usize) -> UndoResult {
    let set = applied_sets(running).await.into_iter().rev().nth(message).expect("a set");
    running.app.redo(&scope_of_set(&set)).await.expect("as far as it goes")
}

/// How the first change of a message stands.
async fn standing(running: &RunningApp, message: usize) -> ChangeStatus {
    let set = applied_sets(running).await.into_iter().rev().nth(message).expect("a set");
    set.notes[0].standing
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_comes_back_to_where_an_undo_left_an_empty_one() {
    for first in [move_to("Old/", "New"), delete_folder("Old/")] {
        let (home, running, _) = app_after([first, create("Old/New.md")]).await;
        let place = home.notes.root().join("Old");
        assert_eq!(undo_message(&running, 1).await.conflicts, []);
        assert!(place.is_dir() && home.notes.try_read("Old/New.md").is_none());
        // The control: a folder with anything in it keeps its place.
        std::fs::write(place.join(".keep"), "mine").expect("written");
        let refused = undo_message(&running, 0).await;
        let why = only_conflict(&refused).why.as_str();
        assert!(why.contains("Something else is in its place now"), "{why}");
        assert_eq!(std::fs::read(place.join(".keep")).expect("it stays"), b"mine");
        std::fs::remove_file(place.join(".keep")).expect("removed");

        assert_eq!(undo_message(&running, 0).await.conflicts, []);
        for (note, text) in NOTES {
            assert_eq!(home.notes.read(note), text);
        }
        assert_eq!(standing(&running, 0).await, ChangeStatus::Undone);
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_with_changed_files_is_not_deleted_again_and_the_reason_says_so() {
    let calls = [edit("Old/Plan.md", "first", "second"), delete_folder("Old/")];
    let (home, running, conversation) = app_after(calls).await;
    undo_conversation(&running, &conversation).await;
    assert_eq!(redo_message(&running, 0).await.conflicts, []);
    let refused = redo_message(&running, 1).await;
    let why = only_conflict(&refused).why.as_str();
    assert!(why.starts_with("Files in this folder have changed since then"), "{why}");
    assert_eq!(home.notes.read("Old/Plan.md"), "# Plan\n\nsecond\n");
    running.quit().await;

    // The control: where only the deletion is undone, it is made again.
    let (home, running, _) = app_after([delete_folder("Old/")]).await;
    assert_eq!(undo_message(&running, 0).await.conflicts, []);
    assert_eq!(redo_message(&running, 0).await.conflicts, []);
    assert!(!home.notes.root().join("Old").exists());
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_gets_a_name_that_differs_in_case_only() {
    let (home, running, _) = app_after([move_to("Old/", "OLD")]).await;
    let folders = || {
        let entries = std::fs::read_dir(home.notes.root()).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
        names.retain(|name| !name.starts_with('.') && !name.ends_with(".md"));
        names
    };
    assert_eq!(
        (folders(), home.notes.read("OLD/Plan.md").as_str()),
        (vec!["OLD".into()], NOTES[0].1)
    );
    assert_eq!(undo_message(&running, 0).await.conflicts, []);
    assert_eq!(
        (folders(), home.notes.read("Old/Plan.md").as_str()),
        (vec!["Old".into()], NOTES[0].1)
    );
    // A link leads there in either spelling.
    assert_eq!(home.notes.read("Links.md"), NOTES[1].1);
    running.quit().await;
}
