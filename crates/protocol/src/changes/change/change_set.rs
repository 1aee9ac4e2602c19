//! Changes that belong together, and the view of a conversation while they are pending.

use std::collections::HashSet;

use thiserror::Error;

use super::content_changes::ContentChanges;
use super::renames::{back, forward};
use super::{Change, ChangeAction, Renames};
use crate::NotePath;

/// Changes that belong together.
///
/// First those of contents and folders, at most one a path, each under the path it has before the
/// set; then the renames, in the order in which they were planned. A clone shares the bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeSet {
    contents: ContentChanges,
    renames: Vec<Change>,
}

/// A later plan does not fit on the pending one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{path}` is part of a pending move or deletion. Don’t change it until the user has decided."
)]
pub struct ChangeSetConflict {
    /// Where both meet.
    pub path: NotePath,
}

/// The state of a path when the changes of a set count as done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedState<'a> {
    /// The present file of this path, if any.
    OnDisk(NotePath),
    /// A note with these bytes.
    Planned(&'a [u8]),
    /// Nothing: it is moved away or in the trash.
    Gone,
}

/// Where what is on disk is to be found when a set counts as done.
#[derive(Debug)]
pub struct DiskLocations<'a> {
    /// Files and folders that go to the trash.
    files: HashSet<&'a NotePath>,
    folders: Vec<&'a NotePath>,
    renames: Renames,
}

impl DiskLocations<'_> {
    /// Of what is on disk at `path`; `None` when it is in the trash.
    #[must_use]
    pub fn locate(&self, path: &NotePath) -> Option<NotePath> {
        let is_trashed =
            self.files.contains(path) || self.folders.iter().any(|folder| path.is_in(folder));
        (!is_trashed).then(|| self.renames.forward(path))
    }
}

impl ChangeSet {
    /// A set of one.
    #[must_use]
    pub fn one(change: Change) -> Self {
        std::iter::once(change).collect()
    }

    /// The changes, in the order in which they happen.
    pub fn changes(&self) -> impl Iterator<Item = &Change> + Clone {
        self.contents.iter().chain(&self.renames)
    }

