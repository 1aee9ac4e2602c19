//! A redo makes one edit of a note again, and nothing else that was undone with it: the lines of the other edits are
//! left as they are, and each edit is shown as it stands.

mod reversed_undo;

use std::fs;

use protocol::changes::history::{AppliedNote, ChangeStatus, UndoAction, UndoResult, UndoScope};
use protocol::{ConversationId, Mode};
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use super::applied_sets;
use super::second_plan::edit;
use crate::changes::undo_identity::{answer, only_conflict};
use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, with_mode,
};

const NOTE: &str = "A.md";
const STANDS: ChangeStatus = ChangeStatus::Stands;
const UNDONE: ChangeStatus = ChangeStatus::Undone;

fn text(first: &str, last: &str) -> String {
    format!("{first}\n\nmiddle\n\n{last}\n")
}

/// A note that the assistant edits, one edit with each message.
struct EditedNote {
    home: TestHome,
    model: ScriptedModel,
    running: RunningApp,
    conversation: Option<ConversationId>,
}

impl EditedNote {
    /// The note with these edits made, and more to come with later messages.
    async fn start(before: &str, made: &[(&str, &str)], later: &[(&str, &str)]) -> Self {
        let replies = made.iter().chain(later).flat_map(|(old, new)| {
            let call = json!({ "path": NOTE, "old_text": old, "new_text": new });
            [Reply::calls(vec![("edit_file", call)]), Reply::text("Done.")]
        });
        let model = ScriptedModel::start(replies.collect()).await;
        let home = home_with_key(&[(NOTE, before)]);
        let running = home.open(settings_with_model(&model)).await;
        let mut note = Self { home, model, running, conversation: None };
        for _ in made {
            note.make_next_edit().await;
        }
        note
    }

    async fn make_next_edit(&mut self) {
        let running = &self.running;
        let sent = running.send_and_wait(self.conversation.as_ref(), "Please").await;
        if running.view(&sent).await.review.is_some() {
            running.decide(&sent, &[NOTE], &[]).await.expect("applied");
        }
        self.conversation = Some(sent);
    }

    async fn reopen(self, between: impl FnOnce(&TestHome)) -> Self {
        let Self { home, model, running, conversation } = self;
        running.quit().await;
        between(&home);
        let running = home.open(settings_with_model(&model)).await;
        Self { home, model, running, conversation }
    }

    fn read(&self) -> String {
        self.home.notes.read(NOTE)
    }

    fn write(&self, text: &str) {
        self.home.notes.write(NOTE, text);
    }

    fn all(&self) -> UndoScope {
        UndoScope::Conversation { conversation: self.conversation.clone().expect("a message") }
    }

    /// All changes of the note, the oldest first.
    async fn changes(&self) -> Vec<AppliedNote> {
        applied_sets(&self.running).await.into_iter().rev().flat_map(|set| set.notes).collect()
    }

    /// An edit, by its place among all of them.
    async fn edit(&self, place: usize) -> UndoScope {
        UndoScope::Effect { effect: self.changes().await[place].effect.clone(), hunks: Vec::new() }
    }

    async fn undo_all(&self) {
        self.undo(&self.all()).await;
    }

    async fn undo(&self, scope: &UndoScope) {
        let undone = self.running.app.undo(scope).await.expect("undone");
        assert_eq!((undone.conflicts.as_slice(), undone.left), (&[][..], 0));
    }

    async fn try_redo(&self, place: usize) -> UndoResult {
        self.running.app.redo(&self.edit(place).await).await.expect("as far as it goes")
    }

    async fn redo(&self, place: usize) {
        let redone = self.try_redo(place).await;
        assert_eq!((redone.conflicts.as_slice(), redone.left), (&[][..], 0));
    }

    async fn assert_nothing_to_redo(&self, place: usize) {
        let error = self.running.app.redo(&self.edit(place).await).await.expect_err("it stands");
        assert_eq!(error.message, "There’s nothing to redo.");
    }

    /// How the first edits stand, as many as are listed, with the text of the note.
    async fn assert_state<const N: usize>(&self, text: &str, standings: [ChangeStatus; N]) {
        let changes = self.changes().await;
        let found: Vec<_> = changes.iter().take(N).map(|change| change.standing).collect();
        assert_eq!((self.read().as_str(), found.as_slice()), (text, standings.as_slice()));
    }
}

