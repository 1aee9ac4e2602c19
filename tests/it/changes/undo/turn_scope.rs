//! Changes of two answers are accepted together, and the changes of one answer are undone, also to regenerate it: those
//! of the other one stay.

use protocol::changes::history::{AppliedNote, ChangeStatus, UndoResult, UndoScope};
use protocol::chat::conversation::ChatItem;
use protocol::request::{
    DecideReview, HunkDecision, NoteDecision, OldChanges, RegenerateOutcome, RegenerateRequest,
    ReviewDecision,
};
use protocol::{ChangeKind, ConversationId, TurnId};
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use super::applied_sets;
use super::second_plan::ScriptedCall;
use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

const NOTES: [(&str, &str); 3] =
    [("A.md", "text\n"), ("C.md", "See [[A]].\n\nThe end.\n"), ("E.md", "First\n\nThe end.\n")];
/// `E.md` with a link that the user adds while the changes are pending.
const WITH_LINK: &str = "First\n\nThe end.\n\nMine: [[A]].\n";

fn edit(path: &str, old: &str, new: &str) -> ScriptedCall {
    ("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
}

fn move_a() -> ScriptedCall {
    ("move_file", json!({ "source": "A.md", "destination": "Sub/B.md" }))
}

/// An application with the changes of two answers.
struct TwoAnswers {
    home: TestHome,
    model: ScriptedModel,
    running: RunningApp,
    conversation: ConversationId,
}

impl TwoAnswers {
    /// The changes that these calls make, accepted together; before that the user adds a link to `E.md`.
    async fn accepted(calls: [ScriptedCall; 2]) -> Self {
        Self::accepted_of(calls.map(|call| vec![call])).await
    }

    /// The same, of answers with several calls each.
    async fn accepted_of(calls: [Vec<ScriptedCall>; 2]) -> Self {
        let answers = Self::with_first_pending(calls).await;
        answers.running.send_and_wait(Some(&answers.conversation), "two").await;
        answers.home.notes.write("E.md", WITH_LINK);
        let pending = answers.running.pending_paths(&answers.conversation).await;
        answers.accept(&pending.iter().map(String::as_str).collect::<Vec<_>>()).await;
        assert_eq!(answers.running.pending_paths(&answers.conversation).await, [""; 0]);
        answers
    }

    /// The changes of the first answer, pending.
    async fn with_first_pending(calls: [Vec<ScriptedCall>; 2]) -> Self {
        let replies = calls
            .into_iter()
            .flat_map(|calls| [Reply::calls(calls), Reply::text("Done.")])
            .chain([Reply::text("Nothing this time.")]);
        let model = ScriptedModel::start(replies.collect()).await;
        let home = home_with_key(&NOTES);
        let running = home.open(settings_with_model(&model)).await;
        let conversation = running.send_and_wait(None, "one").await;
        Self { home, model, running, conversation }
    }

    async fn accept(&self, paths: &[&str]) {
        self.running.decide(&self.conversation, paths, &[]).await.expect("applied");
    }

    /// Decides about the hunks of one note.
    async fn decide_hunks(&self, path: &str, hunks: Vec<HunkDecision>) {
        let review = self.running.view(&self.conversation).await.review.expect("pending changes");
        let note = review.notes.into_iter().find(|note| note.path.as_str() == path);
        let note = note.expect("a pending change of the note");
        assert_eq!(note.hunks.len(), hunks.len());
        let decision = ReviewDecision::Hunks { hunks };
        let notes = vec![NoteDecision { path: note.path, seen: note.seen, decision }];
        let request = DecideReview { review: review.id, notes };
        self.running.app.decide_review(&request).await.expect("decided");
    }

    /// Regenerates the second answer and undoes its changes, after the question about so many notes.
    async fn regenerate_second(&self, changed: u32, earlier: bool) {
        let view = self.running.view(&self.conversation).await;
        let message = view.items.iter().find_map(|item| match item {
            ChatItem::User { id, text, .. } if text == "two" => Some(id.clone()),
            _ => None,
        });
        let message = message.expect("the second message");
        let request = RegenerateRequest { message, text: None, old: None };
        let asked = self.running.app.regenerate(&request).await.expect("asked");
        assert_eq!(asked, RegenerateOutcome::Asks { changed, waiting: 0, earlier });
        let request = RegenerateRequest { old: Some(OldChanges::Undo), ..request };
        self.running.app.regenerate(&request).await.expect("begun");
        self.running.app.wait_until_idle(&self.conversation).await.expect("idle");
    }

    /// The accepted change of this kind of a note, as it stands.
    async fn accepted_change(&self, path: &str, kind: ChangeKind) -> AppliedNote {
        let notes = applied_sets(&self.running).await.pop().expect("a set").notes;
        let is_it = |note: &AppliedNote| note.path.as_str() == path && note.kind == kind;
        notes.into_iter().find(is_it).expect("a change")
    }

    /// Undoes the changes of one answer.
    async fn undo_turn(&self, turn: &TurnId) -> UndoResult {
        let scope = UndoScope::Turn { turn: turn.clone() };
        self.running.app.undo(&scope).await.expect("as far as it goes")
    }

    /// Undoes the changes of both answers, one after the other.
    async fn undo_turns(&self, turns: [&TurnId; 2]) {
        for turn in turns {
            let undone = self.undo_turn(turn).await;
            assert!(undone.conflicts.is_empty(), "{undone:?}");
        }
        self.assert_as_before();
    }

    async fn redo(&self, scope: &UndoScope) {
        let redone = self.running.app.redo(scope).await.expect("redone");
        assert!(redone.conflicts.is_empty(), "{redone:?}");
    }

    fn assert_notes(&self, expected: &[(&str, Option<&str>)]) {
        for (path, text) in expected {
            assert_eq!(self.home.notes.try_read(path).as_deref(), *text, "{path}");
        }
    }

    /// The rest is undone too, and all is as it was.
    async fn undo_rest(self) {
        self.undo_conversation().await;
        self.running.quit().await;
        self.model.finish();
    }

    async fn undo_conversation(&self) {
        let all = UndoScope::Conversation { conversation: self.conversation.clone() };
        let undone = self.running.app.undo(&all).await.expect("undone");
        assert!(undone.conflicts.is_empty(), "{undone:?}");
        self.assert_as_before();
    }

    fn assert_as_before(&self) {
        let [a, c, _] = NOTES.map(|(path, text)| (path, Some(text)));
        self.assert_notes(&[a, c, ("E.md", Some(WITH_LINK)), ("Sub/B.md", None)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn regenerating_an_answer_leaves_what_was_accepted_of_an_earlier_one() {
    // An edit of the note that the second answer moves.
    let answers = TwoAnswers::accepted([edit("A.md", "text", "TEXT"), move_a()]).await;
    answers.assert_notes(&[("Sub/B.md", Some("TEXT\n")), ("A.md", None)]);
    answers.regenerate_second(3, false).await;
    let [_, c, _] = NOTES.map(|(path, text)| (path, Some(text)));
    answers.assert_notes(&[("A.md", Some("TEXT\n")), ("Sub/B.md", None), c]);
    answers.assert_notes(&[("E.md", Some(WITH_LINK))]);
    answers.undo_rest().await;

    // An edit of a note to which the user added a link.
    let answers = TwoAnswers::accepted([edit("E.md", "First", "FIRST"), move_a()]).await;
    answers.assert_notes(&[("E.md", Some("FIRST\n\nThe end.\n\nMine: [[B]].\n"))]);
    answers.regenerate_second(2, false).await;
    answers.assert_notes(&[("A.md", Some("text\n")), ("Sub/B.md", None), c]);
    answers.assert_notes(&[("E.md", Some("FIRST\n\nThe end.\n\nMine: [[A]].\n"))]);
    answers.undo_rest().await;
}

const LINKED: (&str, Option<&str>) = ("C.md", Some("See [[B]].\n\nThe end.\n"));
const MOVED: (&str, Option<&str>) = ("Sub/B.md", Some("text\n"));

#[tokio::test(flavor = "multi_thread")]
async fn regenerating_an_answer_leaves_a_move_that_was_accepted_of_an_earlier_one() {
    const OTHER: (&str, Option<&str>) = ("E.md", Some("First\n\nThe end.\n\nMine: [[B]].\n"));
    for (call, path, changed) in [
        (edit("Sub/B.md", "text", "TEXT"), "Sub/B.md", "TEXT\n"),
        (edit("C.md", "The end", "The END"), "C.md", "See [[B]].\n\nThe END.\n"),
        (edit("E.md", "First", "FIRST"), "E.md", "FIRST\n\nThe end.\n\nMine: [[B]].\n"),
    ] {
        let answers = TwoAnswers::accepted([move_a(), call]).await;
        answers.assert_notes(&[(path, Some(changed)), ("A.md", None)]);
        answers.regenerate_second(1, false).await;
        answers.assert_notes(&[MOVED, LINKED, OTHER, ("A.md", None)]);
        answers.undo_rest().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_is_undone_with_the_edit_of_a_line_whose_link_it_rewrote_and_counted() {
    let answers = TwoAnswers::accepted([move_a(), edit("C.md", "See", "SEE")]).await;
    answers.assert_notes(&[("C.md", Some("SEE [[B]].\n\nThe end.\n")), ("A.md", None)]);
    // The link to the moved note in the third note is of the move too.
    answers.regenerate_second(3, true).await;
    answers.assert_as_before();
    answers.running.quit().await;
    answers.model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn conflict_of_one_edit_leaves_the_undo_of_another_and_its_answer_the_move() {
    let edits = vec![edit("C.md", "The end", "The END"), edit("E.md", "First", "FIRST")];
    let answers = TwoAnswers::accepted_of([vec![move_a()], edits]).await;
    answers.home.notes.write("E.md", "By hand\n\nThe end.\n\nMine: [[B]].\n");
    let turn = answers.accepted_change("E.md", ChangeKind::Replace).await.turn;
    let undone = answers.undo_turn(&turn).await;
    let [conflict] = undone.conflicts.as_slice() else { panic!("{undone:?}") };
    assert_eq!((conflict.path.as_str(), conflict.hunks.as_slice()), ("E.md", &[0][..]));
    answers.assert_notes(&[LINKED, MOVED, ("A.md", None)]);

    let answered = answers.running.app.resolve_conflict(conflict).await.expect("answered");
    assert_eq!((answered.changed.len(), answered.conflicts.len()), (1, 0), "{answered:?}");
    answers.assert_notes(&[LINKED, MOVED, ("A.md", None)]);
    answers.assert_notes(&[("E.md", Some("First\n\nThe end.\n\nMine: [[B]].\n"))]);
    answers.undo_conversation().await;
    answers.running.quit().await;
}

/// A note that the first answer made, in a folder that the second one moved.
#[tokio::test(flavor = "multi_thread")]
async fn answer_about_a_new_note_leaves_the_move_of_another_answer() {
    let make = ("write_file", json!({ "path": "Old/new.md", "content": "new\n" }));
    let change = edit("C.md", "The end", "The END");
    let moved = ("move_file", json!({ "source": "Old/", "destination": "Later" }));
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![make, change]),
        Reply::text("Done."),
        Reply::calls(vec![moved]),
        Reply::text("Done."),
    ])
    .await;
    let home = home_with_key(&[NOTES[0], NOTES[1], ("Old/kept.md", "kept\n")]);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "one").await;
    running.send_and_wait(Some(&conversation), "two").await;
    let pending = running.pending_paths(&conversation).await;
    let all: Vec<_> = pending.iter().map(String::as_str).collect();
    running.decide(&conversation, &all, &[]).await.expect("applied");
    assert_eq!(home.notes.read("Later/new.md"), "new\n");
    home.notes.write("Later/new.md", "new\nby hand\n");

    let notes = applied_sets(&running).await.pop().expect("a set").notes;
    let made = notes.into_iter().find(|note| note.kind == ChangeKind::Create).expect("a new note");
    let undone = running.app.undo(&UndoScope::Turn { turn: made.turn }).await.expect("undone");
    let [conflict] = undone.conflicts.as_slice() else { panic!("{undone:?}") };
    assert_eq!(conflict.path.as_str(), "Later/new.md");
    assert_eq!(home.notes.read("C.md"), NOTES[1].1, "the edit is undone");

    running.app.resolve_conflict(conflict).await.expect("answered");
    assert_eq!(home.notes.try_read("Later/new.md"), None);
    assert_eq!(home.notes.read("Later/kept.md"), "kept\n", "the move stands");
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_undone_whole_when_the_move_that_rewrote_links_in_its_note_is_undone_after_it() {
    for (calls, edited) in [
        ([move_a(), edit("C.md", "The end", "The END")], "C.md"),
        // The user added the link to this note.
        ([edit("E.md", "First", "FIRST"), move_a()], "E.md"),
    ] {
        let answers = TwoAnswers::accepted(calls).await;
        let standing = async || answers.accepted_change(edited, ChangeKind::Replace).await.standing;
        let of_edit = answers.accepted_change(edited, ChangeKind::Replace).await.turn;
        let of_move = answers.accepted_change("A.md", ChangeKind::Rename).await.turn;
        assert_ne!(of_edit, of_move);
        let undone = answers.undo_turn(&of_edit).await;
        assert!(undone.conflicts.is_empty(), "{undone:?}");
        // The control: the link stays with the move.
        answers.assert_notes(&[MOVED, ("A.md", None)]);
        assert_eq!(standing().await, ChangeStatus::PartlyUndone);

        let move_scope = UndoScope::Turn { turn: of_move.clone() };
        for _ in 0..2 {
            let undone = answers.undo_turn(&of_move).await;
            assert!(undone.conflicts.is_empty(), "{undone:?}");
            answers.assert_as_before();
            assert_eq!(standing().await, ChangeStatus::Undone);
            for turn in [&of_edit, &of_move] {
                let scope = UndoScope::Turn { turn: turn.clone() };
                answers.running.app.undo(&scope).await.expect_err("all is undone");
            }
            // The redo of the move makes the link again, and no more of the edit.
            let redone = answers.running.app.redo(&move_scope).await.expect("redone");
            assert!(redone.conflicts.is_empty(), "{redone:?}");
            answers.assert_notes(&[MOVED, ("A.md", None)]);
            assert_eq!(standing().await, ChangeStatus::PartlyUndone);
        }
        answers.running.quit().await;
    }
}

/// Redoes the edit and then the move of two answers that were undone one after the other. With the edit, `C.md` and `E.md`
/// have these texts while the move is undone, and while it stands.
async fn redo_edit_and_move(
    calls: [ScriptedCall; 2],
    edited: &str,
    unmoved: [&str; 2],
    moved: [&str; 2],
) {
    for is_edit_undone_first in [true, false] {
        let answers = TwoAnswers::accepted(calls.clone()).await;
        let standing = async || answers.accepted_change(edited, ChangeKind::Replace).await.standing;
        let assert_links = |[c, e]: [&str; 2]| {
            answers.assert_notes(&[("C.md", Some(c)), ("E.md", Some(e))]);
        };
        let of_edit = answers.accepted_change(edited, ChangeKind::Replace).await.turn;
        let of_move = answers.accepted_change("A.md", ChangeKind::Rename).await.turn;
        let order = match is_edit_undone_first {
            true => [&of_edit, &of_move],
            false => [&of_move, &of_edit],
        };
        answers.undo_turns(order).await;

        let edit_scope = UndoScope::Turn { turn: of_edit.clone() };
        answers.redo(&edit_scope).await;
        answers.assert_notes(&[("A.md", Some("text\n")), ("Sub/B.md", None)]);
        assert_links(unmoved);
        assert_eq!(standing().await, ChangeStatus::PartlyUndone);
        let error = answers.running.app.redo(&edit_scope).await.expect_err("the link is left");
        assert_eq!(error.message, "There’s nothing to redo.");

        // The controls: the move comes with its link, also where all is redone together.
        answers.redo(&UndoScope::Turn { turn: of_move.clone() }).await;
        answers.assert_notes(&[MOVED, ("A.md", None)]);
        assert_links(moved);
        assert_eq!(standing().await, ChangeStatus::Stands);
        answers.undo_turns(order).await;
        answers.redo(&UndoScope::Conversation { conversation: answers.conversation.clone() }).await;
        answers.assert_notes(&[MOVED, ("A.md", None)]);
        assert_links(moved);
        assert_eq!(standing().await, ChangeStatus::Stands);
        answers.running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redo_of_an_edit_leaves_a_move_of_another_answer_that_was_undone_by_itself() {
    let unmoved = ["See [[A]].\n\nThe END.\n", WITH_LINK];
    let moved = ["See [[B]].\n\nThe END.\n", "First\n\nThe end.\n\nMine: [[B]].\n"];
    let calls = [move_a(), edit("C.md", "The end", "The END")];
    redo_edit_and_move(calls, "C.md", unmoved, moved).await;

    // The user added the link to this note.
    let unmoved = [NOTES[1].1, "FIRST\n\nThe end.\n\nMine: [[A]].\n"];
    let moved = ["See [[B]].\n\nThe end.\n", "FIRST\n\nThe end.\n\nMine: [[B]].\n"];
    let calls = [edit("E.md", "First", "FIRST"), move_a()];
    redo_edit_and_move(calls, "E.md", unmoved, moved).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn regenerating_an_answer_tells_that_its_changes_include_those_of_an_earlier_one() {
    for (calls, changed) in [
        ([edit("C.md", "See", "SEE"), edit("C.md", "The end", "The END")], 1),
        ([edit("C.md", "The end", "The END"), move_a()], 3),
    ] {
        let answers = TwoAnswers::accepted(calls).await;
        answers.regenerate_second(changed, true).await;
        answers.assert_as_before();
        answers.running.quit().await;
        answers.model.finish();
    }
}

/// Of two places that the first answer changes in a note, the user accepts one before the second answer is written. In
/// the control the other one is rejected.
#[tokio::test(flavor = "multi_thread")]
async fn regenerating_an_answer_tells_that_its_changes_include_a_hunk_of_an_earlier_one() {
    for other in [HunkDecision::Wait, HunkDecision::Reject] {
        let first = vec![
            edit("C.md", "See", "SEE"),
            edit("C.md", "The end", "The END"),
            edit("E.md", "First", "FIRST"),
        ];
        let second = vec![edit("C.md", "SEE", "LOOK")];
        let answers = TwoAnswers::with_first_pending([first, second]).await;
        let is_earlier = other == HunkDecision::Wait;
        answers.decide_hunks("C.md", vec![HunkDecision::Accept, other]).await;
        answers.running.send_and_wait(Some(&answers.conversation), "two").await;
        answers.accept(&["C.md"]).await;
        let end = if is_earlier { "The END" } else { "The end" };
        let accepted = format!("LOOK [[A]].\n\n{end}.\n");
        answers.assert_notes(&[("C.md", Some(accepted.as_str()))]);
        answers.regenerate_second(1, is_earlier).await;
        answers.assert_notes(&[("C.md", Some("SEE [[A]].\n\nThe end.\n"))]);
        answers.running.quit().await;
        answers.model.finish();
    }
}

/// The control: the changes of the first answer are accepted, and others of it wait, when the second one is written.
#[tokio::test(flavor = "multi_thread")]
async fn changes_that_were_accepted_before_an_answer_are_not_told_to_be_undone_with_it() {
    let first = vec![edit("C.md", "See", "SEE"), edit("E.md", "First", "FIRST")];
    let second = vec![edit("C.md", "The end", "The END")];
    let answers = TwoAnswers::with_first_pending([first, second]).await;
    answers.accept(&["C.md"]).await;
    answers.running.send_and_wait(Some(&answers.conversation), "two").await;
    answers.accept(&["C.md"]).await;
    answers.assert_notes(&[("C.md", Some("SEE [[A]].\n\nThe END.\n"))]);
    answers.regenerate_second(1, false).await;
    answers.assert_notes(&[("C.md", Some("SEE [[A]].\n\nThe end.\n"))]);
    answers.running.quit().await;
    answers.model.finish();
}
