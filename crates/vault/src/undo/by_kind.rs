//! Taking back one effect, by its kind.

use std::collections::BTreeSet;

use protocol::{Change, ChangeKind, ChangeSet, Effect, NotePath, Renames, Seen};

use super::find::located;
use super::past::Past;
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
    undoings: Vec<Undoing>,
    conflicts: Vec<Conflict>,
    moved: Vec<(NotePath, NotePath)>,
}

/// A note as it would be if what is planned had happened.
struct Found {
    /// Where it is then.
    path: NotePath,
    /// Where it is on disk; where it will be, if it is not.
    now: NotePath,
    /// Where it should be on disk.
    home: NotePath,
    bytes: Vec<u8>,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(
        past: &'a Past,
        wanted: &'a Wanted,
        notes: &'a dyn Notes,
        (planned, way): (ChangeSet, Renames),
    ) -> Self {
        let (undoings, conflicts, moved) = (Vec::new(), Vec::new(), Vec::new());
        Self { past, wanted, notes, planned, way, undoings, conflicts, moved }
    }

    pub(super) fn into_taken(self) -> (Taken, Renames) {
        let Self { planned, way, undoings, conflicts, moved, .. } = self;
        (Taken { changes: planned, undoings, conflicts, moved }, way)
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
        let Some(found) = self.find(place, effect) else {
            return self.refuse(place, effect, Why::Gone);
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
            });
        }
        if merged.bytes != found.bytes {
            self.notice(&found);
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
        let Some(found) = self.find(place, effect) else { return };
        if found.bytes != made {
            let all = Place { line: 0, now: found.bytes, back: Vec::new() };
            self.conflicts.push(Conflict {
                effect: effect.id.clone(),
                path: found.now,
                why: Why::Changed,
                places: vec![all],
            });
            return;
        }
        self.notice(&found);
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
        let home = self.past.now_at(place, &effect.path);
        let path = self.way.forward(&home.path);
        let is_back = matches!(self.planned.seen_at(&path), Seen::Planned(_));
        if is_back || (!home.is_gone && self.wanted.direction == Direction::Back) {
            return;
        }
        if self.is_taken(&path) {
            return self.refuse(place, effect, Why::Taken);
        }
        self.plan(effect, Hunks::All, path.clone(), Change::create(path, bytes));
    }

    fn rename(&mut self, place: usize, effect: &Effect) {
        let Some(target) = &effect.target else { return };
        let home = self.past.now_at(place, target);
        let expected = self.way.forward(&home.path);
        let (now, path) = match self.find(place, effect) {
            Some(found) if effect.kind == ChangeKind::Rename => (found.now, found.path),
            // A folder, or a file that is no note: there is nothing to know it by but its place.
            _ if !home.is_gone && self.is_taken(&expected) => (home.path, expected),
            _ => return self.refuse(place, effect, Why::Gone),
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
        let change = match effect.kind {
            ChangeKind::RenameFolder => Change::rename_folder(path, effect.path.clone()),
            _ => Change::rename(path, effect.path.clone()),
        };
        self.plan(effect, Hunks::All, now, change);
    }

    /// A folder that is used stays.
    fn made_folder(&mut self, place: usize, effect: &Effect) {
        let home = self.past.now_at(place, &effect.path);
        let is_used = self.notes.files().iter().any(|file| {
            self.planned.seen_from(&file.path).is_some_and(|path| path.is_in(&home.path))
        });
        let is_planned = self.planned.written().iter().any(|(path, _)| path.is_in(&home.path));
        if home.is_gone || is_used || is_planned || !self.notes.is_there(&home.path) {
            return;
        }
        self.trash_folder(effect, home.path);
    }

    fn restored_folder(&mut self, place: usize, effect: &Effect) {
        let home = self.past.now_at(place, &effect.path);
        if !home.is_gone && self.notes.is_there(&home.path) {
            self.trash_folder(effect, home.path);
        }
    }

    fn trash_folder(&mut self, effect: &Effect, path: NotePath) {
        let change = Change { path: path.clone(), act: protocol::Act::TrashFolder };
        self.plan(effect, Hunks::All, path, change);
    }

    fn trashed_folder(&mut self, place: usize, effect: &Effect) {
        let home = self.past.now_at(place, &effect.path);
        let Some(trashed) = effect.trashed.clone().filter(|_| self.is_gone(place, effect)) else {
            return;
        };
        if self.is_taken(&home.path) {
            return self.refuse(place, effect, Why::Taken);
        }
        let act = protocol::Act::RestoreFolder { trashed };
        self.plan(effect, Hunks::All, home.path.clone(), Change { path: home.path, act });
    }

    /// Whether what an effect took away is away still.
    fn is_gone(&self, place: usize, effect: &Effect) -> bool {
        !self.notes.is_there(&self.past.now_at(place, &effect.path).path)
    }

    /// The note that an effect left, wherever it is.
    fn find(&self, place: usize, effect: &Effect) -> Option<Found> {
        let left_at = effect.target.as_ref().unwrap_or(&effect.path);
        let home = self.past.now_at(place, left_at);
        let path = self.way.forward(&home.path);
        if let Seen::Planned(bytes) = self.planned.seen_at(&path) {
            let bytes = bytes.to_vec();
            let now = self.planned.renames().back(&path).unwrap_or_else(|| home.path.clone());
            let home = now.clone();
            return Some(Found { path, now, home, bytes });
        }
        if home.is_gone {
            return None;
        }
        let now = located(self.past, place, &home.path, self.notes)?;
        let path = self.planned.seen_from(&now)?;
        let bytes = self.bytes_at(&path)?;
        Some(Found { path, now, home: home.path, bytes })
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
            Seen::OnDisk(now) => self.notes.is_there(&now),
            Seen::Planned(_) => true,
            Seen::Gone => false,
        }
    }

    /// A note that is changed elsewhere than the ledger knows was renamed by hand.
    fn notice(&mut self, found: &Found) {
        let pair = (found.home.clone(), found.now.clone());
        if found.home != found.now && !self.moved.contains(&pair) {
            self.moved.push(pair);
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
            }),
        }
    }

    fn refuse(&mut self, place: usize, effect: &Effect, why: Why) {
        let left_at = effect.target.as_ref().unwrap_or(&effect.path);
        let path = self.past.now_at(place, left_at).path;
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
        });
    }
}