const FIRST: (&str, &str) = ("first", "FIRST");
const LAST: (&str, &str) = ("last", "LAST");

async fn note_after_two_edits() -> EditedNote {
    let note = EditedNote::start(&text("first", "last"), &[FIRST, LAST], &[]).await;
    assert_eq!(note.read(), text("FIRST", "LAST"));
    note
}

/// The same edits, made by two calls of one answer.
async fn note_after_two_calls() -> EditedNote {
    let calls = [FIRST, LAST].map(|(old, new)| edit(NOTE, old, new));
    let model = ScriptedModel::start(vec![Reply::calls(calls.into()), Reply::text("Done.")]).await;
    let before = text("first", "last");
    let home = home_with_key(&[(NOTE, before.as_str())]);
    let running = home.open(with_mode(settings_with_model(&model), Mode::Auto)).await;
    let conversation = Some(running.send_and_wait(None, "change [[A]]").await);
    let note = EditedNote { home, model, running, conversation };
    note.assert_state(&text("FIRST", "LAST"), [STANDS, STANDS]).await;
    note
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_the_user_wrote_is_kept_though_it_is_that_of_an_edit_that_stays_undone() {
    for (place, by_hand) in [(0, text("first", "LAST")), (1, text("FIRST", "last"))] {
        let note = note_after_two_edits().await;
        note.undo_all().await;
        note.assert_state(&text("first", "last"), [UNDONE, UNDONE]).await;
        note.write(&by_hand);
        note.redo(place).await;
        assert_eq!(note.read(), text("FIRST", "LAST"));
        note.assert_nothing_to_redo(place).await;
        note.running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_edits_that_are_redone_the_one_in_conflict_stays_undone_until_the_answer() {
    let changed_last = (text("first", "by hand"), text("FIRST", "by hand"), [STANDS, UNDONE]);
    let changed_first = (text("by hand", "last"), text("by hand", "LAST"), [UNDONE, STANDS]);
    for (place, (by_hand, redone, standings)) in [changed_last, changed_first].iter().enumerate() {
        for note in [note_after_two_edits().await, note_after_two_calls().await] {
            note.undo_all().await;
            note.write(by_hand);
            let asked = note.running.app.redo(&note.all()).await.expect("as far as it goes");
            let [conflict] = asked.conflicts.as_slice() else { panic!("{asked:?}") };
            note.assert_state(redone, *standings).await;
            // The one that is back is undone and redone by itself.
            note.undo(&note.edit(place).await).await;
            note.assert_state(by_hand, [UNDONE, UNDONE]).await;
            note.redo(place).await;
            note.assert_state(redone, *standings).await;
            note.running.app.resolve_conflict(conflict).await.expect("answered");
            note.assert_state(&text("FIRST", "LAST"), [STANDS, STANDS]).await;
            note.running.quit().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_redone_edits_of_one_line_are_asked_about_once_and_the_answer_makes_all_again() {
    let edits = [("last", "almost"), ("first", "FIRST\nmore"), ("almost", "LAST")];
    let note = EditedNote::start(&text("first", "last"), &edits, &[]).await;
    note.undo_all().await;
    note.write(&text("first", "by hand"));
    let asked = note.running.app.redo(&note.all()).await.expect("as far as it goes");
    let [conflict] = asked.conflicts.as_slice() else { panic!("{asked:?}") };
    let [place] = conflict.places.as_slice() else { panic!("{conflict:?}") };
    assert_eq!((place.now.as_str(), place.back.as_str()), ("by hand\n", "LAST\n"));
    assert_eq!(note.read(), text("FIRST\nmore", "by hand"));
    note.running.app.resolve_conflict(conflict).await.expect("answered");
    note.assert_state(&text("FIRST\nmore", "LAST"), [STANDS, STANDS, STANDS]).await;
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_a_later_edit_wrote_is_kept() {
    let mut note = EditedNote::start(&text("first", "last"), &[FIRST, LAST], &[LAST]).await;
    note.undo_all().await;
    note.make_next_edit().await;
    assert_eq!(note.read(), text("first", "LAST"));
    note.redo(0).await;
    note.assert_state(&text("FIRST", "LAST"), [STANDS, UNDONE]).await;
    // The control: the later edit is undone by itself.
    note.undo(&note.edit(3).await).await;
    note.assert_state(&text("FIRST", "last"), [STANDS, UNDONE]).await;
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redone_edit_that_is_undone_again_stays_undone_when_the_other_is_redone() {
    for is_whole in [true, false] {
        let note = note_after_two_edits().await;
        note.undo_all().await;
        note.redo(0).await;
        note.assert_state(&text("FIRST", "last"), [STANDS, UNDONE]).await;
        match is_whole {
            true => note.undo_all().await,
            false => note.undo(&note.edit(0).await).await,
        }
        note.assert_state(&text("first", "last"), [UNDONE, UNDONE]).await;
        let note = note.reopen(|_| {}).await;
        note.redo(1).await;
        note.assert_state(&text("first", "LAST"), [UNDONE, STANDS]).await;
        note.redo(0).await;
        note.assert_state(&text("FIRST", "LAST"), [STANDS, STANDS]).await;
        // The control: both are redone where both are meant, and each redo is undone by itself.
        note.undo_all().await;
        note.running.app.redo(&note.all()).await.expect("redone");
        note.assert_state(&text("FIRST", "LAST"), [STANDS, STANDS]).await;
        note.running.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_of_the_redo_leaves_both_edits_undone() {
    let note = note_after_two_edits().await;
    note.undo_all().await;
    note.redo(0).await;
    let set = applied_sets(&note.running).await.remove(0);
    note.undo(&UndoScope::ChangeSet { change_set: set.id }).await;
    note.assert_state(&text("first", "last"), [UNDONE, UNDONE]).await;
    note.redo(1).await;
    note.assert_state(&text("first", "LAST"), [UNDONE, STANDS]).await;
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_to_a_conflict_is_about_the_edit_that_is_redone() {
    let note = note_after_two_edits().await;
    note.undo_all().await;
    note.write(&text("mine", "last"));
    let redone = note.try_redo(0).await;
    let conflict = only_conflict(&redone);
    let [place] = conflict.places.as_slice() else { panic!("{conflict:?}") };
    assert_eq!((place.now.as_str(), place.back.as_str()), ("mine\n", "FIRST\n"));
    assert_eq!(conflict.action, UndoAction::Redo);
    note.running.app.resolve_conflict(conflict).await.expect("answered");
    note.assert_state(&text("FIRST", "last"), [STANDS, UNDONE]).await;
    note.assert_nothing_to_redo(0).await;
    note.running.app.resolve_conflict(conflict).await.expect_err("it is answered");
    note.redo(1).await;
    note.assert_state(&text("FIRST", "LAST"), [STANDS, STANDS]).await;
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_lines_of_an_edit_that_stays_undone_are_no_conflict() {
    let note = note_after_two_edits().await;
    note.undo_all().await;
    note.write(&text("first", "Last."));
    note.redo(0).await;
    note.assert_state(&text("FIRST", "Last."), [STANDS, UNDONE]).await;
    // The control: the edit of those lines asks.
    let redone = note.try_redo(1).await;
    let [place] = only_conflict(&redone).places.as_slice() else { panic!("{redone:?}") };
    assert_eq!((place.now.as_str(), place.back.as_str()), ("Last.\n", "LAST\n"));
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_edits_of_one_line_the_later_asks_about_its_own_text() {
    let edits = [("alpha", "beta"), ("beta", "gamma")];
    let note = EditedNote::start(&text("alpha", "last"), &edits, &[]).await;
    note.undo_all().await;
    note.redo(0).await;
    note.assert_state(&text("beta", "last"), [STANDS, UNDONE]).await;
    note.redo(1).await;
    note.assert_state(&text("gamma", "last"), [STANDS, STANDS]).await;

    note.undo_all().await;
    let redone = note.try_redo(1).await;
    let conflict = only_conflict(&redone);
    let [place] = conflict.places.as_slice() else { panic!("{conflict:?}") };
    assert_eq!((place.now.as_str(), place.back.as_str()), ("alpha\n", "gamma\n"));
    note.running.app.resolve_conflict(conflict).await.expect("answered");
    note.assert_state(&text("gamma", "last"), [UNDONE, STANDS]).await;
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_redone_alone_in_the_note_that_the_user_chooses() {
    let note = note_after_two_edits().await;
    note.undo_all().await;
    let replace = |home: &TestHome| {
        // Unseen: another file comes in the place of the note.
        fs::remove_file(home.notes.root().join(NOTE)).expect("removed");
        home.notes.write(NOTE, text("first", "last") + "by hand\n");
    };
    let note = note.reopen(replace).await;
    let asked = note.try_redo(0).await;
    let target = answer(only_conflict(&asked));
    assert_eq!(target.action, UndoAction::Redo);
    let redone = note.running.app.undo_in_note(&target).await.expect("redone there");
    assert_eq!(redone.conflicts.as_slice(), &[][..]);
    note.assert_state(&(text("FIRST", "last") + "by hand\n"), [STANDS, UNDONE]).await;
    // The same answer once more undoes nothing.
    note.running.app.undo_in_note(&target).await.expect_err("it is redone");
    note.assert_state(&(text("FIRST", "last") + "by hand\n"), [STANDS, UNDONE]).await;
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_is_gone_is_restored_with_the_redone_edit_alone() {
    let note = note_after_two_edits().await;
    note.undo_all().await;
    fs::remove_file(note.home.notes.root().join(NOTE)).expect("removed");
    let redone = note.try_redo(1).await;
    let conflict = only_conflict(&redone);
    assert_eq!(conflict.places[0].back, text("first", "LAST"));
    note.running.app.resolve_conflict(conflict).await.expect("restored");
    note.assert_state(&text("first", "LAST"), [UNDONE, STANDS]).await;
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_an_edit_in_two_places_the_one_in_conflict_is_left_to_the_answer() {
    let before = "one\n\ntwo\n\nthree\n\nfour\n";
    let edits = [("one\n\ntwo\n\nthree", "ONE\n\ntwo\n\nTHREE"), ("four", "FOUR")];
    let note = EditedNote::start(before, &edits, &[]).await;
    note.undo_all().await;
    note.write("mine\n\ntwo\n\nthree\n\nfour\n");
    let redone = note.try_redo(0).await;
    let [conflict] = redone.conflicts.as_slice() else { panic!("{redone:?}") };
    assert_eq!(conflict.hunks, [0]);
    let partly = ChangeStatus::PartlyUndone;
    note.assert_state("mine\n\ntwo\n\nTHREE\n\nfour\n", [partly, UNDONE]).await;
    note.running.app.resolve_conflict(conflict).await.expect("answered");
    note.assert_state("ONE\n\ntwo\n\nTHREE\n\nfour\n", [STANDS, UNDONE]).await;
    note.redo(1).await;
    note.assert_state("ONE\n\ntwo\n\nTHREE\n\nFOUR\n", [STANDS, STANDS]).await;
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_is_redone_is_left_alone_when_the_other_one_is_redone_later() {
    let edits = [("one\n\ntwo\n\nthree", "ONE\n\ntwo\n\nTHREE")];
    let note = EditedNote::start("one\n\ntwo\n\nthree\n\nfour\n\nfive\n", &edits, &[]).await;
    note.undo_all().await;
    note.write("mine\n\ntwo\n\nthree\n\nfour\n\nfive\n");
    let redone = note.try_redo(0).await;
    let [conflict] = redone.conflicts.as_slice() else { panic!("{redone:?}") };
    assert_eq!(conflict.hunks, [0]);
    let partly = ChangeStatus::PartlyUndone;
    note.assert_state("mine\n\ntwo\n\nTHREE\n\nfour\n\nfive\n", [partly]).await;

    // The redone line is elsewhere by now.
    note.write("one\n\ntwo\n\nfour\n\nfive\nTHREE\n");
    note.redo(0).await;
    note.assert_state("ONE\n\ntwo\n\nfour\n\nfive\nTHREE\n", [STANDS]).await;
    note.assert_nothing_to_redo(0).await;
    note.running.quit().await;
}

/// The lines of the note between which the user writes, and the edit of each.
const EDITED_LINES: [(&str, &str); 3] = [("one", "ONE"), ("two", "TWO"), ("three", "THREE")];

/// How the edits stand, and the lines that the user wrote after each of them.
#[derive(Debug, Clone)]
struct ExpectedNote {
    stand: [bool; 3],
    by_hand: [Vec<String>; 3],
}

impl ExpectedNote {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        for (place, (old, new)) in EDITED_LINES.iter().enumerate() {
            lines.push((if self.stand[place] { *new } else { *old }).to_owned());
            lines.push(String::new());
            lines.extend(self.by_hand[place].iter().cloned());
            lines.push(String::new());
        }
        lines.join("\n") + "\n"
    }

    fn standings(&self) -> [ChangeStatus; 3] {
        self.stand.map(|stands| if stands { STANDS } else { UNDONE })
    }
}

/// Undoes, redoes and edits at random. Asserts after each step that each line says what was decided about it last.
async fn follow_random_decisions(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut expected = ExpectedNote { stand: [false; 3], by_hand: Default::default() };
    let mut note = EditedNote::start(&expected.text(), &EDITED_LINES, &[]).await;
    expected.stand = [true; 3];
    let mut before_newest = [true, true, false];
    let mut steps = Vec::new();
    for step in 0..36 {
        let (choice, place) = (random.usize(0..20), random.usize(0..3));
        steps.push((choice, place));
        let is_redo = matches!(choice, 8..=15);
        let was = expected.stand;
        let scope = match choice {
            0..=3 | 8 => note.all(),
            4..=15 => note.edit(place).await,
            16 => {
                let newest = applied_sets(&note.running).await.remove(0);
                UndoScope::ChangeSet { change_set: newest.id }
            }
            17 | 18 => {
                expected.by_hand[place].push(format!("by hand {step}"));
                note.write(&expected.text());
                continue;
            }
            _ => {
                note = note.reopen(|_| {}).await;
                continue;
            }
        };
        match choice {
            0..=3 | 8 => expected.stand = [is_redo; 3],
            16 => expected.stand = before_newest,
            _ => expected.stand[place] = is_redo,
        }
        let app = &note.running.app;
        let result = if is_redo { app.redo(&scope).await } else { app.undo(&scope).await };
        if expected.stand == was {
            result.expect_err("nothing to do");
        } else {
            let result = result.unwrap_or_else(|error| panic!("{seed} {steps:?}: {error:?}"));
            assert_eq!((result.conflicts.len(), result.left), (0, 0), "{seed} {steps:?}");
            before_newest = was;
        }
        let found = applied_sets(&note.running).await.into_iter().rev().take(3);
        let found: Vec<_> = found.map(|set| set.notes[0].standing).collect();
        assert_eq!(note.read(), expected.text(), "seed {seed}, steps {steps:?}");
        assert_eq!(found, expected.standings(), "seed {seed}, steps {steps:?}");
    }
    note.running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_line_says_what_was_decided_about_it_last() {
    for seed in 0..5 {
        follow_random_decisions(seed).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_a_note_whose_creation_was_undone_with_it_brings_the_note_back() {
    let made = "one\ntwo\n";
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("write_file", json!({ "path": NOTE, "content": made }))]),
        Reply::text("Done."),
        Reply::calls(vec![("append_file", json!({ "path": NOTE, "content": "three" }))]),
        Reply::text("Done."),
    ])
    .await;
    let home = home_with_key(&[]);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "Please").await;
    running.send_and_wait(Some(&conversation), "Please").await;
    let note = EditedNote { home, model, running, conversation: Some(conversation) };
    let whole = format!("{made}three\n");
    note.assert_state(&whole, [STANDS, STANDS]).await;
    note.undo_all().await;
    assert_eq!(note.home.notes.try_read(NOTE), None);
    note.redo(1).await;
    // The appended line has a meaning only in its note: both are listed as they are.
    note.assert_state(&whole, [STANDS, STANDS]).await;
    note.assert_nothing_to_redo(0).await;
    note.running.quit().await;
}
