//! The changes of contents and folders in a set, found by their paths.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use super::{Change, ChangeAction};
use crate::NotePath;

/// Changes of contents and folders, in the order in which they were planned. A clone shares them, and copies a change
/// only to modify it.
#[derive(Debug, Clone, Default)]
pub(super) struct ContentChanges {
    /// By ascending numbers.
    changes: BTreeMap<usize, Arc<Change>>,
    /// The numbers by the hashes of the paths; different paths may have the same hash.
    by_path: BTreeSet<(u64, usize)>,
    /// The numbers of the folders that go to the trash.
    trashed_folders: BTreeSet<usize>,
    /// The numbers of the changes that come to nothing.
    noops: BTreeSet<usize>,
}

/// The result of two changes of one path.
enum MergedAction {
    /// The earlier one includes the later one.
    Kept,
    /// Nothing is left of both.
    Dropped,
    /// They do not fit, and the earlier one is as it was.
    Refused,
}

impl ContentChanges {
    pub(super) fn len(&self) -> usize {
        self.changes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Change> + Clone {
        self.changes.values().map(Arc::as_ref)
    }

    pub(super) fn into_changes(self) -> impl Iterator<Item = Change> {
        self.changes.into_values().map(Arc::unwrap_or_clone)
    }

    pub(super) fn push(&mut self, change: Change) {
        let number = self.changes.last_key_value().map_or(0, |(last, _)| last + 1);
        self.by_path.insert((path_hash(&change.path), number));
        if matches!(change.act, ChangeAction::TrashFolder { .. }) {
            self.trashed_folders.insert(number);
        }
        if change.is_noop() {
            self.noops.insert(number);
        }
        self.changes.insert(number, Arc::new(change));
    }

    /// The changes with a path and their numbers, in order.
    pub(super) fn at(&self, path: &NotePath) -> impl Iterator<Item = (usize, &Change)> {
        let hash = path_hash(path);
        let numbers = self.by_path.range((hash, 0)..=(hash, usize::MAX));
        numbers.filter_map(move |(_, number)| {
            let change = self.changes.get(number)?;
            (change.path == *path).then_some((*number, &**change))
        })
    }

    /// The number of the first folder that goes to the trash and is `path` or has it in it.
    pub(super) fn trashed_folder_around(&self, path: &NotePath) -> Option<usize> {
        let is_around = |number: &usize| {
            self.changes.get(number).is_some_and(|folder| path.is_in(&folder.path))
        };
        self.trashed_folders.iter().copied().find(is_around)
    }

    /// Adds a later action on the path of a change. `false`, with the changes as they were, where it does not fit.
    pub(super) fn merge(&mut self, number: usize, later: ChangeAction) -> bool {
        let Some(earlier) = self.changes.get_mut(&number).map(Arc::make_mut) else { return false };
        match merge_later(&mut earlier.act, later) {
            MergedAction::Kept => {
                if earlier.is_noop() {
                    self.noops.insert(number);
                } else {
                    self.noops.remove(&number);
                }
                true
            }
            MergedAction::Dropped => {
                let path = earlier.path.clone();
                let numbers: Vec<usize> = self.at(&path).map(|(number, _)| number).collect();
                numbers.into_iter().for_each(|number| self.remove(number));
                true
            }
            MergedAction::Refused => false,
        }
    }

    /// Gives a change that is not about a folder another path.
    pub(super) fn set_path(&mut self, number: usize, path: NotePath) {
        let Some(change) = self.changes.get_mut(&number) else { return };
        self.by_path.remove(&(path_hash(&change.path), number));
        self.by_path.insert((path_hash(&path), number));
        Arc::make_mut(change).path = path;
    }

    /// Removes the changes that come to nothing.
    pub(super) fn remove_noops(&mut self) {
        for number in std::mem::take(&mut self.noops) {
            self.remove(number);
        }
    }

    fn remove(&mut self, number: usize) {
        if let Some(change) = self.changes.remove(&number) {
            self.by_path.remove(&(path_hash(&change.path), number));
        }
        self.trashed_folders.remove(&number);
        self.noops.remove(&number);
    }
}

impl PartialEq for ContentChanges {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for ContentChanges {}

fn merge_later(earlier: &mut ChangeAction, later: ChangeAction) -> MergedAction {
    *earlier = match (&mut *earlier, later) {
        (ChangeAction::Create { like, .. }, ChangeAction::Replace { after, .. }) => {
            ChangeAction::Create { after, like: like.take() }
        }
        (ChangeAction::Replace { before, .. }, ChangeAction::Replace { after, .. }) => {
            ChangeAction::Replace { before: std::mem::take(before), after }
        }
        (ChangeAction::Replace { before, .. }, ChangeAction::Trash { .. }) => {
            ChangeAction::Trash { before: std::mem::take(before) }
        }
        // Trashed and created again: the note has other bytes.
        (ChangeAction::Trash { before }, ChangeAction::Create { after, .. }) => {
            ChangeAction::Replace { before: std::mem::take(before), after }
        }
        (ChangeAction::Create { .. }, ChangeAction::Trash { .. })
        | (ChangeAction::MakeFolder, ChangeAction::TrashFolder { .. }) => {
            return MergedAction::Dropped;
        }
        _ => return MergedAction::Refused,
    };
    MergedAction::Kept
}

fn path_hash(path: &NotePath) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}
