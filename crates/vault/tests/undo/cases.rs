//! Cases that a person would try.

use protocol::{
    Change, ChangeAction, ChangeKind, ChangeSet, ContentHash, Effect, EffectId, FileId,
    FileReplacement, FolderContents, NotePath,
};
use vault::undo::{
    EffectConflictReason, EffectivePart, Hunks, LedgerView, UndoDirection, UndoPlan, UndoRequest,
    VaultFile, VaultReader, identify_note, plan_undo,
};

use crate::simulation::{LineId, SimulatedVault, bytes, path};

/// A vault with one note, `a.md`, that says 1 to 5.
pub(crate) fn world() -> SimulatedVault {
    let mut world = SimulatedVault::default();
    world.fresh_lines(100);
    world.add_note(&path("a.md"), vec![1, 2, 3, 4, 5]);
    world
}

pub(crate) fn edit(world: &mut SimulatedVault, after: &[LineId]) -> EffectId {
    let before = bytes(&world.notes[&path("a.md")].lines);
    let change = Change::replace(path("a.md"), before, bytes(after));
    world.apply(&ChangeSet::one(change), "turn");
    world.ledger.last().unwrap().id.clone()
}

pub(crate) fn back(world: &mut SimulatedVault, request: &UndoRequest) -> UndoPlan {
    let plan = plan_undo(&world.ledger_view(request), request, world);
    let set = world.apply(&plan.changes, "undo");
    world.remember(&set, &plan);
    plan
}

#[test]
fn later_edits_of_the_user_are_kept() {
    let mut world = world();
    let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
    world.notes.get_mut(&path("a.md")).unwrap().lines = vec![1, 20, 3, 30, 5, 6];
    assert_eq!(back(&mut world, &UndoRequest::undo([effect])).conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 30, 5, 6]);
}

#[test]
fn a_conflict_shows_both_versions_and_leaves_what_is_there() {
    let mut world = world();
    let effect = edit(&mut world, &[1, 20, 3, 40, 5]);
    world.notes.get_mut(&path("a.md")).unwrap().lines = vec![1, 21, 3, 40, 5];
    let plan = back(&mut world, &UndoRequest::undo([effect.clone()]));
    let [conflict] = plan.conflicts.as_slice() else { panic!("{plan:?}") };
    assert_eq!((conflict.why, conflict.lines.len()), (EffectConflictReason::Changed, 1));
    let place = &conflict.lines[0];
    assert_eq!((place.line, &place.now, &place.restored), (1, &bytes(&[21]), &bytes(&[2])));
    assert_eq!(world.notes[&path("a.md")].lines, [1, 21, 3, 4, 5], "the other hunk is back");
    assert_eq!(plan.undone[0].hunks, Hunks::Some([1].into()), "and counts as that");
}

#[test]
fn hunks_in_one_conflict_are_left_together() {
    let mut world = world();
    let effect = edit(&mut world, &[10, 2, 3, 34, 4, 50]);
    // Without the others the second hunk would be gone already.
    world.notes.get_mut(&path("a.md")).unwrap().lines = vec![4, 50];
    let plan = back(&mut world, &UndoRequest::undo([effect]));
    let [conflict] = plan.conflicts.as_slice() else { panic!("{plan:?}") };
    let place = &conflict.lines[0];
    assert_eq!((&place.now, &place.restored), (&bytes(&[]), &bytes(&[1, 2, 3])));
    assert_eq!(world.notes[&path("a.md")].lines, [4, 5]);
    assert_eq!(plan.undone[0].hunks, Hunks::Some([2].into()));
    assert_eq!(conflict.hunks, Hunks::Some([0, 1].into()));
}

