//! A note stays the same one through batches that edit and move it, through folders that are moved, and through the
//! trash; another one that came into its place is never taken for it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use protocol::changes::history::UndoCandidate;
use protocol::{Change, ChangeAction, ChangeSet, EffectId, FileId, LineCounts, NotePath};
use vault::undo::{
    EffectConflictReason, EffectivePart, UndoPlan, UndoRequest, VaultFile, VaultReader,
    current_path, current_paths, identify_note, may_be_at, plan_undo,
};

use crate::cases::{assert_paths_of_changes, back, back_there, edit, world};
use crate::folders::undo;
use crate::simulation::{LineId, SimulatedVault, bytes, path};

/// The assistant edits `a.md` and moves it to `b.md`, in one batch.
fn edit_and_move(world: &mut SimulatedVault, after: &[LineId]) {
    let before = bytes(&world.notes[&path("a.md")].lines);
    let set = [
        Change::replace(path("a.md"), before, bytes(after)),
        Change::rename(path("a.md"), path("b.md")),
    ];
    world.apply(&set.into_iter().collect(), "turn");
}

#[test]
fn another_note_that_was_edited_and_moved_at_once_is_not_taken_for_the_one_before_it() {
    for is_earlier_version in [true, false] {
        for is_kept in [true, false] {
            let mut world = world();
            world.is_earlier_version = is_earlier_version;
            let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
            let note = world.notes.remove(&path("a.md")).unwrap();
            if is_kept {
                world.notes.insert(path("Kept/x.md"), note);
            }
            world.add_note(&path("a.md"), vec![1, 20, 3, 4, 5]);
            edit_and_move(&mut world, &[1, 20, 3, 4, 5, 6]);
            assert_eq!(world.ledger[2].base.is_none(), is_earlier_version);

            let plan = back_there(&mut world, &UndoRequest::undo([effect]));
            assert_eq!(world.notes[&path("b.md")].lines, [1, 20, 3, 4, 5, 6], "{plan:?}");
            if is_kept {
                assert_eq!(plan.conflicts, []);
                assert_eq!(world.notes[&path("Kept/x.md")].lines, [1, 2, 3, 4, 5]);
            } else {
                let [conflict] = plan.conflicts.as_slice() else { panic!("{plan:?}") };
                assert_eq!(conflict.why, EffectConflictReason::Gone);
            }
        }
    }
}

#[test]
fn note_that_was_edited_and_moved_at_once_is_still_the_note() {
    for is_earlier_version in [true, false] {
        let mut world = world();
        world.is_earlier_version = is_earlier_version;
        let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
        edit_and_move(&mut world, &[1, 20, 3, 4, 5, 6]);
        assert_eq!(back(&mut world, &UndoRequest::undo([effect])).conflicts, []);
        assert_eq!(world.notes[&path("b.md")].lines, [1, 2, 3, 4, 5, 6]);
    }
}

#[test]
fn move_into_a_folder_that_was_renamed_later_counts_as_undone_and_is_redone() {
    let mut world = world();
    let folder = world.new_file();
    world.folders.insert(path("Old"), folder);
    let moved = Change::rename(path("a.md"), path("Old/a.md"));
    world.apply(&ChangeSet::one(moved), "turn");
    world.apply(&ChangeSet::one(Change::rename_folder(path("Old"), path("New"))), "turn");
    let done: Vec<_> = world.ledger.iter().map(|effect| effect.id.clone()).collect();
    let file = world.notes[&path("New/a.md")].file;

    let plan = back(&mut world, &UndoRequest::undo(done.clone()));
    assert_eq!((plan.conflicts.len(), plan.undone.len()), (0, 2), "{plan:?}");
    assert_paths_of_changes(&plan);
    for change in plan.changes.changes() {
        let expected = if change.path == path("New") { folder } else { file };
        assert_eq!(plan.files.get(&change.path), Some(&expected), "{plan:?}");
    }
    assert!(world.notes.contains_key(&path("a.md")));
    for effect in &done {
        assert_eq!(world.reverts().effective_part(effect), EffectivePart::Nothing);
    }

    let undone: Vec<_> = world.ledger[2..].iter().map(|effect| effect.id.clone()).collect();
    let plan = back(&mut world, &UndoRequest::undo(undone));
    assert_eq!((plan.conflicts.len(), plan.undone.len()), (0, 2), "{plan:?}");
    assert_paths_of_changes(&plan);
    assert!(world.notes.contains_key(&path("New/a.md")));
}

