//! Several notes had one path, one after the other.

use std::collections::HashSet;

use protocol::{Change, ChangeAction, ChangeKind, ChangeSet, ContentHash, EffectId};
use vault::undo::{EffectConflictReason, LedgerView, UndoPlan, UndoRequest, plan_undo};

use crate::cases::{back, back_there, edit, world};
use crate::folders;
use crate::simulation::{LineId, SimulatedVault, bytes, path};

/// The note goes to the trash.
fn trash(world: &mut SimulatedVault) -> EffectId {
    let text = bytes(&world.notes[&path("a.md")].lines);
    world.apply(&ChangeSet::one(Change::trash(path("a.md"), text)), "turn");
    world.ledger.last().unwrap().id.clone()
}

/// The folders `F` and `G`, with these notes in them.
fn world_with_folders(notes: &[&str]) -> SimulatedVault {
    let mut world = world();
    for folder in ["F", "G"] {
        let file = world.new_file();
        world.folders.insert(path(folder), file);
    }
    for note in notes {
        world.add_note(&path(note), vec![70]);
    }
    world
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
fn restored_copy_is_not_taken_for_the_note_that_was_deleted_before_it() {
    for is_kept in [true, false] {
        let mut world = world();
        let edited = edit(&mut world, &[1, 20, 3, 4, 5]);
        trash(&mut world);
        // The user takes it out of the trash, so its name is free there, and puts a copy in its place.
        let (_, note) = world.trashed.pop().unwrap();
        if is_kept {
            world.put_moved(path("Kept/a.md"), note);
        }
        world.add_note(&path("a.md"), vec![1, 20, 3, 4, 5]);
        let edited_copy = edit(&mut world, &[1, 20, 3, 40, 5]);
        back(&mut world, &UndoRequest::undo([edited_copy.clone()]));
        let trashed = trash(&mut world);
        assert_eq!(back(&mut world, &UndoRequest::undo([trashed])).conflicts, []);

        let plan = back_there(&mut world, &UndoRequest::undo([edited.clone()]));
        assert_eq!(world.notes[&path("a.md")].lines, [1, 20, 3, 4, 5], "{plan:?}");
        if is_kept {
            assert_eq!(plan.conflicts, []);
            assert_eq!(world.notes[&path("Kept/a.md")].lines, [1, 2, 3, 4, 5]);
        } else {
            assert_eq!(conflicts(&plan), [(edited, EffectConflictReason::Unsure)]);
        }
        // The control: the copy is the note that went to the trash last.
        let by = world.ledger.iter().position(|effect| effect.id == edited_copy).unwrap() + 1;
        let redo = UndoRequest::undo([world.ledger[by].id.clone()]);
        assert_eq!(back(&mut world, &redo).conflicts, []);
        assert_eq!(world.notes[&path("a.md")].lines, [1, 20, 3, 40, 5]);
    }
}

#[test]
fn undo_of_a_creation_leaves_a_restored_note_of_the_same_template_where_it_is() {
    let mut world = world();
    world.notes.remove(&path("a.md"));
    let create = |world: &mut SimulatedVault| {
        world.apply(&ChangeSet::one(Change::create(path("a.md"), bytes(&[70]))), "turn");
        world.ledger.last().unwrap().id.clone()
    };
    let first = create(&mut world);
    trash(&mut world);
    // The user empties the trash.
    world.trashed.clear();
    let second = create(&mut world);
    let trashed = trash(&mut world);
    assert_eq!(back(&mut world, &UndoRequest::undo([trashed])).conflicts, []);
    assert_eq!(back(&mut world, &UndoRequest::undo([first])), UndoPlan::default());
    assert!(world.notes.contains_key(&path("a.md")));
    // The control: it is the second one.
    assert_eq!(back(&mut world, &UndoRequest::undo([second])).changes.len(), 1);
    assert!(!world.notes.contains_key(&path("a.md")));
}

#[test]
fn note_is_restored_as_itself_although_another_one_got_its_name_in_the_trash() {
    for (folder, lines) in [("", &[70][..]), ("F/", &[1, 20, 3, 4, 5][..])] {
        let mut world = world();
        let edited = edit(&mut world, &[1, 20, 3, 4, 5]);
        let trashed = trash(&mut world);
        let other = path(&format!("{folder}a.md"));
        world.add_note(&other, lines.to_vec());
        world.apply(&ChangeSet::one(Change::trash(other, bytes(lines))), "turn");
        assert_eq!(world.ledger[1].trashed, world.ledger[2].trashed);
        assert_eq!(back(&mut world, &UndoRequest::undo([trashed])).conflicts, []);
        assert_eq!(back(&mut world, &UndoRequest::undo([edited])).conflicts, [], "{folder}");
        assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5]);
    }
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

