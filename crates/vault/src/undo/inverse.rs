//! Undoes one effect, by its kind.

mod conflict;
mod edit;
mod folder;
mod redo;
mod written_lines;

use std::collections::{BTreeSet, HashMap};

use protocol::changes::history::UndoCandidate;
use protocol::{
    Change, ChangeKind, ChangeSet, ContentHash, Effect, FileId, MovedNote, NotePath, PlannedState,
    Renames,
};

use super::ledger_view::LedgerView;
use super::locate::NoteLocation;
use super::plan_reader::PlanReader;
use super::requested_groups::RequestedGroups;
use super::trace::NoteTrace;
use super::{
    ConflictLines, EffectConflict, EffectConflictReason, Hunks, RedoneEffect, UndoDirection,
    UndoPlan, UndoRequest, UndoneEffect,
};
use crate::names::name_key::name_key;

/// Plans the undo of the effects of one unit, on top of the changes that are planned already.
#[derive(Clone)]
pub(super) struct UndoPlanner<'a> {
    ledger: &'a LedgerView,
    request: &'a UndoRequest,
    /// The units of the request.
    groups: &'a RequestedGroups<'a>,
    notes: &'a PlanReader<'a>,
    planned: ChangeSet,
    /// From where things are now to where they are then; also things that are made only then.
    renames: Renames,
    restored: RestoredTrashings,
    undone: Vec<UndoneEffect>,
    redone: Vec<RedoneEffect>,
    conflicts: Vec<EffectConflict>,
    moved: Vec<MovedNote>,
    /// The files that the changes are about, by where they are on disk.
    files: HashMap<NotePath, FileId>,
}

/// The positions in the ledger of trashings whose notes are created again.
pub(super) type RestoredTrashings = BTreeSet<usize>;

/// The result of earlier units: the changes, the renames and the restored notes.
pub(super) type PlannedUnits = (ChangeSet, Renames, RestoredTrashings);

/// A note as it would be if the planned changes were applied.
struct LocatedNote {
    /// Where it is then.
    path_after: NotePath,
    /// Where it is on disk; where it will be, if it is not.
    path_now: NotePath,
    /// The trace of the note in the ledger.
    trace: NoteTrace,
    bytes: Vec<u8>,
}

/// Why a note is not found.
enum MissingNote {
    /// It is not there; these may be it.
    Gone(Vec<UndoCandidate>),
    /// Another file stands in its place; these may be it.
    Unsure(Vec<UndoCandidate>),
    /// It is here, and cannot be read.
    Unreadable(NotePath),
    /// The plan makes it again. Once that has happened it is the same note; what is planned for it in the same set
    /// would make another one.
    MadeAgain,
}

