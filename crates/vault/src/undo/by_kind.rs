//! Taking back one effect, by its kind.

use std::collections::{BTreeSet, HashMap};

use protocol::{
    Change, ChangeKind, ChangeSet, Effect, FileId, FolderContents, Moved, NotePath, Renames, Seen,
};

use super::locate::Located;
use super::past::Past;
use super::trace::Trace;
use super::{Conflict, Direction, Hunks, Notes, Place, Taken, Undoing, Wanted, Why};
use crate::merge::{self, Merged, Order, hunks, merge_in_order, without};

/// The effects of one unit, on top of what is planned already.
pub(super) struct Attempt<'a> {
    past: &'a Past,
    wanted: &'a Wanted,
    notes: &'a dyn Notes,
    planned: ChangeSet,
    /// From where things are now to where they are then; also things that are made only then.
    way: Renames,
    restored: Restored,
    undoings: Vec<Undoing>,
    conflicts: Vec<Conflict>,
    moved: Vec<Moved>,
    /// The files that the changes are about, by where they are on disk.
    files: HashMap<NotePath, FileId>,
}

/// The places in the past of trashings whose notes are made again.
pub(super) type Restored = BTreeSet<usize>;

/// What earlier units came to: the changes, the way that things take, and what is made again.
pub(super) type SoFar = (ChangeSet, Renames, Restored);

/// A note as it would be if what is planned had happened.
struct Found {
    /// Where it is then.
    path: NotePath,
    /// Where it is on disk; where it will be, if it is not.
    now: NotePath,
    /// What the ledger knows of it.
    trace: Trace,
    bytes: Vec<u8>,
}

/// Why a note is not found.
enum Missing {
    /// It is not there; these may be it.
    Gone(Vec<NotePath>),
    /// Another file stands in its place; these may be it.
    Unsure(Vec<NotePath>),
}

impl<'a> Attempt<'a> {
    pub(super) fn new(
        past: &'a Past,
        wanted: &'a Wanted,
        notes: &'a dyn Notes,
        (planned, way, restored): SoFar,
    ) -> Self {
        let (undoings, conflicts, moved) = (Vec::new(), Vec::new(), Vec::new());
        let files = HashMap::new();
        Self { past, wanted, notes, planned, way, restored, undoings, conflicts, moved, files }
    }

    pub(super) fn into_taken(self) -> (Taken, (Renames, Restored)) {
        let Self { planned, way, restored, undoings, conflicts, moved, files, .. } = self;
        (Taken { changes: planned, undoings, conflicts, files, moved }, (way, restored))
    }

    pub(super) fn take_back(&mut self, place: usize) {
        let Some(effect) = self.past.effect(place) else { return };
        match effect.kind {
            ChangeKind::Create => self.creation(place, effect),
            ChangeKind::Replace => self.edit(place, effect),
            ChangeKind::Trash => self.trashing(place, effect),
            ChangeKind::Rename | ChangeKind::RenameFolder => self.rename(place, effect),
            ChangeKind::MakeFolder => self.made_folder(place, effect),
            ChangeKind::TrashFolder => self.trashed_folder(place, effect),
            ChangeKind::RestoreFolder => self.restored_folder(place, effect),
        }
    }

    fn edit(&mut self, place: usize, effect: &Effect) {
        let images =
            (self.past.image(effect.before.as_ref()), self.past.image(effect.after.as_ref()));
        let (Some(before), Some(after)) = images else {
            return self.refuse(place, effect, Why::Forgotten);
        };
        let found = match self.find(place, effect) {
            Ok(found) => found,
            Err(missing) => return self.miss(place, effect, missing),
        };
        let order = Order::of(self.past.versions(place));
        let merge = |hunks: &Hunks| match (self.wanted.direction, hunks) {
            (Direction::Again, _) => merge_in_order(before, &found.bytes, after, &order),
            (Direction::Back, Hunks::All) => merge_in_order(after, &found.bytes, before, &order),
            (Direction::Back, Hunks::Some(hunks)) => {
                merge_in_order(after, &found.bytes, &without(before, after, hunks), &order)
            }
        };
        let wanted = self.hunks(effect);
        let merged = merge(&wanted);
        let hunks = if merged.conflicts.is_empty() {
            wanted
        } else {
            let all = (0..hunks(before, after).len()).filter(|hunk| wanted.has(*hunk));
            let alone = |hunk: &usize| merge(&Hunks::Some(BTreeSet::from([*hunk])));
            Hunks::Some(all.filter(|hunk| alone(hunk).conflicts.is_empty()).collect())
        };
        self.put(effect, found, merged, hunks);
    }

