//! Changes that belong together, and the view of a conversation while they are pending.

use std::collections::HashSet;

use thiserror::Error;

use super::{Change, ChangeAction, Renames};
use crate::NotePath;

/// Changes that belong together.
///
/// First those of contents and folders, at most one a path, each under the path it has before the
/// set; then the renames, in the order in which they were planned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeSet {
    contents: Vec<Change>,
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
    pub const fn len(&self) -> usize {
        self.contents.len() + self.renames.len()
    }

    /// Whether nothing is planned.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.contents.is_empty() && self.renames.is_empty()
    }

    /// Whether its changes are carried out all or not at all: a file or folder moves.
    #[must_use]
    pub const fn is_unit(&self) -> bool {
        !self.renames.is_empty()
    }

    /// Where files and folders go.
    #[must_use]
    pub fn renames(&self) -> Renames {
        let pair = |change: &Change| Some((change.path.clone(), change.target()?.clone()));
        self.renames.iter().filter_map(pair).collect()
    }

    /// The content of `path` for a reader when all this counts as done.
    #[must_use]
    pub fn planned_state(&self, path: &NotePath) -> PlannedState<'_> {
        let Some(before) = self.renames().back(path) else { return PlannedState::Gone };
        for change in &self.contents {
            match &change.act {
                ChangeAction::Create { after, .. } | ChangeAction::Replace { after, .. }
                    if change.path == before =>
                {
                    return PlannedState::Planned(after);
                }
                ChangeAction::Trash { .. } if change.path == before => return PlannedState::Gone,
                ChangeAction::TrashFolder { .. } if before.is_in(&change.path) => {
                    return PlannedState::Gone;
                }
                _ => {}
            }
        }
        PlannedState::OnDisk(before)
    }

    /// Where what is on disk at `path` is to be found when all this counts as done; `None` when
    /// it is in the trash.
    #[must_use]
    pub fn disk_path(&self, path: &NotePath) -> Option<NotePath> {
        self.disk_locations().locate(path)
    }

    /// The same for many paths: the set is looked through once.
    #[must_use]
    pub fn disk_locations(&self) -> DiskLocations<'_> {
        let (mut files, mut folders) = (HashSet::new(), Vec::new());
        for change in &self.contents {
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
        let mut grown = self.clone();
        for change in later.contents {
            grown.add_content(change)?;
        }
        for change in later.renames {
            grown.add_rename(change)?;
        }
        grown.contents.retain(|change| !change.is_noop());
        grown.renames.retain(|change| !change.is_noop());
        *self = grown;
        Ok(())
    }

    /// The subset whose changes `keep` accepts.
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&Change) -> bool) -> Self {
        self.changes().filter(|change| keep(change)).cloned().collect()
    }

    fn add_content(&mut self, later: Change) -> Result<(), ChangeSetConflict> {
        let refused = ChangeSetConflict { path: later.path.clone() };
        let Some(path) = self.renames().back(&later.path) else { return Err(refused) };
        if self.contents.iter().any(|change| {
            matches!(change.act, ChangeAction::TrashFolder { .. }) && path.is_in(&change.path)
        }) {
            return Err(refused);
        }
        if matches!(later.act, ChangeAction::Trash { .. } | ChangeAction::TrashFolder { .. }) {
            self.drop_rename(&path);
        }
        let found = self.contents.iter().position(|change| change.path == path);
        let Some(earlier) = found.and_then(|at| self.contents.get_mut(at)) else {
            self.contents.push(Change { path, act: later.act });
            return Ok(());
        };
        earlier.act = match (&mut earlier.act, later.act) {
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
                self.contents.retain(|change| change.path != path);
                return Ok(());
            }
            _ => return Err(refused),
        };
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
        let renames = self.renames();
        let Some(before) = renames.back(&later.path) else { return Err(refused) };
        // A created note needs no rename: it is created at the new path. A folder does: it may be there already, or hold
        // something by then.
        if let Some(made) = self.contents.iter_mut().find(|change| change.path == before)
            && matches!(made.act, ChangeAction::Create { .. })
        {
            let Some(place) = renames.back(&to) else { return Err(refused) };
            made.path = place;
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
            if change.is_rename() { &mut set.renames } else { &mut set.contents }.push(change);
        }
        set
    }
}