    /// How many changes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.contents.len() + self.renames.len()
    }

    /// Whether nothing is planned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.contents.is_empty() && self.renames.is_empty()
    }

    /// Whether its changes are carried out all or not at all: a file or folder moves.
    #[must_use]
    pub const fn is_unit(&self) -> bool {
        !self.renames.is_empty()
    }

    /// The changes that give a file or folder another path, in the order in which they happen.
    pub fn rename_changes(&self) -> impl DoubleEndedIterator<Item = &Change> {
        self.renames.iter()
    }

    /// Where files and folders go.
    #[must_use]
    pub fn renames(&self) -> Renames {
        self.rename_pairs().map(|(from, to)| (from.clone(), to.clone())).collect()
    }

    /// Where what a reader finds at `path` when all this counts as done is before; `None` when it went away from there.
    #[must_use]
    pub fn path_before(&self, path: &NotePath) -> Option<NotePath> {
        back(self.rename_pairs(), path)
    }

    /// Whether the note that is at `path` before the set goes to the trash by itself.
    #[must_use]
    pub fn trashes_note(&self, path: &NotePath) -> bool {
        let is_trashing = |change: &Change| matches!(change.act, ChangeAction::Trash { .. });
        self.contents.at(path).any(|(_, change)| is_trashing(change))
    }

    /// The content of `path` for a reader when all this counts as done.
    #[must_use]
    pub fn planned_state(&self, path: &NotePath) -> PlannedState<'_> {
        let Some(before) = self.path_before(path) else { return PlannedState::Gone };
        let folder = self.contents.trashed_folder_around(&before);
        // The first change decides.
        let is_first = |number: usize| folder.is_none_or(|folder| number < folder);
        let state = self.contents.at(&before).find_map(|(number, change)| match &change.act {
            ChangeAction::Create { after, .. } | ChangeAction::Replace { after, .. } => {
                Some((number, PlannedState::Planned(after)))
            }
            ChangeAction::Trash { .. } => Some((number, PlannedState::Gone)),
            _ => None,
        });
        match state {
            Some((number, state)) if is_first(number) => state,
            _ if folder.is_some() => PlannedState::Gone,
            _ => PlannedState::OnDisk(before),
        }
    }

    /// Where what is on disk at `path` is to be found when all this counts as done; `None` when
    /// it is in the trash.
    #[must_use]
    pub fn disk_path(&self, path: &NotePath) -> Option<NotePath> {
        let is_trashed =
            self.trashes_note(path) || self.contents.trashed_folder_around(path).is_some();
        (!is_trashed).then(|| forward(self.rename_pairs(), path))
    }

    /// The same for many paths: the set is looked through once.
    #[must_use]
    pub fn disk_locations(&self) -> DiskLocations<'_> {
        let (mut files, mut folders) = (HashSet::new(), Vec::new());
        for change in self.contents.iter() {
            match &change.act {
                ChangeAction::Trash { .. } => {
                    files.insert(&change.path);
                }
                ChangeAction::TrashFolder { .. } => folders.push(&change.path),
                _ => {}
            }
        }
        DiskLocations { files, folders, renames: self.renames() }
    }

    /// Every note that this set makes or rewrites, under the path where a reader finds it, with
    /// its bytes.
    #[must_use]
    pub fn planned_notes(&self) -> Vec<(NotePath, &[u8])> {
        let renames = self.renames();
        let found = |change: &Change| renames.forward(&change.path);
        let written = |change| Change::after(change).map(|after| (found(change), after));
        self.contents.iter().filter_map(written).collect()
    }

    /// Adds a later plan that was made with this one in sight.
    ///
    /// A second change of a note keeps the first `before`; one that is back at its first bytes
    /// drops out, and so does a note that was made here and is trashed. Renames of one thing
    /// become one. Fails, with the set as it was, where a plan needs what a waiting one took away.
    pub fn extend(&mut self, later: Self) -> Result<(), ChangeSetConflict> {
        if later.len() == 1 {
            return later.into_changes().try_for_each(|change| self.add_change(change));
        }
        // Of several, some may fit before one does not.
        let mut grown = self.clone();
        later.into_changes().try_for_each(|change| grown.add_later(change))?;
        grown.remove_noops();
        *self = grown;
        Ok(())
    }

    /// Adds one later change, as [`ChangeSet::extend`] does. The other contents are neither copied nor looked through, so
    /// a large set can be made change by change.
    pub fn add_change(&mut self, later: Change) -> Result<(), ChangeSetConflict> {
        self.add_later(later)?;
        self.remove_noops();
        Ok(())
    }

    /// The subset whose changes `keep` accepts.
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&Change) -> bool) -> Self {
        self.changes().filter(|change| keep(change)).cloned().collect()
    }

    fn rename_pairs(&self) -> impl DoubleEndedIterator<Item = (&NotePath, &NotePath)> {
        self.renames.iter().filter_map(|change| Some((&change.path, change.target()?)))
    }

    fn into_changes(self) -> impl Iterator<Item = Change> {
        self.contents.into_changes().chain(self.renames)
    }

    fn remove_noops(&mut self) {
        self.contents.remove_noops();
        self.renames.retain(|change| !change.is_noop());
    }

    /// Adds a change; changes that come to nothing stay. Where it does not fit, the set stays as it was.
    fn add_later(&mut self, later: Change) -> Result<(), ChangeSetConflict> {
        if later.is_rename() { self.add_rename(later) } else { self.add_content(later) }
    }

    fn add_content(&mut self, later: Change) -> Result<(), ChangeSetConflict> {
        let refused = ChangeSetConflict { path: later.path.clone() };
        let Some(path) = self.path_before(&later.path) else { return Err(refused) };
        if self.contents.trashed_folder_around(&path).is_some() {
            return Err(refused);
        }
        let is_trashed =
            matches!(later.act, ChangeAction::Trash { .. } | ChangeAction::TrashFolder { .. });
        let earlier = self.contents.at(&path).next().map(|(number, _)| number);
        let fits = match earlier {
            Some(number) => self.contents.merge(number, later.act),
            None => {
                self.contents.push(Change { path: path.clone(), act: later.act });
                true
            }
        };
        if !fits {
            return Err(refused);
        }
        if is_trashed {
            self.drop_rename(&path);
        }
        Ok(())
    }

    /// An entry is trashed from its present place, with all its contents: no part of it is renamed
    /// before.
    fn drop_rename(&mut self, path: &NotePath) {
        let mut here = path.clone();
        let mut dropped = false;
        self.renames.retain(|change| {
            let Some(target) = change.target() else { return false };
            let is_of_it = here == change.path || (dropped && change.path.is_in(&here));
            if let Some(moved) = here.after_move(&change.path, target) {
                here = moved;
            }
            dropped |= is_of_it;
            !is_of_it
        });
    }

    fn add_rename(&mut self, later: Change) -> Result<(), ChangeSetConflict> {
        let refused = ChangeSetConflict { path: later.path.clone() };
        let ChangeAction::Rename { to, what } = later.act else { return Err(refused) };
        let Some(before) = self.path_before(&later.path) else { return Err(refused) };
        // A created note needs no rename: it is created at the new path. A folder does: it may be there already, or hold
        // something by then.
        let first = self.contents.at(&before).next();
        if let Some((made, Change { act: ChangeAction::Create { .. }, .. })) = first {
            let Some(place) = self.path_before(&to) else { return Err(refused) };
            self.contents.set_path(made, place);
            return Ok(());
        }
        let last = self.renames.last_mut();
        if let Some(Change { act: ChangeAction::Rename { to: first, .. }, .. }) = last
            && *first == later.path
        {
            *first = to;
            return Ok(());
        }
        self.renames.push(Change { path: later.path, act: ChangeAction::Rename { to, what } });
        Ok(())
    }
}

/// Takes the changes as they are: the contents first, then the renames, each in the given order.
impl FromIterator<Change> for ChangeSet {
    fn from_iter<I: IntoIterator<Item = Change>>(changes: I) -> Self {
        let mut set = Self::default();
        for change in changes {
            if change.is_rename() {
                set.renames.push(change);
            } else {
                set.contents.push(change);
            }
        }
        set
    }
}