    fn hunks(&self, effect: &Effect) -> Hunks {
        self.wanted.effects.get(&effect.id).cloned().unwrap_or(Hunks::All)
    }

    /// Plans the merged bytes; the conflicts that are left keep what is there.
    fn put(&mut self, effect: &Effect, found: Found, merged: Merged, hunks: Hunks) {
        if !merged.conflicts.is_empty() {
            let place = |conflict: merge::Conflict| Place {
                line: conflict.line,
                now: conflict.ours,
                back: conflict.theirs,
            };
            self.conflicts.push(Conflict {
                effect: effect.id.clone(),
                path: found.now.clone(),
                why: Why::Changed,
                places: merged.conflicts.into_iter().map(place).collect(),
                candidates: Vec::new(),
            });
        }
        if merged.bytes != found.bytes {
            self.notice(&found);
            self.keep_to(&found.now, &found.trace);
            let change = Change::replace(found.path, found.bytes, merged.bytes);
            self.plan(effect, hunks, found.now, change);
        }
    }

    /// What was made goes to the trash, if it is as it was made.
    fn creation(&mut self, place: usize, effect: &Effect) {
        let Some(made) = self.past.image(effect.after.as_ref()) else {
            return self.refuse(place, effect, Why::Forgotten);
        };
        if self.wanted.direction == Direction::Again {
            return self.put_back(place, effect, made);
        }
        let found = match self.find(place, effect) {
            Ok(found) => found,
            Err(missing) => return self.miss_made(place, effect, made, missing),
        };
        if found.bytes != made {
            let all = Place { line: 0, now: found.bytes, back: Vec::new() };
            self.conflicts.push(Conflict {
                effect: effect.id.clone(),
                path: found.now,
                why: Why::Changed,
                places: vec![all],
                candidates: Vec::new(),
            });
            return;
        }
        self.notice(&found);
        self.keep_to(&found.now, &found.trace);
        self.plan(effect, Hunks::All, found.now, Change::trash(found.path, found.bytes));
    }

    fn trashing(&mut self, place: usize, effect: &Effect) {
        match self.past.image(effect.before.as_ref()) {
            Some(trashed) => self.put_back(place, effect, trashed),
            None => self.refuse(place, effect, Why::Forgotten),
        }
    }

    /// Makes a note again that is gone.
    fn put_back(&mut self, place: usize, effect: &Effect, bytes: &[u8]) {
        let Some(home) = self.past.trace(place, &effect.path) else { return };
        let path = self.way.forward(&home.path);
        let is_back = matches!(self.planned.seen_at(&path), Seen::Planned(_));
        if is_back || (!home.is_gone && self.wanted.direction == Direction::Back) {
            return;
        }
        if self.is_taken(&path) {
            return self.refuse(place, effect, Why::Taken);
        }
        let trashing = home.trashed_at.and_then(|at| self.past.effect(at)).unwrap_or(effect);
        let trashed = trashing.trashed.clone();
        if let Some(trashed_at) = home.trashed_at {
            self.restored.insert(trashed_at);
        }
        self.plan(effect, Hunks::All, path.clone(), Change::restore(path, bytes, trashed));
    }

    fn rename(&mut self, place: usize, effect: &Effect) {
        let Some(target) = &effect.target else { return };
        let (now, path) = match self.whereabouts(place, target) {
            Ok(found) => found,
            Err(missing) => return self.miss(place, effect, missing),
        };
        // By its spelling: to write a name in another case is a rename too.
        if path.as_str() == effect.path.as_str() {
            return;
        }
        if path != *target {
            return self.refuse(place, effect, Why::Moved);
        }
        if path != effect.path && self.is_taken(&effect.path) {
            return self.refuse(place, effect, Why::Taken);
        }
        if let Some(trace) = self.past.trace(place, target) {
            self.keep_to(&now, &trace);
        }
        let change = match effect.kind {
            ChangeKind::RenameFolder => Change::rename_folder(path, effect.path.clone()),
            _ => Change::rename(path, effect.path.clone()),
        };
        self.plan(effect, Hunks::All, now, change);
    }