#[test]
fn hunks_are_undone_in_any_order_and_reapplied() {
    let mut world = world();
    let effect = edit(&mut world, &[10, 2, 3, 4, 50]);
    for (hunk, expected) in [(1, [10, 2, 3, 4, 5]), (0, [1, 2, 3, 4, 5])] {
        let effects = [(effect.clone(), Hunks::Some([hunk].into()))].into();
        back(&mut world, &UndoRequest { effects, ..UndoRequest::undo([]) });
        assert_eq!(world.notes[&path("a.md")].lines, expected);
    }
    let first_undo = world.ledger[1].id.clone();
    back(&mut world, &UndoRequest::undo([first_undo]));
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 50], "the earlier is redone alone");
}

#[test]
fn neighbors_are_restored_in_their_order_whichever_is_undone_first() {
    for order in [[0, 1], [1, 0]] {
        let mut world = world();
        edit(&mut world, &[1, 3, 4, 5]);
        edit(&mut world, &[1, 4, 5]);
        for place in order {
            let effect = world.ledger[place].id.clone();
            assert_eq!(back(&mut world, &UndoRequest::undo([effect])).conflicts, []);
        }
        assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5], "{order:?}");
    }
}

#[test]
fn a_note_is_found_after_it_was_renamed_by_hand() {
    for to in ["Elsewhere/a.md", "renamed.md"] {
        let mut world = world();
        let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
        let note = world.notes.remove(&path("a.md")).unwrap();
        world.notes.insert(path(to), note);
        let plan = back_there(&mut world, &UndoRequest::undo([effect]));
        let [moved] = plan.moved.as_slice() else { panic!("{plan:?}") };
        assert_eq!((&moved.from, &moved.to), (&path("a.md"), &path(to)));
        assert_eq!(world.notes[&path(to)].lines, [1, 2, 3, 4, 5]);
    }
}

pub(crate) fn back_there(world: &mut SimulatedVault, request: &UndoRequest) -> UndoPlan {
    let plan = plan_undo(&world.ledger_view(request), request, world);
    plan.moved.iter().for_each(|moved| world.observe_move(moved));
    world.apply(&plan.changes, "undo");
    plan
}

#[test]
fn an_unrelated_note_under_the_old_name_is_not_touched() {
    let mut world = world();
    let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
    let note = world.notes.remove(&path("a.md")).unwrap();
    world.notes.insert(path("b.md"), note);
    world.add_note(&path("a.md"), vec![70, 71]);
    back_there(&mut world, &UndoRequest::undo([effect]));
    assert_eq!(world.notes[&path("a.md")].lines, [70, 71]);
    assert_eq!(world.notes[&path("b.md")].lines, [1, 2, 3, 4, 5]);
}

#[test]
fn a_backup_that_has_the_old_file_is_not_taken_for_the_note() {
    // `cp -al`, and an unseen save that put another file in the note's place.
    let mut world = world();
    world.is_unwatched = true;
    let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
    let note = world.notes.remove(&path("a.md")).unwrap();
    world.notes.insert(path("Backup/a.md"), note.clone());
    world.add_note(&path("a.md"), vec![1, 20, 3, 4, 5, 6]);
    let plan = back_there(&mut world, &UndoRequest::undo([effect.clone()]));
    assert_eq!(plan.changes.len(), 0, "{plan:?}");
    let [conflict] = plan.conflicts.as_slice() else { panic!("{plan:?}") };
    let candidates: Vec<_> = conflict.candidates.iter().map(|note| &note.path).collect();
    assert_eq!(candidates, [&path("Backup/a.md"), &path("a.md")]);
    // Under two different names, neither of which the watch saw.
    world.notes.remove(&path("a.md"));
    world.notes.insert(path("Snapshot/a.md"), note);
    let plan = back_there(&mut world, &UndoRequest::undo([effect]));
    assert_eq!((plan.changes.len(), plan.conflicts.len()), (0, 1), "{plan:?}");
}