/// The note `a.md` that was edited and then trashed, with both effects.
fn edited_and_trashed() -> (SimulatedVault, EffectId, EffectId) {
    let mut world = world();
    let edited = edit(&mut world, &[1, 20, 3, 4, 5]);
    let trash = Change::trash(path("a.md"), bytes(&[1, 20, 3, 4, 5]));
    world.apply(&ChangeSet::one(trash), "turn");
    let trashed = world.ledger[1].id.clone();
    (world, edited, trashed)
}

#[test]
fn note_that_the_user_took_out_of_the_trash_is_the_note() {
    for to in ["a.md", "Kept/a.md"] {
        let (mut world, edited, trashed) = edited_and_trashed();
        let (_, note) = world.trashed.pop().unwrap();
        world.notes.insert(path(to), note);
        let plan = back_there(&mut world, &UndoRequest::undo([trashed]));
        assert_eq!(plan, UndoPlan::default(), "it is back already");
        let plan = back_there(&mut world, &UndoRequest::undo([edited]));
        assert_eq!(plan.conflicts, [], "{to}");
        assert_eq!(world.notes[&path(to)].lines, [1, 2, 3, 4, 5], "{to}");
    }
}

#[test]
fn another_note_in_the_place_of_a_trashed_one_is_asked_about() {
    let (mut world, edited, trashed) = edited_and_trashed();
    world.add_note(&path("a.md"), vec![1, 20, 3, 4, 5]);
    let plan = back_there(&mut world, &UndoRequest::undo([trashed]));
    assert_eq!((plan.changes.len(), plan.conflicts[0].why), (0, EffectConflictReason::Taken));
    let request = UndoRequest::undo([edited.clone()]);
    let plan = back_there(&mut world, &request);
    let [conflict] = plan.conflicts.as_slice() else { panic!("{plan:?}") };
    let note = UndoCandidate { path: path("a.md"), file: world.notes[&path("a.md")].file };
    assert_eq!((conflict.why, plan.changes.len()), (EffectConflictReason::Unsure, 0));
    assert_eq!(conflict.candidates, std::slice::from_ref(&note));

    // The question can be answered.
    let moved = identify_note(&world.ledger_view(&request), &edited, &note, &world);
    world.observe_move(&moved.expect("the user says which note it is"));
    assert_eq!(back_there(&mut world, &request).conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5]);
}

#[test]
fn note_that_came_in_the_place_of_a_created_and_trashed_one_is_not_asked_about() {
    let mut world = world();
    world.apply(&ChangeSet::one(Change::create(path("new.md"), bytes(&[7]))), "turn");
    world.apply(&ChangeSet::one(Change::trash(path("new.md"), bytes(&[7]))), "turn");
    let made = UndoRequest::undo([world.ledger[0].id.clone()]);
    let file = world.trashed[0].1.clone();
    world.add_note(&path("new.md"), vec![7]);
    assert_eq!(back_there(&mut world, &made), UndoPlan::default());
    // The control: the note itself is there again.
    world.notes.insert(path("new.md"), file);
    assert_eq!(back_there(&mut world, &made).changes.len(), 1);
    assert!(!world.notes.contains_key(&path("new.md")));
}

/// The folder goes to the trash with the notes in it.
fn trash_folder(world: &mut SimulatedVault, folder: &str) -> EffectId {
    let holds = Some(world.folder_contents(&path(folder)));
    let change = Change { path: path(folder), act: ChangeAction::TrashFolder { holds } };
    world.apply(&ChangeSet::one(change), "turn");
    world.ledger.last().unwrap().id.clone()
}

/// `F/n.md` and `F/stays.md`, beside `a.md`.
fn world_with_folder() -> SimulatedVault {
    let mut world = world();
    world.add_note(&path("F/n.md"), vec![70, 71]);
    world.add_note(&path("F/stays.md"), vec![80]);
    world
}

fn names(world: &SimulatedVault) -> Vec<&str> {
    world.notes.keys().map(NotePath::as_str).collect()
}