/// Moves a note.
fn rename(world: &mut SimulatedVault, from: &str, to: &str) -> EffectId {
    world.apply(&ChangeSet::one(Change::rename(path(from), path(to))), "turn");
    world.ledger.last().unwrap().id.clone()
}

#[test]
fn move_from_a_path_that_another_note_took_is_undone_once_that_one_is_away() {
    let mut world = world();
    world.add_note(&path("b.md"), vec![70]);
    let first = rename(&mut world, "a.md", "old.md");
    let second = rename(&mut world, "b.md", "a.md");
    let request = UndoRequest::undo([first.clone(), second.clone()]);
    let plan = plan_undo(&world.ledger_view(&request), &request, &world);
    assert_eq!(conflicts(&plan), [(first.clone(), EffectConflictReason::Entangled)]);
    assert!(plan.leaves_more() && plan.changes.len() == 1, "{plan:?}");

    let (set, whole) = folders::undo(&mut world, &request);
    assert_eq!(whole.conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5]);
    assert_eq!(world.notes[&path("b.md")].lines, [70]);

    // The same for its redo.
    let of_set = world.ledger.iter().filter(|effect| effect.change_set == set);
    let request = UndoRequest::undo(of_set.map(|effect| effect.id.clone()).collect::<Vec<_>>());
    assert_eq!(folders::undo(&mut world, &request).1.conflicts, []);
    assert_eq!(world.notes[&path("old.md")].lines, [1, 2, 3, 4, 5]);
    assert_eq!(world.notes[&path("a.md")].lines, [70]);

    // The control: by itself the first move has a stranger in its way.
    let plan = back(&mut world, &UndoRequest::undo([first.clone()]));
    assert_eq!(conflicts(&plan), [(first, EffectConflictReason::Taken)]);
}

#[test]
fn notes_that_changed_their_paths_with_each_other_are_undone() {
    let mut world = world();
    world.add_note(&path("b.md"), vec![70]);
    let ways = [("a.md", "c.md"), ("b.md", "a.md"), ("c.md", "b.md")];
    let effects = ways.map(|(from, to)| rename(&mut world, from, to));
    let (_, plan) = folders::undo(&mut world, &UndoRequest::undo(effects));
    assert_eq!(plan.conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5]);
    assert_eq!(world.notes[&path("b.md")].lines, [70]);
}

#[test]
fn folder_that_another_one_replaced_is_undone_once_that_one_is_away() {
    let mut world = world_with_folders(&["F/n.md", "G/n.md"]);
    let identity = world.notes[&path("F/n.md")].identity;
    let effects = [("F", "Old"), ("G", "F")].map(|(from, to)| {
        world.apply(&ChangeSet::one(Change::rename_folder(path(from), path(to))), "turn");
        world.ledger.last().unwrap().id.clone()
    });
    let (_, plan) = folders::undo(&mut world, &UndoRequest::undo(effects));
    assert_eq!(plan.conflicts, []);
    assert_eq!(world.notes[&path("F/n.md")].identity, identity);
    assert!(world.notes.contains_key(&path("G/n.md")));
}

#[test]
fn deleted_note_comes_back_once_the_note_that_was_moved_to_its_path_is_away() {
    let mut world = world();
    world.add_note(&path("b.md"), vec![70]);
    let trashed = trash(&mut world);
    let moved = rename(&mut world, "b.md", "a.md");
    let request = UndoRequest::undo([trashed.clone(), moved]);
    let plan = plan_undo(&world.ledger_view(&request), &request, &world);
    assert_eq!(conflicts(&plan), [(trashed.clone(), EffectConflictReason::Entangled)]);
    // The control: without the move, the other note is in its way.
    let alone = UndoRequest::undo([trashed.clone()]);
    let plan = plan_undo(&world.ledger_view(&alone), &alone, &world);
    assert_eq!(conflicts(&plan), [(trashed, EffectConflictReason::Taken)]);

    assert_eq!(folders::undo(&mut world, &request).1.conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5]);
    assert_eq!(world.notes[&path("b.md")].lines, [70]);
}