#[test]
fn a_backup_that_was_changed_after_its_note_was_saved_elsewhere_is_another_note() {
    let mut world = world();
    let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
    // `cp -al`, a save that puts another file in the note's place, and a change of the backup.
    let old = world.notes[&path("a.md")].clone();
    let saved = world.new_file();
    world.notes.get_mut(&path("a.md")).unwrap().file = saved;
    world.successions.push(FileReplacement { from: old.file, to: saved });
    world.add_note(&path("Backup/a.md"), old.lines);
    world.notes.get_mut(&path("Backup/a.md")).unwrap().file = old.file;
    let (before, after) = (bytes(&[1, 20, 3, 4, 5]), bytes(&[1, 21, 3, 4, 5]));
    let change = Change::replace(path("Backup/a.md"), before, after);
    world.apply(&ChangeSet::one(change), "turn");
    let plan = back_there(&mut world, &UndoRequest::undo([effect]));
    assert_eq!(plan.conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5]);
    assert_eq!(world.notes[&path("Backup/a.md")].lines, [1, 21, 3, 4, 5]);
}

#[test]
fn an_answer_holds_for_the_file_that_was_shown_and_for_its_successor() {
    let mut world = world();
    world.is_unwatched = true;
    let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
    world.notes.remove(&path("a.md"));
    world.add_note(&path("a.md"), vec![1, 20, 3, 4, 5, 6]);
    let request = UndoRequest::undo([effect.clone()]);
    let plan = plan_undo(&world.ledger_view(&request), &request, &world);
    let [chosen] = plan.conflicts[0].candidates.as_slice() else { panic!("{plan:?}") };
    let identify = |world: &SimulatedVault| {
        identify_note(&world.ledger_view(&request), &effect, chosen, world).map(|moved| moved.file)
    };
    assert_eq!(identify(&world), Some(Some(chosen.file)));

    let to = world.new_file();
    world.notes.get_mut(&path("a.md")).unwrap().file = to;
    assert_eq!(identify(&world), None, "another file, of which nobody knows where it came from");
    world.successions.push(FileReplacement { from: chosen.file, to });
    assert_eq!(identify(&world), Some(Some(to)), "a save that the watch saw");

    edit(&mut world, &[1, 20, 3, 4, 5, 60]);
    let changed = world.notes[&path("a.md")].file;
    assert_ne!(changed, to);
    assert_eq!(identify(&world), Some(Some(changed)), "a change of the ledger");

    // A backup that was moved back: the file that was shown, although another one had followed it.
    world.successions.push(FileReplacement { from: changed, to: chosen.file });
    world.notes.get_mut(&path("a.md")).unwrap().file = chosen.file;
    assert_eq!(identify(&world), Some(Some(chosen.file)), "the file that was shown");
}

#[test]
fn a_new_note_with_the_text_of_a_trashed_one_is_another_note() {
    let mut world = world();
    let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
    let text = bytes(&[1, 20, 3, 4, 5]);
    world.apply(&ChangeSet::one(Change::trash(path("a.md"), text.clone())), "turn");
    world.apply(&ChangeSet::one(Change::create(path("a.md"), text)), "turn");
    let plan = back(&mut world, &UndoRequest::undo([effect.clone()]));
    assert_eq!(plan.changes.len(), 0, "{plan:?}");
    // The control: the note that an undo restores is the same note.
    let trashing = world.ledger[1].id.clone();
    world.notes.remove(&path("a.md"));
    assert_eq!(back(&mut world, &UndoRequest::undo([trashing])).conflicts, []);
    assert_eq!(back(&mut world, &UndoRequest::undo([effect])).conflicts, []);
    assert_eq!(world.notes[&path("a.md")].lines, [1, 2, 3, 4, 5]);
}

#[test]
fn what_an_earlier_version_stored_is_undone_in_the_file_that_stands_there() {
    // It stored the number of a file, and not when the file was made.
    let mut world = world();
    let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
    let stored = world.ledger.last_mut().unwrap();
    stored.base = None;
    stored.file = stored.file.map(|file| FileId { born: None, ..file });
    let plan = plan_undo(
        &world.ledger_view(&UndoRequest::undo([effect.clone()])),
        &UndoRequest::undo([effect]),
        &world,
    );
    let file = world.notes[&path("a.md")].file;
    assert!(file.born.is_some());
    assert_eq!(plan.files.get(&path("a.md")), Some(&file), "{plan:?}");
}

