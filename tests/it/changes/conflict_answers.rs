//! The answer to a conflict completes the request that met it: a reapplied change stands afterwards, and is not
//! undone; a move goes back with the links to it.

use std::collections::BTreeMap;
use std::fs;

use protocol::AppEvent;
use protocol::changes::history::{
    AppliedBy, AppliedSet, ChangeStatus, ListApplied, UndoAction, UndoResult, UndoScope,
};
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use super::undo::second_plan::{edit, move_to};
use super::undo_identity::{
    LOG, WATERED, answer, app_after_call, app_after_calls, app_after_edit, only_conflict,
};
use super::undo_moves::{close_note, mode};
use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

async fn sets(app: &RunningApp) -> Vec<AppliedSet> {
    let all = ListApplied { conversation: None, before: None };
    app.app.list_applied(&all).await.expect("a list").sets
}

/// Reapplies the only change of the oldest set.
async fn reapply(app: &RunningApp) -> UndoResult {
    let effect = sets(app).await.last().expect("a set").notes[0].effect.clone();
    app.app.reapply(&effect).await.expect("reapplied as far as it goes")
}

/// The oldest set stands, and the newest one is the reapplied change.
async fn assert_reapplied(app: &RunningApp) -> UndoScope {
    let sets = sets(app).await;
    let [reapplied, changed] = sets.as_slice() else { panic!("{sets:?}") };
    assert_eq!((reapplied.by, changed.by), (AppliedBy::Reapply, AppliedBy::Assistant));
    assert_eq!(changed.notes[0].standing, ChangeStatus::Stands);
    UndoScope::ChangeSet { change_set: reapplied.id.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn reapplied_lines_replace_the_conflicting_ones_and_the_change_stands() {
    let (home, running) = app_after_edit("Log.md", &[]).await;
    let by_hand = "# Log\n\nswept the yard\nwatered nothing\n";
    home.notes.write("Log.md", by_hand);

    let reapplied = reapply(&running).await;
    let conflict = only_conflict(&reapplied);
    let [place] = conflict.places.as_slice() else { panic!("{conflict:?}") };
    assert_eq!(conflict.action, UndoAction::Reapply);
    assert_eq!(
        (place.now.as_str(), place.back.as_str()),
        ("watered nothing\n", "watered the plants\n")
    );
    running.app.resolve_conflict(conflict).await.expect("resolved");

    assert_eq!(home.notes.read("Log.md"), WATERED);
    let scope = assert_reapplied(&running).await;
    running.app.undo(&scope).await.expect("undone");
    assert_eq!(home.notes.read("Log.md"), by_hand, "its own undo brings back what it replaced");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reapplied_creation_replaces_the_text_and_keeps_the_note() {
    let call = json!({ "path": "Log.md", "content": LOG });
    let (home, running) = app_after_call(&[], "write_file", call).await;
    home.notes.write("Log.md", "rewritten by hand\n");

    let reapplied = reapply(&running).await;
    running.app.resolve_conflict(only_conflict(&reapplied)).await.expect("resolved");

    assert_eq!(home.notes.try_read("Log.md").as_deref(), Some(LOG));
    assert_reapplied(&running).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn note_that_is_gone_is_restored_with_the_reapplied_change() {
    let (home, running) = app_after_edit("Log.md", &[]).await;
    fs::remove_file(home.notes.root().join("Log.md")).expect("removed");

    let reapplied = reapply(&running).await;
    let conflict = only_conflict(&reapplied);
    assert_eq!(conflict.places[0].back, WATERED, "with the change");
    running.app.resolve_conflict(conflict).await.expect("restored");

    assert_eq!(home.notes.read("Log.md"), WATERED);
    assert_reapplied(&running).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn change_is_reapplied_in_the_note_that_the_user_says_it_is_about() {
    let edit =
        json!({ "path": "Log.md", "old_text": "yard\n", "new_text": "yard\nwatered the plants\n" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("edit_file", edit)]),
        Reply::text("It needs your review."),
    ])
    .await;
    let home = home_with_key(&[("Log.md", LOG)]);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    running.decide(&conversation, &["Log.md"], &[]).await.expect("applied");
    running.quit().await;
    // Unseen: another file with the old text comes in the place of the note.
    fs::remove_file(home.notes.root().join("Log.md")).expect("removed");
    home.notes.write("Log.md", format!("{LOG}fed the cat\n"));

    let running = home.open(settings_with_model(&model)).await;
    let asked = reapply(&running).await;
    let target = answer(only_conflict(&asked));
    assert_eq!((target.action, target.note.path.as_str()), (UndoAction::Reapply, "Log.md"));
    // An answer about a file that is away by now is asked again, for the same request.
    fs::remove_file(home.notes.root().join("Log.md")).expect("removed");
    home.notes.write("Log.md", format!("{LOG}fed the dog\n"));
    let asked = running.app.undo_in_note(&target).await.expect("asked again");
    let target = answer(only_conflict(&asked));
    assert_eq!(target.action, UndoAction::Reapply);

    let reapplied = running.app.undo_in_note(&target).await.expect("reapplied there");
    // Both added lines at the end: the place is in conflict, and the next answer keeps to the request too.
    running.app.resolve_conflict(only_conflict(&reapplied)).await.expect("resolved");
    assert_eq!(home.notes.read("Log.md"), WATERED);
    let standing = sets(&running).await.last().expect("a set").notes[0].standing;
    assert_eq!(standing, ChangeStatus::Stands);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conflict_of_a_redo_is_redone_and_the_change_is_shown_to_stand() {
    let (home, running) = app_after_edit("Log.md", &[]).await;
    let set = sets(&running).await.remove(0);
    let scope = UndoScope::ChangeSet { change_set: set.id.clone() };
    running.app.undo(&scope).await.expect("undone");
    home.notes.write("Log.md", "# Log\n\nswept the yard\nwatered nothing\n");

    let redone = running.app.redo(&scope).await.expect("as far as it goes");
    let conflict = only_conflict(&redone);
    assert_eq!(conflict.action, UndoAction::Redo);
    running.app.resolve_conflict(conflict).await.expect("resolved");

    assert_eq!(home.notes.read("Log.md"), WATERED);
    let shown = |event: &AppEvent| match event {
        AppEvent::AppliedChanged { set: shown } if shown.id == set.id => {
            Some(shown.notes[0].standing)
        }
        _ => None,
    };
    let is_shown = async || {
        let last = running.heard_so_far(shown).pop();
        (last == Some(ChangeStatus::Stands)).then_some(())
    };
    running.until("the change shown as standing", is_shown).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn note_that_an_answer_deleted_comes_back_with_the_lines_that_it_had_then() {
    let notes = [("Log.md", LOG), ("Other.md", "other\n")];
    let (home, running) = app_after_call(&notes, "delete_file", json!({ "path": "Log.md" })).await;
    let scope = UndoScope::ChangeSet { change_set: sets(&running).await.remove(0).id };
    undo(&running, &scope).await;
    // The control: the text of the first deletion is not the text of the second one.
    assert_eq!(home.notes.read("Log.md"), LOG);
    home.notes.write("Log.md", WATERED);
    let redone = running.app.redo(&scope).await.expect("as far as it goes");
    assert_eq!(home.notes.read("Log.md"), WATERED);
    running.app.resolve_conflict(only_conflict(&redone)).await.expect("deleted");
    assert_eq!(home.notes.try_read("Log.md"), None);

    let undone = undo(&running, &scope).await;
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read("Log.md"), WATERED);
    running.quit().await;
}

const MOVED: &str = "Work/The plan.md";

/// The application after `Plan.md` was moved, and two notes were edited in the lines that link to it.
async fn app_after_move() -> (TestHome, RunningApp, UndoScope) {
    let notes =
        [("Plan.md", "# Plan\n"), ("One.md", "one [[Plan]]\n"), ("Two.md", "two [[Plan]]\n")];
    let calls = vec![edit("One.md", "one", "ONE"), edit("Two.md", "two", "TWO")];
    let calls = calls.into_iter().chain([move_to("Plan.md", MOVED)]).collect();
    let (home, running, _) = app_after_calls(&notes, vec![calls], |_| {}).await;
    assert_links(&home, ["ONE [[The plan]]\n", "TWO [[The plan]]\n"], MOVED);
    let change_set = sets(&running).await.remove(0).id;
    (home, running, UndoScope::ChangeSet { change_set })
}

/// How the change of each note of the oldest set stands.
async fn standings(app: &RunningApp) -> BTreeMap<String, ChangeStatus> {
    let first = sets(app).await.pop().expect("a set");
    first.notes.into_iter().map(|note| (note.path.to_string(), note.standing)).collect()
}

async fn assert_all(app: &RunningApp, standing: ChangeStatus) {
    let all = standings(app).await;
    assert!(all.values().all(|one| *one == standing), "{all:?}");
}

fn assert_links(home: &TestHome, texts: [&str; 2], plan_at: &str) {
    assert_eq!(["One.md", "Two.md"].map(|note| home.notes.read(note)), texts);
    for at in ["Plan.md", MOVED] {
        let expected = (at == plan_at).then_some("# Plan\n");
        assert_eq!(home.notes.try_read(at).as_deref(), expected, "{at}");
    }
}

async fn undo(app: &RunningApp, scope: &UndoScope) -> UndoResult {
    app.app.undo(scope).await.expect("as far as it goes")
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_about_a_link_undoes_the_move_with_it_as_one_set() {
    let (home, running, scope) = app_after_move().await;
    home.notes.write("One.md", "by hand [[The plan]]\n");
    let undone = undo(&running, &scope).await;
    let conflict = only_conflict(&undone);
    assert_eq!(conflict.path.as_str(), "One.md");
    // The control: without an answer everything is as it was.
    assert_links(&home, ["by hand [[The plan]]\n", "TWO [[The plan]]\n"], MOVED);
    assert_all(&running, ChangeStatus::Stands).await;

    let answered = running.app.resolve_conflict(conflict).await.expect("answered");
    assert_eq!((answered.changed.len(), answered.conflicts.len(), answered.left), (3, 0, 0));
    assert_links(&home, ["one [[Plan]]\n", "two [[Plan]]\n"], "Plan.md");
    assert_all(&running, ChangeStatus::Undone).await;

    let change_set = answered.change_set.expect("a set");
    undo(&running, &UndoScope::ChangeSet { change_set }).await;
    assert_links(&home, ["by hand [[The plan]]\n", "TWO [[The plan]]\n"], MOVED);
    assert_all(&running, ChangeStatus::Stands).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_about_a_link_redoes_the_move_with_it() {
    let (home, running, scope) = app_after_move().await;
    undo(&running, &scope).await;
    home.notes.write("One.md", "by hand [[Plan]]\n");
    let redone = running.app.redo(&scope).await.expect("as far as it goes");
    let conflict = only_conflict(&redone);
    assert_eq!(conflict.action, UndoAction::Redo);

    let answered = running.app.resolve_conflict(conflict).await.expect("answered");
    assert_eq!((answered.changed.len(), answered.conflicts.len(), answered.left), (3, 0, 0));
    assert_links(&home, ["ONE [[The plan]]\n", "TWO [[The plan]]\n"], MOVED);
    assert_all(&running, ChangeStatus::Stands).await;
    running.app.redo(&scope).await.expect_err("nothing is left to redo");
    running.quit().await;
}

/// Undoes and redoes the oldest set. Its change of the note is undone, and the user has changed that note since.
async fn assert_redo_is_shown_with_the_change(
    (home, app): (TestHome, RunningApp),
    (path, by_hand): (&str, &str),
) {
    let set = sets(&app).await.pop().expect("a set");
    let change = set.notes.iter().find(|note| note.path.as_str() == path).expect("its change");
    let scope = UndoScope::ChangeSet { change_set: set.id.clone() };
    undo(&app, &scope).await;
    home.notes.write(path, by_hand);
    let redone = app.app.redo(&scope).await.expect("as far as it goes");
    let conflict = only_conflict(&redone);
    assert_eq!((conflict.action, &conflict.listed), (UndoAction::Redo, &change.effect), "{path}");
    assert_ne!(conflict.effect, conflict.listed, "it is about the undo: {path}");
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conflict_of_a_redo_names_the_listed_change_that_was_undone() {
    let by_hand = "# Log\n\nswept the yard\nwatered nothing\n";
    let edited = app_after_edit("Log.md", &[]).await;
    assert_redo_is_shown_with_the_change(edited, ("Log.md", by_hand)).await;
    let (home, running, _) = app_after_move().await;
    assert_redo_is_shown_with_the_change((home, running), ("One.md", "by hand [[Plan]]\n")).await;
    let notes = [("Log.md", LOG), ("Other.md", "other\n")];
    let deleted = app_after_call(&notes, "delete_file", json!({ "path": "Log.md" })).await;
    assert_redo_is_shown_with_the_change(deleted, ("Log.md", by_hand)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conflict_of_an_undo_or_of_the_undo_of_a_redo_names_the_listed_change() {
    for is_redone in [false, true] {
        let (home, running) = app_after_edit("Log.md", &[]).await;
        let set = sets(&running).await.remove(0);
        let mut scope = UndoScope::ChangeSet { change_set: set.id.clone() };
        if is_redone {
            undo(&running, &scope).await;
            running.app.redo(&scope).await.expect("redone");
            scope = UndoScope::ChangeSet { change_set: sets(&running).await.remove(0).id };
        }
        home.notes.write("Log.md", "# Log\n\nswept the yard\nwatered nothing\n");
        let undone = undo(&running, &scope).await;
        let conflict = only_conflict(&undone);
        assert_eq!((conflict.action, &conflict.listed), (UndoAction::Undo, &set.notes[0].effect));
        assert_eq!(conflict.effect == conflict.listed, !is_redone);
        running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn move_stands_until_the_last_of_two_conflicts_is_answered() {
    let (home, running, scope) = app_after_move().await;
    home.notes.write("One.md", "by hand [[The plan]]\n");
    home.notes.write("Two.md", "too [[The plan]]\n");
    let undone = undo(&running, &scope).await;
    let [one, two] = undone.conflicts.as_slice() else { panic!("{undone:?}") };
    let (one, two) = if one.path.as_str() == "One.md" { (one, two) } else { (two, one) };

    let answered = running.app.resolve_conflict(one).await.expect("answered");
    let asked: Vec<_> = answered.conflicts.iter().map(|left| &left.effect).collect();
    assert_eq!((asked, answered.changed.len()), (vec![&two.effect], 1));
    // If the user keeps the second note, that is how it stays. The line leads to the note, which is still moved.
    assert_links(&home, ["one [[The plan]]\n", "too [[The plan]]\n"], MOVED);
    let now = standings(&running).await;
    let (undone, stands) = (ChangeStatus::Undone, ChangeStatus::Stands);
    assert_eq!(["One.md", "Two.md", "Plan.md"].map(|note| now[note]), [undone, stands, stands]);

    running.app.resolve_conflict(&answered.conflicts[0]).await.expect("answered");
    assert_links(&home, ["one [[Plan]]\n", "two [[Plan]]\n"], "Plan.md");
    assert_all(&running, ChangeStatus::Undone).await;
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_about_one_place_of_a_link_leaves_the_move_alone() {
    let (home, running, _) = app_after_move().await;
    home.notes.write("One.md", "by hand [[The plan]]\n");
    let notes = sets(&running).await.remove(0).notes;
    let link = notes.into_iter().find(|note| note.path.as_str() == "One.md").expect("a link");
    let undone = undo(&running, &UndoScope::Effect { effect: link.effect, hunks: vec![0] }).await;
    let conflict = only_conflict(&undone);
    assert_eq!(conflict.hunks, [0]);
    let answered = running.app.resolve_conflict(conflict).await.expect("answered");
    assert_eq!((answered.changed.len(), answered.conflicts.len()), (1, 0));
    assert_links(&home, ["one [[Plan]]\n", "TWO [[The plan]]\n"], MOVED);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_note_that_an_answer_makes_again_is_as_closed_as_it_was() {
    for is_emptied in [false, true] {
        let notes = [("Diary.md", "one\n"), ("Top.md", "top\n")];
        let delete = ("delete_file", json!({ "path": "Diary.md" }));
        let calls = vec![vec![edit("Diary.md", "one", "two")], vec![delete]];
        let close = |home: &TestHome| close_note(home, "Diary.md");
        let (home, running, _) = app_after_calls(&notes, calls, close).await;
        if is_emptied {
            fs::remove_dir_all(home.notes.root().join(".trash")).expect("emptied");
        }
        let edited = sets(&running).await.pop().expect("a set");
        let scope = UndoScope::ChangeSet { change_set: edited.id };
        let undone = undo(&running, &scope).await;
        running.app.resolve_conflict(only_conflict(&undone)).await.expect("restored");
        assert_eq!(home.notes.read("Diary.md"), "one\n");
        assert_eq!(mode(&home, "Diary.md"), 0o600, "emptied: {is_emptied}");
        // With the edit made again the note is deleted, as it was before the answer.
        let redone = running.app.redo(&scope).await.expect("redone");
        assert!(redone.conflicts.is_empty(), "{redone:?}");
        assert_eq!(home.notes.try_read("Diary.md"), None);
        running.quit().await;
    }
}