#[test]
fn note_and_its_folder_come_back_from_the_trash_together_or_one_after_the_other() {
    for together in [true, false] {
        let mut world = world_with_folder();
        let change = Change::trash(path("F/n.md"), bytes(&[70, 71]));
        world.apply(&ChangeSet::one(change), "turn");
        let (note, folder) = (world.ledger[0].id.clone(), trash_folder(&mut world, "F"));
        assert_eq!(names(&world), ["a.md"]);
        let requests = match together {
            true => vec![UndoRequest::undo([note, folder])],
            false => vec![UndoRequest::undo([folder]), UndoRequest::undo([note])],
        };
        for request in &requests {
            let plan = back(&mut world, request);
            assert_eq!(
                (plan.conflicts.as_slice(), plan.undone.len()),
                (&[][..], request.effects.len())
            );
            assert_paths_of_changes(&plan);
        }
        assert_eq!(names(&world), ["F/n.md", "F/stays.md", "a.md"], "together: {together}");
    }
}

#[test]
fn note_in_a_folder_that_went_to_the_trash_before_the_folder_around_it_stays_gone_with_it() {
    let mut world = world();
    world.add_note(&path("F/G/n.md"), vec![70]);
    world.add_note(&path("F/stays.md"), vec![80]);
    let change = Change::replace(path("F/G/n.md"), bytes(&[70]), bytes(&[71]));
    world.apply(&ChangeSet::one(change), "turn");
    let edited = UndoRequest::undo([world.ledger[0].id.clone()]);
    let (inner, outer) = (trash_folder(&mut world, "F/G"), trash_folder(&mut world, "F"));
    back(&mut world, &UndoRequest::undo([outer]));
    world.add_note(&path("F/G/n.md"), vec![71]);
    let plan = back_there(&mut world, &edited);
    assert_eq!((plan.changes.len(), plan.conflicts.len()), (0, 1), "another note: {plan:?}");
    // The control: the note itself is back.
    world.notes.remove(&path("F/G/n.md"));
    back(&mut world, &UndoRequest::undo([inner]));
    assert_eq!(back(&mut world, &edited).conflicts, []);
    assert_eq!(world.notes[&path("F/G/n.md")].lines, [70]);
}

#[test]
fn change_of_a_note_and_the_deletion_of_its_folder_are_undone_together() {
    let mut world = world_with_folder();
    world.apply(&ChangeSet::one(Change::create(path("F/new.md"), bytes(&[90]))), "turn");
    let change = Change::replace(path("F/n.md"), bytes(&[70, 71]), bytes(&[70, 72]));
    world.apply(&ChangeSet::one(change), "turn");
    trash_folder(&mut world, "F");
    let all = UndoRequest::undo(world.ledger.iter().map(|effect| effect.id.clone()));
    let plan = plan_undo(&world.ledger_view(&all), &all, &world);
    assert_eq!((plan.undone.len(), plan.leaves_more()), (1, true), "the notes are not there yet");

    let (_, plan) = undo(&mut world, &all);
    assert_eq!((plan.conflicts.as_slice(), plan.undone.len()), (&[][..], 3));
    assert_eq!(names(&world), ["F/n.md", "F/stays.md", "a.md"]);
    assert_eq!(world.notes[&path("F/n.md")].lines, [70, 71]);
    let again = plan_undo(&world.ledger_view(&all), &all, &world);
    assert!(!again.leaves_more(), "{again:?}");
}

#[test]
fn note_that_was_moved_and_trashed_comes_back_and_moves_back_as_the_same_note() {
    let mut world = world();
    world.apply(&ChangeSet::one(Change::rename(path("a.md"), path("b.md"))), "turn");
    let text = bytes(&[1, 2, 3, 4, 5]);
    world.apply(&ChangeSet::one(Change::trash(path("b.md"), text)), "turn");
    let done: Vec<_> = world.ledger.iter().map(|effect| effect.id.clone()).collect();
    let (_, plan) = undo(&mut world, &UndoRequest::undo(done.clone()));
    assert_eq!((plan.conflicts.as_slice(), names(&world)), (&[][..], vec!["a.md"]));
    for effect in &done {
        assert_eq!(world.reverts().effective_part(effect), EffectivePart::Nothing);
    }
    // It is known: to undo it again makes no second one.
    let (_, plan) = undo(&mut world, &UndoRequest::undo(done));
    assert_eq!((plan.undone.len(), names(&world)), (0, vec!["a.md"]));
}

