//! A change in the ledger, and how it ended.

use super::Change;

/// A change as the ledger stores it before the file is touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The id of the effect that it becomes when it happens.
    pub effect: crate::EffectId,
    /// The change set it belongs to.
    pub change_set: crate::ChangeSetId,
    /// The turn that planned it.
    pub turn: crate::TurnId,
    /// The call that planned it last.
    pub call: crate::CallId,
    /// The changes of one order with the same unit happen all or not at all.
    pub unit: Option<crate::CallId>,
    /// The name of the temporary file, in the note's folder; for a deletion, the name in the trash.
    pub temp_name: String,
    /// The file that stands at the path of the change now.
    pub base: Option<crate::FileId>,
    /// The permissions and the owner of a note that goes to the trash; `None` where they cannot be read, and
    /// for other changes.
    pub access: Option<crate::FileAccess>,
    /// Whether it may be made on no other file than `base`, because the ledger told which note is meant.
    /// Else it may be made on what has the path, if that says the same. Not stored.
    pub is_exact: bool,
    /// The staged file, which is to get the note's name. `None` before staging, and for changes
    /// that make no file.
    pub staged: Option<crate::FileId>,
    /// The planned operation and its path.
    pub change: Change,
}

/// An intent, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledIntent {
    /// The id of the intent.
    pub effect: crate::EffectId,
    /// Whether it happened.
    pub state: IntentState,
    /// The file that the note is now, if it is where the intent left it.
    pub file: Option<crate::FileId>,
}

/// How an intent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntentState {
    /// Not known yet: the file may hold the bytes before or after.
    Open,
    /// It happened.
    Done,
    /// The file was not what the plan was made on; it is untouched.
    Stale,
    /// Nobody can tell whether it happened: neither before nor after was found. The file is untouched and the
    /// user is told.
    Parked,
    /// The disk refused, or another program was faster: it certainly did not happen.
    Failed,
}
