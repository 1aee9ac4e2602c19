//! The notice of an undo offers to redo it: its set is undone. Each place of an edit is then listed as it is in the note,
//! and a place that was undone earlier stays undone.

use super::*;

const PARTLY: ChangeStatus = ChangeStatus::PartlyUndone;
const OLD: [&str; 3] = ["one", "three", "five"];
const NEW: [&str; 3] = ["ONE", "THREE", "FIVE"];

fn places([first, second, third]: [&str; 3]) -> String {
    format!("{first}\n\ntwo\n\n{second}\n\nfour\n\n{third}\n")
}

/// A note after one edit in three places.
async fn note_after_edit() -> EditedNote {
    let (before, after) = (places(OLD), places(NEW));
    let note = EditedNote::start(&before, &[(before.trim_end(), after.trim_end())], &[]).await;
    note.assert_state(&after, [STANDS]).await;
    note
}

impl EditedNote {
    async fn undo_scope(&self, scope: &UndoScope) -> UndoResult {
        self.running.app.undo(scope).await.expect("as far as it goes")
    }

    /// Does what the notice of an undo or a redo offers.
    async fn reverse(&self, done: &UndoResult) -> UndoResult {
        let change_set = done.change_set.clone().expect("a set");
        self.undo_scope(&UndoScope::ChangeSet { change_set }).await
    }

    async fn reverse_all(&self, done: &UndoResult) -> UndoResult {
        let reversed = self.reverse(done).await;
        assert_eq!((reversed.conflicts.as_slice(), reversed.left), (&[][..], 0));
        reversed
    }

    /// One place of the edit.
    async fn place(&self, hunk: u32) -> UndoScope {
        let effect = self.changes().await[0].effect.clone();
        UndoScope::Effect { effect, hunks: vec![hunk] }
    }

    async fn assert_undone_places(&self, expected: &[u32]) {
        let effect = self.changes().await[0].effect.clone();
        let hunks = self.running.app.applied_hunks(&effect).await.expect("told");
        assert_eq!(hunks.undone, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn places_that_are_back_are_listed_and_undone_beside_one_in_conflict() {
    let note = note_after_edit().await;
    let undone = note.undo_scope(&note.all()).await;
    note.write(&places(["one", "three", "mine"]));
    let redone = note.reverse(&undone).await;
    let [conflict] = redone.conflicts.as_slice() else { panic!("{redone:?}") };
    assert_eq!((conflict.action, conflict.hunks.as_slice()), (UndoAction::Redo, &[2][..]));
    assert_eq!(conflict.listed, note.changes().await[0].effect);
    let partly = places(["ONE", "THREE", "mine"]);
    note.assert_state(&partly, [PARTLY]).await;
    note.assert_undone_places(&[2]).await;

    let undone = note.undo_scope(&note.edit(0).await).await;
    note.assert_state(&places(["one", "three", "mine"]), [UNDONE]).await;
    note.reverse_all(&undone).await;
    note.assert_state(&partly, [PARTLY]).await;
    note.running.app.resolve_conflict(conflict).await.expect("answered");
    note.assert_state(&places(NEW), [STANDS]).await;
    note.assert_nothing_to_redo(0).await;
    note.undo_all().await;
    note.assert_state(&places(OLD), [UNDONE]).await;
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_one_place_is_reversed_also_after_a_question() {
    for is_asked in [false, true] {
        let note = note_after_edit().await;
        let undone = note.undo_scope(&note.place(1).await).await;
        note.assert_state(&places(["ONE", "three", "FIVE"]), [PARTLY]).await;
        if is_asked {
            let mine = places(["ONE", "mine", "FIVE"]);
            note.write(&mine);
            let asked = note.reverse(&undone).await;
            let conflict = only_conflict(&asked);
            assert_eq!(conflict.action, UndoAction::Redo);
            assert_eq!(conflict.listed, note.changes().await[0].effect);
            note.assert_state(&mine, [PARTLY]).await;
            note.running.app.resolve_conflict(conflict).await.expect("answered");
        } else {
            note.reverse_all(&undone).await;
        }
        note.assert_state(&places(NEW), [STANDS]).await;
        note.assert_undone_places(&[]).await;
        note.running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_was_undone_earlier_stays_undone() {
    for is_asked in [false, true] {
        let note = note_after_edit().await;
        note.undo(&note.place(0).await).await;
        let undone = note.undo_scope(&note.all()).await;
        note.assert_state(&places(OLD), [UNDONE]).await;
        if is_asked {
            note.write(&places(["one", "three", "mine"]));
            let redone = note.reverse(&undone).await;
            let [conflict] = redone.conflicts.as_slice() else { panic!("{redone:?}") };
            assert_eq!((conflict.action, conflict.hunks.as_slice()), (UndoAction::Redo, &[2][..]));
            note.assert_state(&places(["one", "THREE", "mine"]), [PARTLY]).await;
            note.assert_undone_places(&[0, 2]).await;
            note.running.app.resolve_conflict(conflict).await.expect("answered");
        } else {
            note.reverse_all(&undone).await;
        }
        note.assert_state(&places(["one", "THREE", "FIVE"]), [PARTLY]).await;
        note.assert_undone_places(&[0]).await;
        // The control: a redo of the change is of all places.
        note.redo(0).await;
        note.assert_state(&places(NEW), [STANDS]).await;
        note.running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_redo_is_reversed_with_one_place_in_conflict() {
    let note = note_after_edit().await;
    let undone = note.undo_scope(&note.all()).await;
    let redone = note.reverse_all(&undone).await;
    note.assert_state(&places(NEW), [STANDS]).await;
    let undone = note.reverse_all(&redone).await;
    note.assert_state(&places(OLD), [UNDONE]).await;
    note.write(&places(["one", "three", "mine"]));
    let redone = note.reverse(&undone).await;
    let [conflict] = redone.conflicts.as_slice() else { panic!("{redone:?}") };
    let [place] = conflict.places.as_slice() else { panic!("{conflict:?}") };
    assert_eq!((place.now.as_str(), place.back.as_str()), ("mine\n", "FIVE\n"));
    assert_eq!(conflict.action, UndoAction::Redo);
    assert_eq!(conflict.listed, note.changes().await[0].effect);
    // The change counts again, so that the places that are back can be undone.
    note.assert_state(&places(["ONE", "THREE", "mine"]), [STANDS]).await;
    note.running.app.resolve_conflict(conflict).await.expect("answered");
    note.assert_state(&places(NEW), [STANDS]).await;
    note.undo_all().await;
    note.assert_state(&places(OLD), [UNDONE]).await;
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_the_user_that_an_answer_replaced_are_restored_when_it_is_reversed() {
    let note = note_after_edit().await;
    note.write(&places(["ONE", "my three", "my five"]));
    let undone = note.undo_scope(&note.all()).await;
    let mine = places(["one", "my three", "my five"]);
    note.assert_state(&mine, [PARTLY]).await;
    let [conflict] = undone.conflicts.as_slice() else { panic!("{undone:?}") };
    let answered = note.running.app.resolve_conflict(conflict).await.expect("answered");
    note.assert_state(&places(OLD), [UNDONE]).await;
    note.reverse_all(&answered).await;
    note.assert_state(&mine, [PARTLY]).await;
    note.assert_undone_places(&[0]).await;
    note.running.quit().await;
}