#[test]
fn a_note_that_was_made_and_then_written_in_does_not_go_to_the_trash() {
    let mut world = world();
    world.apply(&ChangeSet::one(Change::create(path("new.md"), bytes(&[7, 8]))), "turn");
    let effect = world.ledger[0].id.clone();
    world.notes.get_mut(&path("new.md")).unwrap().lines.push(9);
    let plan = back(&mut world, &UndoRequest::undo([effect.clone()]));
    assert_eq!((plan.conflicts.len(), plan.changes.len()), (1, 0));
    world.notes.get_mut(&path("new.md")).unwrap().lines.pop();
    let plan = back(&mut world, &UndoRequest::undo([effect]));
    assert!(matches!(plan.changes.changes().next().unwrap().act, ChangeAction::Trash { .. }));
}

#[test]
fn a_move_is_undone_with_its_links_or_not_at_all() {
    let moved = || {
        let mut world = world();
        world.add_note(&path("links.md"), vec![60, 61]);
        let set = [
            Change::replace(path("links.md"), bytes(&[60, 61]), bytes(&[60, 62])),
            Change::rename(path("a.md"), path("b.md")),
        ];
        world.apply(&set.into_iter().collect(), "turn");
        let rename = world.ledger[1].id.clone();
        (world, UndoRequest::undo([rename]))
    };
    let (mut world, wanted) = moved();
    assert_eq!(back(&mut world, &wanted).conflicts, []);
    assert_eq!(world.notes[&path("links.md")].lines, [60, 61], "with the links");
    assert!(world.notes.contains_key(&path("a.md")));

    let (mut world, wanted) = moved();
    world.notes.get_mut(&path("links.md")).unwrap().lines = vec![60, 63];
    let plan = back(&mut world, &wanted);
    assert_eq!((plan.conflicts.len(), plan.changes.len()), (1, 0));
    assert!(world.notes.contains_key(&path("b.md")));
}

#[test]
fn overwritten_change_is_reapplied_next_to_the_other_programs_text() {
    let mut world = world();
    let effect = edit(&mut world, &[1, 20, 3, 4, 5]);
    world.notes.get_mut(&path("a.md")).unwrap().lines = vec![1, 2, 3, 4, 5, 6];
    back(&mut world, &again(effect));
    assert_eq!(world.notes[&path("a.md")].lines, [1, 20, 3, 4, 5, 6]);
}

fn again(effect: EffectId) -> UndoRequest {
    UndoRequest { direction: UndoDirection::Again, ..UndoRequest::undo([effect]) }
}

#[test]
fn reapplied_link_leaves_the_move_of_its_unit_as_it_stands() {
    let mut world = world();
    world.add_note(&path("links.md"), vec![60, 61]);
    let set = [
        Change::replace(path("links.md"), bytes(&[60, 61]), bytes(&[60, 62])),
        Change::rename(path("a.md"), path("b.md")),
    ];
    world.apply(&set.into_iter().collect(), "turn");
    let (link, rename) = (world.ledger[0].id.clone(), world.ledger[1].id.clone());
    world.notes.get_mut(&path("links.md")).unwrap().lines = vec![60, 61];
    assert_eq!(back(&mut world, &again(link)).conflicts, []);
    assert!(world.notes.contains_key(&path("b.md")) && !world.notes.contains_key(&path("a.md")));
    assert_eq!(world.notes[&path("links.md")].lines, [60, 62]);
    // A move is not overwritten, so there is nothing to make again.
    assert_eq!(back(&mut world, &again(rename)), UndoPlan::default());
}

