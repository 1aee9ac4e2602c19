//! The user's answers: which folder a change is about, and which version stays. The answer to a conflict of a move and
//! the links to it completes the undo of all of them.

use protocol::changes::history::UndoCandidate;
use protocol::{Change, ChangeKind, ChangeSet, EffectId, FileId};
use vault::undo::{
    ConflictAnswer, EffectConflictReason, EffectivePart, Hunks, LedgerView, UndoDirection,
    UndoPlan, UndoRequest, identify_note, plan_answered_undo, plan_undo,
};

use crate::cases::{EmptyFolders, back, edit, folder_effect, world};
use crate::simulation::{LineId, SimulatedVault, bytes, lines, path};

#[test]
fn folder_is_identified_for_its_move_and_not_for_an_edit() {
    let (moved, other) = (FileId { inode: 1, born: Some(1) }, FileId { inode: 2, born: Some(2) });
    let folders = EmptyFolders(vec![(path("New"), other)]);
    let chosen = UndoCandidate { path: path("New"), file: other };
    let identify = |kind: ChangeKind, at: &str| {
        let past = LedgerView::new(vec![folder_effect("e", kind, at, moved)]);
        identify_note(&past, &EffectId::from("e"), &chosen, &folders)
    };
    let found = identify(ChangeKind::RenameFolder, "Old").expect("identified");
    assert_eq!((found.from, found.to), (path("New"), path("New")));
    assert_eq!((found.base, found.file), (Some(moved), Some(other)));
    // The control: an edit is undone in a text, and the folder has none.
    assert_eq!(identify(ChangeKind::Replace, "New"), None);
}

/// `a.md` was moved, two notes link to it, and the user changed one line of each link that is named here since.
fn moved(changed_since: &[&str]) -> (SimulatedVault, [EffectId; 3]) {
    let mut world = world();
    let set = ["one.md", "two.md"].map(|note| {
        world.add_note(&path(note), vec![60, 61, 62, 63, 64]);
        Change::replace(path(note), bytes(&[60, 61, 62, 63, 64]), bytes(&[60, 71, 62, 73, 64]))
    });
    let moved = Change::rename(path("a.md"), path("b.md"));
    world.apply(&set.into_iter().chain([moved]).collect(), "turn");
    for note in changed_since {
        world.notes.get_mut(&path(note)).unwrap().lines = vec![60, 81, 62, 73, 64];
    }
    let effects = [0, 1, 2].map(|at| world.ledger[at].id.clone());
    (world, effects)
}

/// The answer that a note gets this text instead of its present one.
fn answer(world: &SimulatedVault, effect: &EffectId, at: &str, after: &[LineId]) -> ConflictAnswer {
    let note = world.notes.get(&path(at));
    let after = bytes(after);
    let change = match note {
        Some(note) => Change::replace(path(at), bytes(&note.lines), after),
        None => Change::create(path(at), after),
    };
    ConflictAnswer { effect: effect.clone(), change, file: note.map(|note| note.file) }
}

/// Plans the answer with all that is not undone yet, and applies it.
fn give(world: &mut SimulatedVault, answer: &ConflictAnswer) -> UndoPlan {
    let reverts = world.reverts();
    let is_undone = |id: &EffectId| reverts.effective_part(id) == EffectivePart::Nothing;
    let all = world.ledger.iter().take(3).map(|effect| effect.id.clone());
    let (undone, left): (Vec<_>, Vec<_>) = all.partition(is_undone);
    let request = UndoRequest::undo(left);
    let mut past = world.ledger_view(&request);
    undone.into_iter().for_each(|effect| past.add_undone(effect));
    let plan = plan_answered_undo(&past, &request, world, answer);
    let set = world.apply(&plan.changes, "undo");
    world.remember(&set, &plan);
    plan
}