#[test]
fn note_that_was_made_where_another_one_was_moved_away_is_made_again_by_the_redo() {
    let mut world = world();
    let moved = rename(&mut world, "a.md", "b.md");
    world.apply(&ChangeSet::one(Change::create(path("a.md"), bytes(&[70]))), "turn");
    let made = world.ledger.last().unwrap().id.clone();
    let (set, plan) = folders::undo(&mut world, &UndoRequest::undo([moved, made]));
    assert_eq!(plan.conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5]);

    let of_set = world.ledger.iter().filter(|effect| effect.change_set == set);
    let request = UndoRequest::undo(of_set.map(|effect| effect.id.clone()).collect::<Vec<_>>());
    assert_eq!(folders::undo(&mut world, &request).1.conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [70]);
    assert_eq!(world.notes[&path("b.md")].lines, [1, 2, 3, 4, 5]);
}

#[test]
fn deleted_folder_comes_back_once_the_folder_that_was_moved_to_its_path_is_away() {
    let mut world = world_with_folders(&["F/n.md", "G/n.md"]);
    let identity = world.notes[&path("F/n.md")].identity;
    let act = ChangeAction::TrashFolder { holds: Some(world.folder_contents(&path("F"))) };
    let sets = [Change { path: path("F"), act }, Change::rename_folder(path("G"), path("F"))];
    let [trashed, moved] = sets.map(|change| {
        world.apply(&ChangeSet::one(change), "turn");
        world.ledger.last().unwrap().id.clone()
    });
    // The control: without the move, the other folder is in its way.
    let alone = UndoRequest::undo([trashed.clone()]);
    let plan = plan_undo(&world.ledger_view(&alone), &alone, &world);
    assert_eq!(conflicts(&plan), [(trashed.clone(), EffectConflictReason::Taken)]);

    let request = UndoRequest::undo([trashed, moved]);
    assert_eq!(folders::undo(&mut world, &request).1.conflicts, []);
    assert_eq!(world.notes[&path("F/n.md")].identity, identity);
    assert!(world.notes.contains_key(&path("G/n.md")));
}

#[test]
fn notes_of_a_deleted_folder_come_back_in_it_and_not_in_the_folder_that_took_its_path() {
    let mut world = world_with_folders(&["F/n.md", "F/m.md", "G/o.md"]);
    let apply = |world: &mut SimulatedVault, change| {
        world.apply(&ChangeSet::one(change), "turn");
        world.ledger.last().unwrap().id.clone()
    };
    let note = apply(&mut world, Change::trash(path("F/n.md"), bytes(&[70])));
    let act = ChangeAction::TrashFolder { holds: Some(world.folder_contents(&path("F"))) };
    let folder = apply(&mut world, Change { path: path("F"), act });
    let moved = apply(&mut world, Change::rename_folder(path("G"), path("F")));
    let (_, plan) = folders::undo(&mut world, &UndoRequest::undo([note, folder, moved]));
    assert_eq!(plan.conflicts, []);
    for note in ["F/n.md", "F/m.md", "G/o.md"] {
        assert!(world.notes.contains_key(&path(note)), "{note}");
    }
    assert!(!world.notes.contains_key(&path("G/n.md")));
}

#[test]
fn texts_of_another_note_with_the_path_are_no_versions_of_a_note() {
    for is_created in [false, true] {
        let mut world = world();
        let first = edit(&mut world, &[1, 20, 3, 4, 5]);
        trash(&mut world);
        if is_created {
            world.apply(&ChangeSet::one(Change::create(path("a.md"), bytes(&[70, 71]))), "turn");
        } else {
            world.add_note(&path("a.md"), vec![70, 71]);
        }
        let second = edit(&mut world, &[70, 72]);
        let versions = |effect: &EffectId| {
            let request = UndoRequest::undo([effect.clone()]);
            LedgerView::new(world.ledger.clone()).missing_contents(&request)
        };
        let of_first: HashSet<_> = [&[1, 2, 3, 4, 5][..], &[1, 20, 3, 4, 5]].map(hash).into();
        let of_second: HashSet<_> = [&[70, 71][..], &[70, 72]].map(hash).into();
        assert_eq!(versions(&first), of_first, "{is_created}");
        assert_eq!(versions(&second), of_second, "{is_created}");
    }
}

#[test]
fn versions_of_a_note_lead_through_the_trash_and_moves() {
    let mut world = world();
    let first = edit(&mut world, &[1, 20, 3, 4, 5]);
    let trashed = trash(&mut world);
    back(&mut world, &UndoRequest::undo([trashed]));
    edit(&mut world, &[1, 20, 3, 4, 50]);
    let request = UndoRequest::undo([first]);
    let versions = LedgerView::new(world.ledger.clone()).missing_contents(&request);
    assert!(versions.contains(&hash(&[1, 20, 3, 4, 50])), "{versions:?}");
    assert_eq!(versions.len(), 3);
}

fn hash(lines: &[LineId]) -> ContentHash {
    ContentHash::of(&bytes(lines))
}