impl<'a> UndoPlanner<'a> {
    pub(super) fn new(
        ledger: &'a LedgerView,
        (request, groups): (&'a UndoRequest, &'a RequestedGroups<'a>),
        notes: &'a PlanReader<'a>,
        (planned, renames, restored): PlannedUnits,
    ) -> Self {
        Self {
            ledger,
            request,
            groups,
            notes,
            planned,
            renames,
            restored,
            undone: Vec::new(),
            redone: Vec::new(),
            conflicts: Vec::new(),
            moved: Vec::new(),
            files: HashMap::new(),
        }
    }

    pub(super) fn into_plan(self) -> (UndoPlan, (Renames, RestoredTrashings)) {
        let plan = UndoPlan {
            changes: self.planned,
            undone: self.undone,
            redone: self.redone,
            conflicts: self.conflicts,
            files: self.files,
            moved: self.moved,
            ..UndoPlan::default()
        };
        (plan, (self.renames, self.restored))
    }

    pub(super) fn invert(&mut self, place: usize) {
        let Some(effect) = self.ledger.effect(place) else { return };
        if self.request.direction == UndoDirection::Again {
            return self.reapply(place, effect);
        }
        if let Some(edits) = self.request.redone.get(&effect.id) {
            return match self.request.whole_first.contains(&effect.id) {
                true => self.redo_whole_first(place, effect, edits),
                false => self.redo_edits(effect, edits),
            };
        }
        match effect.kind {
            ChangeKind::Create => self.invert_creation(place, effect),
            ChangeKind::Replace => self.invert_edit(place, effect),
            ChangeKind::Trash => self.invert_trashing(place, effect),
            ChangeKind::Rename | ChangeKind::RenameFolder => self.invert_rename(place, effect),
            ChangeKind::MakeFolder => self.invert_folder_creation(place, effect),
            ChangeKind::TrashFolder => self.invert_folder_trashing(place, effect),
            ChangeKind::RestoreFolder => self.invert_folder_restore(place, effect),
        }
    }

    /// A created note goes to the trash, if it is as it was created.
    fn invert_creation(&mut self, place: usize, effect: &Effect) {
        let Some(made) = self.ledger.content(effect.after.as_ref()) else {
            return self.add_conflict(place, effect, EffectConflictReason::Purged);
        };
        let found = match self.find_note(place, effect) {
            Ok(found) => found,
            Err(missing) => return self.add_missing_creation(place, effect, made, missing),
        };
        if found.bytes != made {
            let note = Some(ContentHash::of(&found.bytes));
            let all = ConflictLines { line: 0, now: found.bytes, restored: Vec::new() };
            let conflict = self.conflict(effect, found.path_now, EffectConflictReason::Changed);
            self.conflicts.push(EffectConflict { lines: vec![all], note, ..conflict });
            return;
        }
        if self.is_renamed_to(&found.path_after) {
            return self.add_conflict(place, effect, EffectConflictReason::Entangled);
        }
        self.record_move(&found);
        self.pin_file(&found.path_now, &found.path_now, &found.trace);
        self.plan_change(
            effect,
            Hunks::All,
            found.path_now,
            Change::trash(found.path_after, found.bytes),
        );
    }

    fn invert_trashing(&mut self, place: usize, effect: &Effect) {
        match self.trashed_text(place, effect) {
            Some(trashed) => self.recreate_note(place, effect, trashed),
            None => self.add_conflict(place, effect, EffectConflictReason::Purged),
        }
    }

    /// The text with which a note went to the trash last: it may have got lines after its deletion was undone, and the
    /// redo of the deletion took them along.
    fn trashed_text(&self, place: usize, effect: &Effect) -> Option<&'a [u8]> {
        let trace = self.ledger.trace(place, &effect.path)?;
        let last = trace.trashed_at.and_then(|at| self.ledger.effect(at)).unwrap_or(effect);
        self.ledger.content(last.before.as_ref())
    }

    /// Makes a note again that is gone.
    fn recreate_note(&mut self, place: usize, effect: &Effect, bytes: &[u8]) {
        let Some(home) = self.ledger.trace(place, &effect.path) else { return };
        // Its folder is in the trash, and another one leaves the path of that folder with the same changes.
        let is_other_folder =
            |folder: &NotePath| self.restored_path(folder) != self.renames.forward(folder);
        if home.trashed_folder.as_ref().is_some_and(|folder| is_other_folder(&folder.path)) {
            return self.add_conflict(place, effect, EffectConflictReason::Entangled);
        }
        let path = self.restored_path(&home.path);
        let now = self.planned.path_before(&path).unwrap_or_else(|| home.path.clone());
        let here = self.ledger.certain_path(place, &home, self.notes);
        if here.as_ref().is_some_and(|here| self.planned.trashes_note(here)) {
            return self.add_conflict(place, effect, EffectConflictReason::Entangled);
        }
        // It may be there again: the user took it out of the trash.
        let is_there = !home.is_gone && self.request.direction == UndoDirection::Back;
        if here.is_some() || is_there {
            return;
        }
        // A note that was in the trash more than once is back already; another one at its path is in the way.
        let is_back = home.trashed_at.is_some_and(|at| self.restored.contains(&at));
        match self.planned.planned_state(&path) {
            PlannedState::Planned(planned) if is_back || planned == bytes => return,
            // The file at the path leaves it only with the same changes: one set would write the note into that file.
            PlannedState::Gone => {
                return self.add_conflict(place, effect, EffectConflictReason::Entangled);
            }
            PlannedState::Planned(_) | PlannedState::OnDisk(_) => {}
        }
        if self.is_occupied_after(&path) {
            return self.add_conflict(place, effect, EffectConflictReason::Taken);
        }
        let trashing = home.trashed_at.and_then(|at| self.ledger.effect(at)).unwrap_or(effect);
        let trashed = trashing.trashed_file();
        if let Some(trashed_at) = home.trashed_at {
            self.restored.insert(trashed_at);
        }
        self.plan_change(effect, Hunks::All, now, Change::restore(path, bytes, trashed));
    }