fn assert_moved_back(world: &SimulatedVault, effects: &[EffectId]) {
    assert!(world.notes.contains_key(&path("a.md")) && !world.notes.contains_key(&path("b.md")));
    for note in ["one.md", "two.md"] {
        assert_eq!(world.notes[&path(note)].lines, [60, 61, 62, 63, 64], "{note}");
    }
    for effect in effects {
        assert_eq!(world.reverts().effective_part(effect), EffectivePart::Nothing);
    }
}

#[test]
fn answer_to_the_only_conflict_undoes_the_move_and_the_other_places_with_it() {
    let (mut world, effects) = moved(&["one.md"]);
    let request = UndoRequest::undo(effects.clone());
    let plan = plan_undo(&world.ledger_view(&request), &request, &world);
    let [conflict] = plan.conflicts.as_slice() else { panic!("{plan:?}") };
    assert_eq!((&conflict.effect, plan.changes.len()), (&effects[0], 0));
    assert_eq!(conflict.hunks, Hunks::All, "nothing of it is undone");

    // The answer is about the one line that was shown.
    let answer = answer(&world, &effects[0], "one.md", &[60, 61, 62, 73, 64]);
    let plan = give(&mut world, &answer);
    assert_eq!((plan.conflicts.len(), plan.unit.len()), (0, 3), "{plan:?}");
    assert_moved_back(&world, &effects);
}

#[test]
fn answer_beside_another_conflict_undoes_its_own_note_and_the_next_one_the_rest() {
    let (mut world, effects) = moved(&["one.md", "two.md"]);
    let first = answer(&world, &effects[0], "one.md", &[60, 61, 62, 73, 64]);
    let plan = give(&mut world, &first);
    let [conflict] = plan.conflicts.as_slice() else { panic!("{plan:?}") };
    assert_eq!((&conflict.effect, &conflict.hunks), (&effects[1], &Hunks::All));
    assert!(world.notes.contains_key(&path("b.md")), "the move stands");
    assert_eq!(world.notes[&path("one.md")].lines, [60, 61, 62, 63, 64]);
    let standing = effects.clone().map(|effect| world.reverts().effective_part(&effect));
    assert_eq!(standing, [EffectivePart::Nothing, EffectivePart::Whole, EffectivePart::Whole]);

    // The note that is undone is the user's again, and is in nobody's way.
    world.notes.get_mut(&path("one.md")).unwrap().lines = vec![60, 91, 62, 63, 64];
    let second = answer(&world, &effects[1], "two.md", &[60, 61, 62, 73, 64]);
    let plan = give(&mut world, &second);
    assert_eq!(plan.conflicts, []);
    assert_eq!(world.notes[&path("one.md")].lines, [60, 91, 62, 63, 64]);
    world.notes.get_mut(&path("one.md")).unwrap().lines = vec![60, 61, 62, 63, 64];
    assert_moved_back(&world, &effects);
}

#[test]
fn note_that_the_answer_makes_again_is_not_asked_about() {
    let (mut world, effects) = moved(&[]);
    world.notes.remove(&path("one.md"));
    let request = UndoRequest::undo(effects.clone());
    let plan = plan_undo(&world.ledger_view(&request), &request, &world);
    assert_eq!((plan.conflicts.len(), plan.changes.len()), (1, 0), "the control: it is gone");
    let answer = answer(&world, &effects[0], "one.md", &[60, 61, 62, 63, 64]);
    let plan = give(&mut world, &answer);
    assert_eq!(plan.conflicts, []);
    let kinds: Vec<_> = plan.changes.changes().map(Change::kind).collect();
    assert_eq!(kinds, [ChangeKind::Create, ChangeKind::Replace, ChangeKind::Rename]);
    assert_moved_back(&world, &effects);
}

/// The user writes these lines in `a.md`.
fn write(world: &mut SimulatedVault, lines: &[LineId]) {
    world.notes.get_mut(&path("a.md")).unwrap().lines = lines.to_vec();
}

/// Moves a note to the trash.
fn trash(world: &mut SimulatedVault, at: &str) -> EffectId {
    let text = bytes(&world.notes[&path(at)].lines);
    world.apply(&ChangeSet::one(Change::trash(path(at), text)), "turn");
    world.ledger.last().unwrap().id.clone()
}