    /// A folder that is used stays.
    fn made_folder(&mut self, place: usize, effect: &Effect) {
        // One that was there already was not made, and one that somebody made anew is theirs.
        let Ok((now, _)) = self.whereabouts(place, &effect.path) else { return };
        let Some(home) = self.past.trace(place, &effect.path) else { return };
        if effect.base.is_some() || now != home.path {
            return;
        }
        let is_used = self.notes.files().iter().any(|file| {
            !file.is_folder
                && self.planned.seen_from(&file.path).is_some_and(|path| path.is_in(&home.path))
        });
        // What is moved out of it goes only after it.
        let whereabouts = self.planned.whereabouts();
        let leaves_later = self.notes.files().iter().any(|file| {
            !file.is_folder && file.path.is_in(&home.path) && whereabouts.of(&file.path).is_some()
        });
        let is_planned = self.planned.written().iter().any(|(path, _)| path.is_in(&home.path));
        if is_used || leaves_later || is_planned {
            return;
        }
        let holds = self.folders_in(&home.path);
        self.trash_folder(effect, home.path, Some(holds));
    }

    fn restored_folder(&mut self, place: usize, effect: &Effect) {
        match self.whereabouts(place, &effect.path) {
            Ok((now, _)) => {
                // What somebody put into it since does not go with it.
                let Some(holds) = self.contents(effect) else {
                    return self.refuse(place, effect, Why::Forgotten);
                };
                self.trash_folder(effect, now, Some(holds));
            }
            Err(Missing::Gone(_)) => {}
            Err(unsure) => self.miss(place, effect, unsure),
        }
    }

    /// The folders in a folder, without those that go before it; nothing else may be in it.
    fn folders_in(&self, home: &NotePath) -> FolderContents {
        let whereabouts = self.planned.whereabouts();
        let files = self.notes.files();
        let below = files.iter().filter_map(|file| {
            let below = file.path.as_str().strip_prefix(home.as_str())?.strip_prefix('/')?;
            whereabouts.of(&file.path).is_some().then_some((below.as_bytes(), None))
        });
        FolderContents::of(below)
    }

    /// What the folder of an effect held, as far as it is known.
    fn contents(&self, effect: &Effect) -> Option<FolderContents> {
        let bytes = self.past.image(effect.before.as_ref())?;
        Some(FolderContents::from_bytes(bytes.to_vec()))
    }

    fn trash_folder(&mut self, effect: &Effect, path: NotePath, holds: Option<FolderContents>) {
        let change = Change { path: path.clone(), act: protocol::Act::TrashFolder { holds } };
        self.plan(effect, Hunks::All, path, change);
    }

    fn trashed_folder(&mut self, place: usize, effect: &Effect) {
        let Some(home) = self.past.trace(place, &effect.path) else { return };
        let Some(trashed) = effect.trashed.clone() else { return };
        match self.notes.file(&home.path) {
            None => {}
            // It is back already.
            Some(found) if Some(found) == effect.base => return,
            Some(_) => return self.refuse(place, effect, Why::Taken),
        }
        if self.is_taken(&home.path) {
            return self.refuse(place, effect, Why::Taken);
        }
        let act = protocol::Act::RestoreFolder { trashed, holds: self.contents(effect) };
        self.plan(effect, Hunks::All, home.path.clone(), Change { path: home.path, act });
    }

    /// The note that an effect left, wherever it is.
    fn find(&self, place: usize, effect: &Effect) -> Result<Found, Missing> {
        let left_at = effect.target.as_ref().unwrap_or(&effect.path);
        let gone = || Missing::Gone(Vec::new());
        let trace = self.past.trace(place, left_at).ok_or_else(gone)?;
        let (now, path) = self.whereabouts(place, left_at)?;
        let bytes = self.bytes_at(&path).ok_or_else(gone)?;
        Ok(Found { path, now, trace, bytes })
    }

    /// Where on disk that is which an effect left at `left_at`, or will be, and where it is once all
    /// that is planned has happened.
    fn whereabouts(
        &self,
        place: usize,
        left_at: &NotePath,
    ) -> Result<(NotePath, NotePath), Missing> {
        let gone = || Missing::Gone(Vec::new());
        let trace = self.past.trace(place, left_at).ok_or_else(gone)?;
        if trace.trashed_at.is_some_and(|at| self.restored.contains(&at)) {
            let path = self.way.forward(&trace.path);
            let now = self.planned.renames().back(&path).unwrap_or(trace.path);
            return Ok((now, path));
        }
        match self.past.locate(place, &trace, self.notes) {
            Located::At(now) => {
                let path = self.planned.seen_from(&now).ok_or_else(gone)?;
                Ok((now, path))
            }
            Located::Gone(candidates) => Err(Missing::Gone(candidates)),
            Located::Unsure(candidates) => Err(Missing::Unsure(candidates)),
        }
    }