    fn invert_rename(&mut self, place: usize, effect: &Effect) {
        let Some(target) = &effect.target else { return };
        let (now, path) = match self.locate_now_and_after(place, target) {
            Ok(found) => found,
            Err(missing) => return self.add_missing_note(place, effect, missing),
        };
        // By its spelling: to write a name in another case is a rename too.
        if path.as_str() == effect.path.as_str() {
            return;
        }
        if path != *target {
            return self.add_conflict(place, effect, EffectConflictReason::Moved);
        }
        let is_folder = effect.kind == ChangeKind::RenameFolder;
        if path != effect.path
            && self.is_occupied_after(&effect.path)
            && !(is_folder && self.is_empty_folder_after(&effect.path))
            && !self.is_respelled(&now, &effect.path)
        {
            return self.add_conflict(place, effect, EffectConflictReason::Taken);
        }
        let change = match effect.kind {
            ChangeKind::RenameFolder => Change::rename_folder(path, effect.path.clone()),
            _ => Change::rename(path, effect.path.clone()),
        };
        if self.waits_for_target(&now, &change) {
            return self.add_conflict(place, effect, EffectConflictReason::Entangled);
        }
        let its_path = self.plan_change(effect, Hunks::All, now.clone(), change);
        if let Some((its_path, trace)) = its_path.zip(self.ledger.trace(place, target)) {
            self.pin_file(&its_path, &now, &trace);
        }
    }

    /// The note that an effect left, wherever it is.
    fn find_note(&self, place: usize, effect: &Effect) -> Result<LocatedNote, MissingNote> {
        let left_at = effect.target.as_ref().unwrap_or(&effect.path);
        let gone = || MissingNote::Gone(Vec::new());
        let trace = self.ledger.trace(place, left_at).ok_or_else(gone)?;
        let (now, path) = self.locate_trace(place, &trace)?;
        let bytes = self.bytes_after(&path).ok_or_else(|| match self.notes.file(&now) {
            Some(_) => MissingNote::Unreadable(now.clone()),
            None => gone(),
        })?;
        Ok(LocatedNote { path_after: path, path_now: now, trace, bytes })
    }

    /// Where on disk that is which an effect left at `left_at`, or will be, and where it is once all
    /// that is planned has happened.
    fn locate_now_and_after(
        &self,
        place: usize,
        left_at: &NotePath,
    ) -> Result<(NotePath, NotePath), MissingNote> {
        let gone = || MissingNote::Gone(Vec::new());
        let trace = self.ledger.trace(place, left_at).ok_or_else(gone)?;
        self.locate_trace(place, &trace)
    }

    /// The same for what has this trace.
    fn locate_trace(
        &self,
        place: usize,
        trace: &NoteTrace,
    ) -> Result<(NotePath, NotePath), MissingNote> {
        let gone = || MissingNote::Gone(Vec::new());
        if trace.trashed_at.is_some_and(|at| self.restored.contains(&at)) {
            return Err(MissingNote::MadeAgain);
        }
        match self.ledger.locate(place, trace, self.notes) {
            NoteLocation::At(now) => {
                let path = self.planned.disk_path(&now).ok_or_else(gone)?;
                Ok((now, path))
            }
            NoteLocation::Gone(candidates) => Err(MissingNote::Gone(candidates)),
            NoteLocation::Unsure(candidates) => Err(MissingNote::Unsure(candidates)),
        }
    }

    /// The bytes at a path once all planned changes are applied.
    fn bytes_after(&self, path: &NotePath) -> Option<Vec<u8>> {
        match self.planned.planned_state(path) {
            PlannedState::OnDisk(now) => self.notes.bytes(&now),
            PlannedState::Planned(bytes) => Some(bytes.to_vec()),
            PlannedState::Gone => None,
        }
    }

    /// Where a note or a folder comes back that was at `home`: its folder may be renamed by the plan. A rename of what has
    /// its own path by now is about something else.
    fn restored_path(&self, home: &NotePath) -> NotePath {
        let folder = home.folder().and_then(|folder| NotePath::parse(folder).ok());
        let moved =
            folder.and_then(|folder| home.after_move(&folder, &self.renames.forward(&folder)));
        moved.unwrap_or_else(|| home.clone())
    }

    fn is_occupied_after(&self, path: &NotePath) -> bool {
        match self.planned.planned_state(path) {
            PlannedState::OnDisk(now) => self.notes.file(&now).is_some(),
            PlannedState::Planned(_) => true,
            PlannedState::Gone => false,
        }
    }