#[test]
fn created_note_that_another_program_emptied_is_reapplied() {
    let mut world = world();
    world.apply(&ChangeSet::one(Change::create(path("new.md"), bytes(&[7, 8]))), "turn");
    let effect = world.ledger[0].id.clone();
    world.notes.get_mut(&path("new.md")).unwrap().lines.clear();
    assert_eq!(back(&mut world, &again(effect.clone())).conflicts, []);
    assert_eq!(world.notes[&path("new.md")].lines, [7, 8]);
    // One that is gone is made again.
    world.notes.remove(&path("new.md"));
    assert_eq!(back(&mut world, &again(effect)).conflicts, []);
    assert_eq!(world.notes[&path("new.md")].lines, [7, 8]);
}

/// Each undone effect is known by the path of a change of the plan: so it is stored.
pub(crate) fn assert_paths_of_changes(plan: &UndoPlan) {
    for undone in &plan.undone {
        let is_its = |change: &Change| change.path == undone.path;
        assert!(plan.changes.changes().any(is_its), "{undone:?} in {plan:?}");
    }
}

#[test]
fn deletion_in_a_folder_that_was_moved_later_counts_as_undone_and_is_redone() {
    let mut world = world();
    let folder = world.new_file();
    world.folders.insert(path("Old"), folder);
    world.add_note(&path("Old/n.md"), vec![70]);
    let set = [
        Change::trash(path("Old/n.md"), bytes(&[70])),
        Change::rename_folder(path("Old"), path("New")),
    ];
    world.apply(&set.into_iter().collect(), "turn");
    let done: Vec<_> = world.ledger.iter().map(|effect| effect.id.clone()).collect();
    let plan = back(&mut world, &UndoRequest::undo(done.clone()));
    assert_eq!((plan.conflicts.len(), plan.undone.len()), (0, 2), "{plan:?}");
    assert_paths_of_changes(&plan);
    assert_eq!(world.notes[&path("Old/n.md")].lines, [70]);
    for effect in &done {
        assert_eq!(world.reverts().effective_part(effect), EffectivePart::Nothing);
    }
    let undone: Vec<_> = world.ledger[2..].iter().map(|effect| effect.id.clone()).collect();
    let plan = back(&mut world, &UndoRequest::undo(undone));
    assert_eq!((plan.conflicts.len(), plan.undone.len()), (0, 2), "{plan:?}");
    assert_paths_of_changes(&plan);
    assert!(world.folders.contains_key(&path("New")));
    assert!(!world.notes.keys().any(|note| note.name() == "n.md"));
}

/// A vault with empty folders and nothing else.
pub(crate) struct EmptyFolders(pub(crate) Vec<(NotePath, FileId)>);

impl VaultReader for EmptyFolders {
    fn bytes(&self, _: &NotePath) -> Option<Vec<u8>> {
        None
    }

    fn file(&self, at: &NotePath) -> Option<FileId> {
        self.0.iter().find(|(path, _)| path == at).map(|(_, file)| *file)
    }

    fn files(&self) -> Vec<VaultFile> {
        let entry = |(path, file): &(NotePath, FileId)| VaultFile {
            path: path.clone(),
            size: 0,
            file: *file,
            is_folder: true,
        };
        self.0.iter().map(entry).collect()
    }
}

/// An effect on a folder, which is that file before and after.
pub(crate) fn folder_effect(id: &str, kind: ChangeKind, at: &str, file: FileId) -> Effect {
    let mut world = world();
    let edit = edit(&mut world, &[1]);
    let is_moved = kind == ChangeKind::RenameFolder;
    Effect {
        id: EffectId::from(id),
        kind,
        path: path(at),
        target: is_moved.then(|| path("New")),
        trashed: (kind == ChangeKind::TrashFolder).then(|| "sub".to_owned()),
        before: None,
        after: None,
        base: (kind != ChangeKind::MakeFolder).then_some(file),
        file: Some(file),
        ..world.effect(&edit).clone()
    }
}

