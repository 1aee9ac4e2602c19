//! One place of a change is undone alone, also where the user is asked first: which note is meant, or which
//! version stays.

use std::fs;

use protocol::EffectId;
use protocol::changes::history::{
    AppliedNote, AppliedSet, ChangeStatus, ListApplied, UndoConflict, UndoResult, UndoScope,
};
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use super::undo_identity::{answer, only_conflict};
use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

const NOTE: &str = "List.md";

/// The list of twenty lines; `changed` replaces some of them.
fn list(changed: &[(usize, &str)]) -> String {
    let line = |number: usize| match changed.iter().find(|(at, _)| *at == number) {
        Some((_, text)) => (*text).to_owned(),
        None => format!("line {number}\n"),
    };
    (1..=20).map(line).collect()
}

/// The note after the change of its three places. The first adds a line, and so moves the others.
const THIRD: (usize, &str) = (3, "third\nand more\n");
const TENTH: (usize, &str) = (10, "tenth\n");
const SIXTEENTH: (usize, &str) = (16, "sixteenth\n");

/// The application after a note was changed in three places, and the change.
async fn app_after_three_places() -> (TestHome, RunningApp, EffectId) {
    let home = home_with_key(&[(NOTE, &list(&[]))]);
    let after = list(&[THIRD, TENTH, SIXTEENTH]);
    let write = json!({ "path": NOTE, "content": after, "overwrite": true });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": NOTE }))]),
        Reply::calls(vec![("write_file", write)]),
        Reply::text("Done."),
    ])
    .await;
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "change it").await;
    running.decide(&conversation, &[NOTE], &[]).await.expect("applied");
    assert_eq!(home.notes.read(NOTE), after);
    let effect = sets(&running).await.remove(0).notes.remove(0).effect;
    (home, running, effect)
}

async fn sets(app: &RunningApp) -> Vec<AppliedSet> {
    let all = ListApplied { conversation: None, before: None };
    app.app.list_applied(&all).await.expect("a list").sets
}

/// How a change stands, and which of its places are undone.
async fn state(app: &RunningApp, effect: &EffectId) -> (ChangeStatus, Vec<u32>) {
    let notes: Vec<AppliedNote> = sets(app).await.into_iter().flat_map(|set| set.notes).collect();
    let note = notes.iter().find(|note| note.effect == *effect).expect("it is listed");
    (note.standing, app.app.applied_hunks(effect).await.expect("told").undone)
}

async fn undo(app: &RunningApp, effect: &EffectId, hunks: &[u32]) -> UndoResult {
    let scope = UndoScope::Effect { effect: effect.clone(), hunks: hunks.to_vec() };
    app.app.undo(&scope).await.expect("as far as it goes")
}

async fn resolve(app: &RunningApp, conflict: &UndoConflict) -> UndoResult {
    let resolved = app.app.resolve_conflict(conflict).await.expect("resolved");
    assert_eq!((resolved.changed.len(), resolved.conflicts.len()), (1, 0), "{resolved:?}");
    resolved
}