    /// Whether an empty folder is at a path once all planned changes are applied: a folder may take its place.
    fn is_empty_folder_after(&self, path: &NotePath) -> bool {
        let is_filled = |planned: &NotePath| planned != path && planned.is_in(path);
        matches!(self.planned.planned_state(path), PlannedState::OnDisk(now) if self.notes.is_empty_folder(&now))
            && !self.planned.planned_notes().iter().any(|(planned, _)| is_filled(planned))
            && !self.planned.rename_changes().any(|change| change.target().is_some_and(is_filled))
    }

    /// Whether the target of a rename is taken on disk, and free only once the plan is applied. All renames of a plan are
    /// one group, and a group is made ready while its targets are free; a later plan finds this one free.
    fn waits_for_target(&self, now: &NotePath, change: &Change) -> bool {
        let Some(target) = change.target() else { return false };
        let is_respelled = now.as_str() != target.as_str() && self.is_respelled(now, target);
        let is_free = match change.kind() {
            ChangeKind::RenameFolder => self.notes.is_empty_folder(target),
            _ => false,
        };
        if self.notes.file(target).is_none() || is_respelled || is_free {
            return false;
        }
        // Nothing waits where this rename and an earlier one of the plan cancel out.
        let mut planned = self.planned.clone();
        planned.add_change(change.clone()).is_ok()
            && planned.rename_changes().any(|change| change.target() == Some(target))
    }

    /// Whether the plan renames a note to a path. A set does not rename what it moves to the trash.
    fn is_renamed_to(&self, path: &NotePath) -> bool {
        self.planned.rename_changes().any(|change| change.target() == Some(path))
    }

    /// Whether a name is found because the disk ignores case, and the note at `now` has it already in another
    /// spelling. A second name of its file (a hard link) is refused when the rename is made.
    fn is_respelled(&self, now: &NotePath, path: &NotePath) -> bool {
        name_key(now.as_str()) == name_key(path.as_str())
            && self.notes.file(now).is_some_and(|file| self.notes.file(path) == Some(file))
    }

    /// The change with this path in the set, of what is at `now` on disk, is about the file that the trace ends with,
    /// and about no other. Where an earlier version stored no more than its number, it is about the file that was found
    /// to be the note.
    fn pin_file(&mut self, path: &NotePath, now: &NotePath, trace: &NoteTrace) {
        let known = self.ledger.file(trace).filter(|file| file.born.is_some());
        if let Some(file) = known.or_else(|| self.notes.file(now)) {
            self.files.entry(path.clone()).or_insert(file);
        }
    }

    /// A note that is changed elsewhere than the ledger knows was renamed by hand.
    fn record_move(&mut self, found: &LocatedNote) {
        if found.trace.path == found.path_now {
            return;
        }
        let file = self.notes.file(&found.path_now);
        let (from, to) = (found.trace.path.clone(), found.path_now.clone());
        let moved = MovedNote { from, to, base: found.trace.file, file };
        if !self.moved.contains(&moved) {
            self.moved.push(moved);
        }
    }

    /// Plans the change of what is at `now` on disk. Returns the path that the change has in the set, by which it
    /// is recorded, or `None` when it does not go together with the rest.
    fn plan_change(
        &mut self,
        effect: &Effect,
        hunks: Hunks,
        now: NotePath,
        change: Change,
    ) -> Option<NotePath> {
        let path = self.add_change(effect, now, change)?;
        let undone = UndoneEffect { effect: effect.id.clone(), path: path.clone(), hunks };
        self.undone.push(undone);
        Some(path)
    }

    /// Adds the change to the plan, and returns as [`UndoPlanner::plan_change`] does.
    fn add_change(&mut self, effect: &Effect, now: NotePath, change: Change) -> Option<NotePath> {
        let renamed = change.target().map(|target| (change.path.clone(), target.clone()));
        match self.planned.add_change(change) {
            Ok(()) => {
                // A rename has the path that renames before it in the set lead to.
                let path = match &renamed {
                    Some((_, to)) => self.path_of_rename(to).unwrap_or(now),
                    None => now,
                };
                renamed.into_iter().for_each(|(from, to)| self.renames.push(from, to));
                Some(path)
            }
            Err(unplannable) => {
                let why = EffectConflictReason::Entangled;
                self.conflicts.push(self.conflict(effect, unplannable.path, why));
                None
            }
        }
    }

    /// The path in the set of the rename that leads to `to`.
    fn path_of_rename(&self, to: &NotePath) -> Option<NotePath> {
        let mut newest_first = self.planned.rename_changes().rev();
        let rename = newest_first.find(|change| change.target() == Some(to))?;
        Some(rename.path.clone())
    }
}
