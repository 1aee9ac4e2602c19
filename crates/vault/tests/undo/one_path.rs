//! Several notes had one path, one after the other.

use protocol::{Change, ChangeKind, ChangeSet, EffectId};
use vault::undo::{EffectConflictReason, UndoPlan, UndoRequest};

use crate::cases::{back, edit, world};
use crate::simulation::{LineId, SimulatedVault, bytes, path};

/// The note goes to the trash.
fn trash(world: &mut SimulatedVault) -> EffectId {
    let text = bytes(&world.notes[&path("a.md")].lines);
    world.apply(&ChangeSet::one(Change::trash(path("a.md"), text)), "turn");
    world.ledger.last().unwrap().id.clone()
}

fn conflicts(plan: &UndoPlan) -> Vec<(EffectId, EffectConflictReason)> {
    plan.conflicts.iter().map(|conflict| (conflict.effect.clone(), conflict.why)).collect()
}

/// Two notes were deleted at one path, the second with these lines: undoes both deletions.
fn undo_of_two_deletions(second: &[LineId]) -> (SimulatedVault, EffectId, UndoPlan) {
    let mut world = world();
    let first = trash(&mut world);
    world.add_note(&path("a.md"), second.to_vec());
    let effects = [first.clone(), trash(&mut world)];
    let plan = back(&mut world, &UndoRequest::undo(effects));
    assert_eq!(world.notes[&path("a.md")].lines, second);
    (world, first, plan)
}

#[test]
fn of_two_deleted_notes_with_one_path_the_second_is_in_the_way_of_the_first() {
    let (mut world, first, plan) = undo_of_two_deletions(&[70, 71]);
    assert_eq!(conflicts(&plan), [(first.clone(), EffectConflictReason::Taken)]);
    assert_eq!((plan.changes.len(), plan.undone.len()), (1, 1), "{plan:?}");
    // Once the second is out of the way, the first comes back.
    world.notes.remove(&path("a.md"));
    assert_eq!(back(&mut world, &UndoRequest::undo([first])).conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5]);
    // The control: what would come back is there.
    let (_, _, plan) = undo_of_two_deletions(&[1, 2, 3, 4, 5]);
    assert_eq!(plan.conflicts, []);
}

#[test]
fn note_that_was_deleted_twice_is_not_in_its_own_way() {
    let mut world = world();
    let first = trash(&mut world);
    back(&mut world, &UndoRequest::undo([first.clone()]));
    edit(&mut world, &[1, 20, 3, 4, 5]);
    let effects = [first, trash(&mut world)];
    assert_eq!(back(&mut world, &UndoRequest::undo(effects)).conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [1, 20, 3, 4, 5]);
}

#[test]
fn deleted_note_does_not_come_back_in_the_file_of_the_one_that_was_made_in_its_place() {
    let mut world = world();
    let edited = edit(&mut world, &[1, 20, 3, 4, 5]);
    let trashed = trash(&mut world);
    world.apply(&ChangeSet::one(Change::create(path("a.md"), bytes(&[70]))), "turn");
    let made = world.ledger.last().unwrap().id.clone();

    let plan = back(&mut world, &UndoRequest::undo([trashed.clone(), made]));
    assert_eq!(conflicts(&plan), [(trashed.clone(), EffectConflictReason::Entangled)]);
    let kinds: Vec<_> = plan.changes.changes().map(Change::kind).collect();
    assert_eq!(kinds, [ChangeKind::Trash]);
    // The control: by itself it comes back as the note that it was, so earlier changes of it are undone.
    assert_eq!(back(&mut world, &UndoRequest::undo([trashed])).conflicts, []);
    assert_eq!(back(&mut world, &UndoRequest::undo([edited])).conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5]);
}