/// The lines in which a note that is gone would be made again.
#[track_caller]
fn restored(world: &SimulatedVault, request: &UndoRequest) -> Vec<LineId> {
    let plan = plan_undo(&world.ledger_view(request), request, world);
    let [conflict] = plan.conflicts.as_slice() else { panic!("{plan:?}") };
    assert_eq!((conflict.why, plan.changes.len()), (EffectConflictReason::Gone, 0));
    let [all] = conflict.lines.as_slice() else { panic!("{conflict:?}") };
    lines(&all.restored)
}

#[test]
fn note_that_is_gone_is_offered_as_it_was_last_without_the_change() {
    for is_trashed in [false, true] {
        let mut world = world();
        let first = edit(&mut world, &[1, 20, 3, 4, 5]);
        let undo = UndoRequest::undo([first]);
        let mut alone = world.clone();
        alone.notes.remove(&path("a.md"));
        assert_eq!(restored(&alone, &undo), [1, 2, 3, 4, 5], "the control: it was the last one");

        write(&mut world, &[1, 20, 3, 30, 4, 5]);
        edit(&mut world, &[1, 20, 3, 30, 4, 50]);
        let mut expected = vec![1, 2, 3, 30, 4, 50];
        if is_trashed {
            write(&mut world, &[1, 20, 3, 30, 4, 50, 60]);
            expected.push(60);
            trash(&mut world, "a.md");
        } else {
            world.notes.remove(&path("a.md"));
        }
        assert_eq!(restored(&world, &undo), expected);
    }
}

#[test]
fn lines_of_a_note_that_is_gone_are_offered_as_they_were_last_where_the_change_was_rewritten() {
    for hunks in [Hunks::All, Hunks::Some([0, 1].into())] {
        let mut world = world();
        let first = edit(&mut world, &[1, 20, 3, 40, 5]);
        write(&mut world, &[1, 21, 3, 40, 5, 6]);
        edit(&mut world, &[1, 21, 3, 40, 5, 6, 7]);
        world.notes.remove(&path("a.md"));
        let effects = [(first, hunks)].into();
        let request = UndoRequest { effects, ..UndoRequest::undo([]) };
        assert_eq!(restored(&world, &request), [1, 21, 3, 4, 5, 6, 7]);
    }
}

#[test]
fn note_that_is_gone_is_offered_as_it_was_last_with_the_change_that_is_reapplied() {
    let mut world = world();
    let first = edit(&mut world, &[1, 20, 3, 4, 5]);
    let again = UndoRequest { direction: UndoDirection::Again, ..UndoRequest::undo([first]) };
    let mut alone = world.clone();
    alone.notes.remove(&path("a.md"));
    assert_eq!(restored(&alone, &again), [1, 20, 3, 4, 5], "the control: it was the last one");
    // Another program overwrites it, and the note is edited after that.
    write(&mut world, &[1, 2, 3, 4, 5, 6]);
    edit(&mut world, &[1, 2, 3, 4, 50, 6]);
    world.notes.remove(&path("a.md"));
    assert_eq!(restored(&world, &again), [1, 20, 3, 4, 50, 6]);
}

#[test]
fn note_that_is_gone_is_not_offered_with_the_text_of_another_one_that_was_in_the_trash() {
    let mut world = world();
    let first = edit(&mut world, &[1, 20, 3, 4, 5]);
    trash(&mut world, "a.md");
    world.trashed.clear();
    // The name is free in the trash.
    world.add_note(&path("F/a.md"), vec![70, 71, 72]);
    let other = trash(&mut world, "F/a.md");
    back(&mut world, &UndoRequest::undo([other]));
    let change = Change::replace(path("F/a.md"), bytes(&[70, 71, 72]), bytes(&[70, 71, 73]));
    world.apply(&ChangeSet::one(change), "turn");
    assert_eq!(restored(&world, &UndoRequest::undo([first])), [1, 2, 3, 4, 5]);
}