#[test]
fn a_folder_goes_to_the_trash_only_as_the_folder_that_was_made() {
    let (file, other) = (world().new_file(), FileId { inode: 999, born: Some(999) });
    let made = folder_effect("e", ChangeKind::MakeFolder, "New", file);
    let (past, request) = (LedgerView::new(vec![made]), UndoRequest::undo([EffectId::from("e")]));
    let plan = plan_undo(&past, &request, &EmptyFolders(vec![(path("New"), file)]));
    assert_eq!(plan.changes.len(), 1, "{plan:?}");
    assert_eq!(plan.files.get(&path("New")), Some(&file), "{plan:?}");
    // Another one at its path was not made by us.
    let plan = plan_undo(&past, &request, &EmptyFolders(vec![(path("New"), other)]));
    assert_eq!(plan.changes.len(), 0, "{plan:?}");
}

#[test]
fn folders_in_a_folder_that_was_moved_later_are_undone_before_it_moves_back() {
    let (outer, inner) = (FileId { inode: 1, born: Some(1) }, FileId { inode: 2, born: Some(2) });
    let moved = (path("New"), outer);
    for (kind, there) in [
        (ChangeKind::MakeFolder, vec![moved.clone(), (path("New/sub"), inner)]),
        (ChangeKind::RestoreFolder, vec![moved.clone(), (path("New/sub"), inner)]),
        (ChangeKind::TrashFolder, vec![moved]),
    ] {
        let mut changed = folder_effect("1", kind, "Old/sub", inner);
        let holds = FolderContents::default().as_bytes().to_vec();
        changed.before = Some(ContentHash::of(&holds));
        let rename = folder_effect("2", ChangeKind::RenameFolder, "Old", outer);
        let mut past = LedgerView::new(vec![changed, rename]);
        past.add_content(ContentHash::of(&holds), holds);
        let request = UndoRequest::undo(["1", "2"].map(EffectId::from));
        let plan = plan_undo(&past, &request, &EmptyFolders(there));
        assert_eq!(plan.conflicts, [], "{kind:?}: {plan:?}");
        let paths: Vec<_> = plan.changes.changes().map(|change| change.path.as_str()).collect();
        assert_eq!(paths, ["New/sub", "New"], "{kind:?}");
        assert_paths_of_changes(&plan);
        assert_eq!(plan.undone.len(), 2, "{kind:?}: {plan:?}");
    }
}

/// The same on a disk that ignores case.
struct CaselessFolders(EmptyFolders);

impl VaultReader for CaselessFolders {
    fn bytes(&self, at: &NotePath) -> Option<Vec<u8>> {
        self.0.bytes(at)
    }

    fn file(&self, at: &NotePath) -> Option<FileId> {
        let is_it = |path: &NotePath| path.as_str().eq_ignore_ascii_case(at.as_str());
        self.0.0.iter().find(|(path, _)| is_it(path)).map(|(_, file)| *file)
    }

    fn files(&self) -> Vec<VaultFile> {
        self.0.files()
    }
}

#[test]
fn undo_gives_the_first_spelling_back_on_a_disk_that_ignores_case() {
    let (file, other) = (FileId { inode: 1, born: Some(1) }, FileId { inode: 2, born: Some(2) });
    let past = LedgerView::new(vec![folder_effect("e", ChangeKind::RenameFolder, "new", file)]);
    let request = UndoRequest::undo([EffectId::from("e")]);
    let caseless = CaselessFolders(EmptyFolders(vec![(path("New"), file)]));
    let plan = plan_undo(&past, &request, &caseless);
    assert_eq!((plan.conflicts.len(), plan.changes.len()), (0, 1), "{plan:?}");
    // The control: a folder of its own is in the way.
    let both = EmptyFolders(vec![(path("New"), file), (path("new"), other)]);
    let plan = plan_undo(&past, &request, &both);
    assert_eq!((plan.conflicts.len(), plan.changes.len()), (1, 0), "{plan:?}");
}