async fn assert_refused(app: &RunningApp, conflict: &UndoConflict) {
    let refused = app.app.resolve_conflict(conflict).await.expect_err("the note changed");
    assert!(refused.message.contains("changed again"), "{}", refused.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_requested_place_is_undone_in_the_note_that_the_user_chooses() {
    let (home, running, effect) = app_after_three_places().await;
    fs::remove_file(home.notes.root().join(NOTE)).expect("removed");
    home.notes.write(NOTE, list(&[THIRD, TENTH, SIXTEENTH]));

    let asked = undo(&running, &effect, &[1]).await;
    let mut target = answer(only_conflict(&asked));
    assert_eq!(target.hunks, [1]);
    // Another file comes to that path, so the same is asked again.
    fs::remove_file(home.notes.root().join(NOTE)).expect("removed");
    home.notes.write(NOTE, list(&[THIRD, TENTH, SIXTEENTH]) + "by hand\n");
    let asked = running.app.undo_in_note(&target).await.expect("asked again");
    target = answer(only_conflict(&asked));
    assert_eq!(target.hunks, [1]);

    let undone = running.app.undo_in_note(&target).await.expect("undone there");
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(home.notes.read(NOTE), list(&[THIRD, SIXTEENTH]) + "by hand\n");
    assert_eq!(state(&running, &effect).await, (ChangeStatus::PartlyUndone, vec![1]));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_to_a_conflict_of_one_place_leaves_the_others_to_undo() {
    let (home, running, effect) = app_after_three_places().await;
    home.notes.write(NOTE, list(&[THIRD, (10, "by hand\n"), SIXTEENTH]));

    let undone = undo(&running, &effect, &[1]).await;
    let conflict = only_conflict(&undone);
    assert_eq!((conflict.hunks.as_slice(), conflict.places.len()), (&[1][..], 1));
    resolve(&running, conflict).await;
    assert_eq!(home.notes.read(NOTE), list(&[THIRD, SIXTEENTH]));
    assert_eq!(state(&running, &effect).await, (ChangeStatus::PartlyUndone, vec![1]));

    undo(&running, &effect, &[2]).await;
    assert_eq!(home.notes.read(NOTE), list(&[THIRD]));
    let turn = sets(&running).await.last().expect("a set").turn.clone();
    running.app.undo(&UndoScope::Turn { turn }).await.expect("the rest is undone");
    assert_eq!(home.notes.read(NOTE), list(&[]));
    assert_eq!(state(&running, &effect).await, (ChangeStatus::Undone, vec![0, 1, 2]));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_undo_with_one_place_in_conflict_is_completed_and_recorded_by_the_answer() {
    let (home, running, effect) = app_after_three_places().await;
    home.notes.write(NOTE, list(&[THIRD, (10, "by hand\n"), SIXTEENTH]));

    let undone = undo(&running, &effect, &[]).await;
    let [conflict] = undone.conflicts.as_slice() else { panic!("{undone:?}") };
    assert_eq!(home.notes.read(NOTE), list(&[(10, "by hand\n")]));
    assert_eq!(state(&running, &effect).await, (ChangeStatus::PartlyUndone, vec![0, 2]));
    assert_eq!(
        (conflict.hunks.as_slice(), conflict.places[0].line),
        (&[1][..], 10),
        "as it is now"
    );

    let resolved = resolve(&running, conflict).await;
    assert_eq!(home.notes.read(NOTE), list(&[]));
    assert_eq!(state(&running, &effect).await, (ChangeStatus::Undone, vec![0, 1, 2]));

    // Each of the two is redone for itself.
    let redo = async |done: UndoResult| {
        let change_set = done.change_set.expect("a set");
        running.app.undo(&UndoScope::ChangeSet { change_set }).await.expect("redone");
    };
    redo(undone).await;
    assert_eq!(home.notes.read(NOTE), list(&[THIRD, SIXTEENTH]));
    assert_eq!(state(&running, &effect).await, (ChangeStatus::PartlyUndone, vec![1]));
    redo(resolved).await;
    assert_eq!(home.notes.read(NOTE), list(&[THIRD, (10, "by hand\n"), SIXTEENTH]));
    assert_eq!(state(&running, &effect).await, (ChangeStatus::Stands, vec![]));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn change_stands_once_the_last_place_of_its_redo_is_answered() {
    let (home, running, effect) = app_after_three_places().await;
    let whole = UndoScope::Effect { effect: effect.clone(), hunks: Vec::new() };
    running.app.undo(&whole).await.expect("undone");
    home.notes.write(NOTE, list(&[(10, "by hand\n")]));

    let redone = running.app.redo(&whole).await.expect("as far as it goes");
    let [conflict] = redone.conflicts.as_slice() else { panic!("{redone:?}") };
    assert_eq!(home.notes.read(NOTE), list(&[THIRD, (10, "by hand\n"), SIXTEENTH]));
    resolve(&running, conflict).await;
    assert_eq!(home.notes.read(NOTE), list(&[THIRD, TENTH, SIXTEENTH]));
    assert_eq!(state(&running, &effect).await, (ChangeStatus::Stands, vec![]));
    running.app.redo(&whole).await.expect_err("nothing is left to redo");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_lines_are_not_restored_where_the_note_moved_on() {
    let (home, running, effect) = app_after_three_places().await;
    let deleted = list(&[THIRD, (10, ""), SIXTEENTH]);
    home.notes.write(NOTE, &deleted);
    let undone = undo(&running, &effect, &[1]).await;
    let shown = only_conflict(&undone).clone();
    assert_eq!((shown.places[0].now.as_str(), shown.places[0].back.as_str()), ("", "line 10\n"));

    let moved_on = format!("one\ntwo\nthree\n{deleted}");
    home.notes.write(NOTE, &moved_on);
    assert_refused(&running, &shown).await;
    assert_eq!(home.notes.read(NOTE), moved_on);

    let undone = undo(&running, &effect, &[1]).await;
    resolve(&running, only_conflict(&undone)).await;
    assert_eq!(home.notes.read(NOTE), "one\ntwo\nthree\n".to_owned() + &list(&[THIRD, SIXTEENTH]));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_not_restored_without_the_note_that_was_shown_around_them() {
    let (home, running, effect) = app_after_three_places().await;
    home.notes.write(NOTE, list(&[THIRD, (10, "by hand\n"), SIXTEENTH]));
    let undone = undo(&running, &effect, &[1]).await;
    let shown = only_conflict(&undone).clone();
    fs::remove_file(home.notes.root().join(NOTE)).expect("removed");
    assert_refused(&running, &shown).await;
    assert_eq!(home.notes.try_read(NOTE), None);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn note_that_is_gone_is_restored_with_one_place_undone() {
    let (home, running, effect) = app_after_three_places().await;
    undo(&running, &effect, &[2]).await;
    fs::remove_file(home.notes.root().join(NOTE)).expect("removed");
    let undone = undo(&running, &effect, &[1]).await;
    resolve(&running, only_conflict(&undone)).await;
    assert_eq!(home.notes.read(NOTE), list(&[THIRD]));
    assert_eq!(state(&running, &effect).await, (ChangeStatus::PartlyUndone, vec![1, 2]));
    running.quit().await;
}