    /// What stands at a path once all that is planned has happened.
    fn bytes_at(&self, path: &NotePath) -> Option<Vec<u8>> {
        match self.planned.seen_at(path) {
            Seen::OnDisk(now) => self.notes.bytes(&now),
            Seen::Planned(bytes) => Some(bytes.to_vec()),
            Seen::Gone => None,
        }
    }

    fn is_taken(&self, path: &NotePath) -> bool {
        match self.planned.seen_at(path) {
            Seen::OnDisk(now) => self.notes.file(&now).is_some(),
            Seen::Planned(_) => true,
            Seen::Gone => false,
        }
    }

    /// The change at `now` is about the file that the trace ends with, and about no other. Where an earlier
    /// version stored no more than its number, it is about the file that was found to be the note.
    fn keep_to(&mut self, now: &NotePath, trace: &Trace) {
        let known = self.past.file(trace).filter(|file| file.born.is_some());
        if let Some(file) = known.or_else(|| self.notes.file(now)) {
            self.files.insert(now.clone(), file);
        }
    }

    /// A note that is changed elsewhere than the ledger knows was renamed by hand.
    fn notice(&mut self, found: &Found) {
        if found.trace.path == found.now || found.trace.trashed_at.is_some() {
            return;
        }
        let file = self.notes.file(&found.now);
        let (from, to) = (found.trace.path.clone(), found.now.clone());
        let moved = Moved { from, to, base: found.trace.file, file };
        if !self.moved.contains(&moved) {
            self.moved.push(moved);
        }
    }

    fn plan(&mut self, effect: &Effect, hunks: Hunks, path: NotePath, change: Change) {
        let renamed = change.target().map(|target| (change.path.clone(), target.clone()));
        match self.planned.extend(ChangeSet::one(change)) {
            Ok(()) => {
                renamed.into_iter().for_each(|(from, to)| self.way.push(from, to));
                self.undoings.push(Undoing { effect: effect.id.clone(), path, hunks });
            }
            Err(unplannable) => self.conflicts.push(Conflict {
                effect: effect.id.clone(),
                path: unplannable.path,
                why: Why::Entangled,
                places: Vec::new(),
                candidates: Vec::new(),
            }),
        }
    }

    fn refuse(&mut self, place: usize, effect: &Effect, why: Why) {
        self.conflict(place, effect, why, Vec::new());
    }

    /// The note of an effect is not there, or nobody knows which it is.
    fn miss(&mut self, place: usize, effect: &Effect, missing: Missing) {
        match missing {
            Missing::Gone(candidates) => self.conflict(place, effect, Why::Gone, candidates),
            Missing::Unsure(candidates) => self.conflict(place, effect, Why::Unsure, candidates),
        }
    }

    /// A note that was made and is gone needs no undo, unless one that says the same may be it.
    fn miss_made(&mut self, place: usize, effect: &Effect, made: &[u8], missing: Missing) {
        match missing {
            Missing::Gone(mut candidates) => {
                candidates.retain(|path| self.notes.bytes(path).as_deref() == Some(made));
                if !candidates.is_empty() {
                    self.conflict(place, effect, Why::Gone, candidates);
                }
            }
            unsure => self.miss(place, effect, unsure),
        }
    }

    fn conflict(&mut self, place: usize, effect: &Effect, why: Why, candidates: Vec<NotePath>) {
        let left_at = effect.target.as_ref().unwrap_or(&effect.path);
        let trace = self.past.trace(place, left_at);
        let path = trace.map_or_else(|| left_at.clone(), |trace| trace.path);
        let back = match why {
            Why::Gone | Why::Taken => self.past.image(effect.before.as_ref()).map(<[u8]>::to_vec),
            _ => None,
        };
        let now = self.notes.bytes(&path).unwrap_or_default();
        let place = |back| Place { line: 0, now, back };
        self.conflicts.push(Conflict {
            effect: effect.id.clone(),
            path,
            why,
            places: back.map(place).into_iter().collect(),
            candidates,
        });
    }
}