#[test]
fn note_that_was_created_and_moved_moves_back_before_it_goes_to_the_trash() {
    let mut world = world();
    world.apply(&ChangeSet::one(Change::create(path("new.md"), bytes(&[7]))), "turn");
    world.apply(&ChangeSet::one(Change::rename(path("new.md"), path("moved.md"))), "turn");
    let done: Vec<_> = world.ledger.iter().map(|effect| effect.id.clone()).collect();
    let (set, plan) = undo(&mut world, &UndoRequest::undo(done.clone()));
    assert_eq!((plan.conflicts.as_slice(), names(&world)), (&[][..], vec!["a.md"]));
    for effect in &done {
        assert_eq!(world.reverts().effective_part(effect), EffectivePart::Nothing);
    }
    let by = world.ledger.iter().filter(|effect| effect.change_set == set);
    let redo = UndoRequest::undo(by.map(|effect| effect.id.clone()));
    let (_, plan) = undo(&mut world, &redo);
    assert_eq!((plan.conflicts.as_slice(), names(&world)), (&[][..], vec!["a.md", "moved.md"]));
    assert_eq!(world.bytes(&path("moved.md")), Some(bytes(&[7])));
}

/// A vault that counts how often it is listed and each note is read.
struct CountingReader<'a> {
    world: &'a SimulatedVault,
    listings: Cell<usize>,
    reads: RefCell<BTreeMap<NotePath, usize>>,
}

impl<'a> CountingReader<'a> {
    fn new(world: &'a SimulatedVault) -> Self {
        Self { world, listings: Cell::new(0), reads: RefCell::default() }
    }
}

impl VaultReader for CountingReader<'_> {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        *self.reads.borrow_mut().entry(path.clone()).or_default() += 1;
        self.world.bytes(path)
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.world.file(path)
    }

    fn files(&self) -> Vec<VaultFile> {
        self.listings.set(self.listings.get() + 1);
        self.world.files()
    }
}

/// Ten notes that the assistant edited, the request that undoes all of it, and beside them forty other notes and
/// `Others/kept.md`, which has the lines of the first one and one more.
fn world_with_edited_notes() -> (SimulatedVault, Vec<NotePath>, UndoRequest) {
    let mut world = SimulatedVault::default();
    for number in 0..40 {
        let lines = world.fresh_lines(5);
        world.add_note(&path(&format!("Others/other {number}.md")), lines);
    }
    let edited: Vec<_> = (0..10).map(|number| path(&format!("note {number}.md"))).collect();
    for note in &edited {
        let before = world.fresh_lines(5);
        let after = [before.clone(), world.fresh_lines(1)].concat();
        world.add_note(note, before.clone());
        let change = Change::replace(note.clone(), bytes(&before), bytes(&after));
        world.apply(&ChangeSet::one(change), "turn");
    }
    let kept = [world.notes[&edited[0]].lines.clone(), world.fresh_lines(1)].concat();
    world.add_note(&path("Others/kept.md"), kept);
    let request = UndoRequest::undo(world.ledger.iter().map(|effect| effect.id.clone()));
    (world, edited, request)
}

/// Another file takes the place of a note, with the same text.
fn replace_file(world: &mut SimulatedVault, note: &NotePath) {
    let file = world.new_file();
    world.notes.get_mut(note).unwrap().file = file;
}

/// The same, with another text.
fn rewrite_file(world: &mut SimulatedVault, note: &NotePath) {
    replace_file(world, note);
    let lines = world.fresh_lines(6);
    world.notes.get_mut(note).unwrap().lines = lines;
}

fn remove_file(world: &mut SimulatedVault, note: &NotePath) {
    world.notes.remove(note).unwrap();
}

