//! Planned changes of notes. A changing tool returns a [`ChangeSet`] and writes nothing.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ContentHash, NotePath};

/// What happens at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Nothing is there; the note is made.
    Create,
    /// A note is there; its bytes are exchanged.
    Replace,
}

/// One planned change of one note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub path: NotePath,
    /// The bytes the plan was made on; `None` for a creation.
    pub before: Option<Vec<u8>>,
    /// The bytes that shall be there.
    pub after: Vec<u8>,
}

impl Change {
    /// Create or replace, as `before` says.
    #[must_use]
    pub const fn kind(&self) -> ChangeKind {
        if self.before.is_some() { ChangeKind::Replace } else { ChangeKind::Create }
    }

    /// The hash of the bytes that shall be there.
    #[must_use]
    pub fn after_hash(&self) -> ContentHash {
        ContentHash::of(&self.after)
    }
}

/// Changes that belong together, at most one per path, in the order they were planned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeSet {
    changes: Vec<Change>,
}

impl ChangeSet {
    /// A set of one.
    #[must_use]
    pub fn one(change: Change) -> Self {
        Self { changes: vec![change] }
    }

    /// The changes, in order.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The change planned at `path`, if any.
    #[must_use]
    pub fn at(&self, path: &NotePath) -> Option<&Change> {
        self.changes.iter().find(|change| change.path == *path)
    }

    /// Whether nothing is planned.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Adds a later plan: a second change of a path keeps the first `before`, and a path that is
    /// back at its first bytes drops out.
    pub fn extend(&mut self, later: Self) {
        for change in later.changes {
            match self.changes.iter_mut().find(|earlier| earlier.path == change.path) {
                Some(earlier) => earlier.after = change.after,
                None => self.changes.push(change),
            }
        }
        self.changes.retain(|change| change.before.as_deref() != Some(change.after.as_slice()));
    }

    /// The subset whose paths `keep` accepts.
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&NotePath) -> bool) -> Self {
        Self { changes: self.changes.iter().filter(|change| keep(&change.path)).cloned().collect() }
    }
}

impl FromIterator<Change> for ChangeSet {
    fn from_iter<I: IntoIterator<Item = Change>>(changes: I) -> Self {
        let mut set = Self::default();
        for change in changes {
            set.extend(Self::one(change));
        }
        set
    }
}

/// What the ledger knows about one change before the file is touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// Its id.
    pub effect: crate::EffectId,
    /// The change set it belongs to.
    pub change_set: crate::ChangeSetId,
    /// The turn that planned it.
    pub turn: crate::TurnId,
    /// The call that planned it last.
    pub call: crate::CallId,
    /// The name of the temporary file, in the note's folder.
    pub temp_name: String,
    /// What shall happen.
    pub change: Change,
}

/// How an intent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntentState {
    /// Not known yet: the file may hold the bytes before or after.
    Open,
    /// The file holds the bytes after.
    Done,
    /// The file was not what the plan was made on; it is untouched.
    Stale,
    /// Neither before nor after was found; it is untouched and the user is told.
    Parked,
    /// The disk refused; the file is untouched.
    Failed,
}