#[test]
fn undo_of_many_uncertain_notes_lists_the_vault_once_and_reads_no_other_note_twice() {
    type Act = fn(&mut SimulatedVault, &NotePath);
    let cases: [(Act, EffectConflictReason, usize, &[&str]); 3] = [
        (replace_file, EffectConflictReason::Unsure, 0, &["note 0.md"]),
        (rewrite_file, EffectConflictReason::Unsure, 1, &["note 0.md", "Others/kept.md"]),
        (remove_file, EffectConflictReason::Gone, 1, &["Others/kept.md"]),
    ];
    for (act, why, reads, offered) in cases {
        let (mut world, edited, request) = world_with_edited_notes();
        edited.iter().for_each(|note| act(&mut world, note));
        let counting = CountingReader::new(&world);
        let plan = plan_undo(&world.ledger_view(&request), &request, &counting);
        let reasons: Vec<_> = plan.conflicts.iter().map(|conflict| conflict.why).collect();
        assert_eq!(reasons, vec![why; edited.len()]);
        assert_eq!(counting.listings.get(), 1, "{why:?}");
        let read = counting.reads.borrow();
        let others = world.notes.keys().filter(|note| note.as_str().starts_with("Others/"));
        let counts: Vec<_> = others.map(|note| read.get(note).copied().unwrap_or(0)).collect();
        assert_eq!(counts, vec![reads; 41], "{why:?}, {offered:?}");
        // The control: the notes that may be it are offered.
        let first = plan.conflicts.iter().find(|conflict| conflict.effect == world.ledger[0].id);
        let candidates = &first.unwrap().candidates;
        assert_eq!(candidates.iter().map(|note| note.path.as_str()).collect::<Vec<_>>(), offered);
    }
}

#[test]
fn present_path_of_a_note_is_found_without_reading_others() {
    let (mut world, edited, request) = world_with_edited_notes();
    rewrite_file(&mut world, &edited[0]);
    let moved = world.notes.remove(&edited[1]).unwrap();
    world.notes.insert(path("Moved.md"), moved);
    let (uncertain, certain) = (&world.ledger[0].id, &world.ledger[1].id);
    let (ledger, counting) = (world.ledger_view(&request), CountingReader::new(&world));
    assert_eq!(current_path(&ledger, uncertain, &counting), None);
    // The control: the other note was moved by hand.
    assert_eq!(current_path(&ledger, certain, &counting), Some(path("Moved.md")));
    assert_eq!((counting.listings.get(), counting.reads.borrow().len()), (2, 0));
    let both = current_paths(&ledger, [uncertain, certain], &counting);
    assert_eq!(both, [None, Some(path("Moved.md"))]);
    assert_eq!(counting.listings.get(), 3, "one listing serves both");
    let places = [(uncertain, &edited[0]), (certain, &edited[1])];
    // Of the first that is not certain; the second is elsewhere.
    assert_eq!(may_be_at(&ledger, places, &counting), [true, false]);
    assert_eq!((counting.listings.get(), counting.reads.borrow().len()), (4, 0));
}

#[test]
fn copy_that_a_sync_program_made_of_a_note_with_another_name_is_asked_about() {
    for (name, is_copy) in [
        ("Roadmap.sync-conflict-20260102-030405-ABCDEFG.md", true),
        ("Roadmap (Ann's conflicted copy 2026-01-02).md", true),
        ("Roadmap 2.md", false),
    ] {
        let mut world = world();
        let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
        // The user renamed the note, and the program made this of it when another version came.
        let note = world.notes.remove(&path("a.md")).unwrap();
        world.put_moved(path(name), note);
        world.add_note(&path("Roadmap.md"), vec![1, 20, 3, 4, 5, 6]);
        let plan = back_there(&mut world, &UndoRequest::undo([effect]));
        assert_eq!(plan.changes.len(), usize::from(!is_copy), "{name}: {plan:?}");
        assert_eq!(plan.conflicts.len(), usize::from(is_copy), "{name}: {plan:?}");
        assert_eq!(world.notes[&path("Roadmap.md")].lines, [1, 20, 3, 4, 5, 6]);
    }
}

#[test]
fn folder_whose_recorded_contents_were_deleted_does_not_come_back() {
    for is_purged in [true, false] {
        let mut world = world_with_folder();
        let folder = trash_folder(&mut world, "F");
        if is_purged {
            world.ledger[0].purged = Some(LineCounts { added: 0, removed: 0 });
        }
        let plan = back_there(&mut world, &UndoRequest::undo([folder]));
        let why: Vec<_> = plan.conflicts.iter().map(|conflict| conflict.why).collect();
        let expected = if is_purged { vec![EffectConflictReason::Purged] } else { Vec::new() };
        assert_eq!((why, plan.changes.len()), (expected, usize::from(!is_purged)));
    }
}
