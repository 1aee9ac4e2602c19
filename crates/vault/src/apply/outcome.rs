//! How the steps of a change end, and by which file a step goes.

use std::os::fd::AsFd;

use protocol::{FileId, Intent, IntentState, NotePath};

use crate::VaultError;
use crate::filesystem::folder::{file_id_of, is_same_file};

/// Changes of one order that stand or fall together; without a unit, one alone.
pub(crate) type IntentGroup = Vec<Intent>;

/// The file in which a change left what it is about; `None` where nothing is left, or where nobody knows
/// for sure which file that is.
pub(crate) type FileAfter = Option<FileId>;

/// The outcome of each change of a group.
pub(crate) type Outcomes = Vec<(Intent, Result<FileAfter, StepError>)>;

/// Why a note was not changed, and how its intent ended.
#[derive(Debug)]
pub(crate) struct StepError {
    pub(crate) state: IntentState,
    pub(crate) why: VaultError,
}

impl StepError {
    pub(crate) fn stale(why: VaultError) -> Self {
        Self { state: IntentState::Stale, why }
    }

    pub(crate) fn failed(why: VaultError) -> Self {
        Self { state: IntentState::Failed, why }
    }

    pub(crate) fn parked_at(path: &NotePath) -> Self {
        Self { state: IntentState::Parked, why: VaultError::Parked { path: path.clone() } }
    }

    /// Another program was faster: the change was certainly not made, and what the program wrote stands.
    pub(crate) fn overtaken(path: &NotePath) -> Self {
        Self::failed(VaultError::Overtaken { path: path.clone() })
    }

    /// The same outcome for a recovery: the change may have been made long before, and the other program
    /// may have gone on from there.
    pub(crate) fn in_recovery(self) -> Self {
        match self.why {
            VaultError::Overtaken { path } => Self::parked_at(&path),
            why => Self { why, ..self },
        }
    }

    /// A missing or occupied path makes its plan stale; a refusal of the system is a failure.
    pub(crate) fn from_missing(why: VaultError) -> Self {
        match why {
            VaultError::NotFound { .. }
            | VaultError::Exists { .. }
            | VaultError::Stale { .. }
            | VaultError::BeingWritten { .. } => Self::stale(why),
            _ => Self::failed(why),
        }
    }

    /// If the path is missing or occupied during a revert, somebody else did it; if the system
    /// refuses now, the next recovery may succeed.
    pub(crate) fn from_rollback(path: &NotePath, why: VaultError) -> Self {
        match why {
            VaultError::Io { .. }
            | VaultError::NoSpace { .. }
            | VaultError::ReadOnly { .. }
            | VaultError::Protected { .. }
            | VaultError::Unkept { .. }
            | VaultError::BeingWritten { .. }
            | VaultError::Denied { .. } => Self::open(why),
            _ => Self::parked_at(path),
        }
    }

    /// Nobody knows: the next recovery looks again.
    pub(crate) fn open(why: VaultError) -> Self {
        Self { state: IntentState::Open, why }
    }
}

/// Refuses a file that is not the one that the change is about: another note may have its path by now,
/// and say the same.
pub(crate) fn check_base_file(intent: &Intent, file: &impl AsFd) -> Result<(), StepError> {
    if intent.is_exact && !is_base_file(intent, file_id_of(file).ok()) {
        return Err(StepError::stale(VaultError::Stale { path: intent.change.path.clone() }));
    }
    Ok(())
}

/// Whether a file is the one that the change is about.
pub(crate) fn is_base_file(intent: &Intent, file: Option<FileId>) -> bool {
    intent.base.zip(file).is_some_and(|(base, file)| is_same_file(base, file))
}

/// Whether a file is the one that was made ready for the change.
pub(crate) fn is_staged(intent: &Intent, file: Option<FileId>) -> bool {
    intent.staged.zip(file).is_some_and(|(staged, file)| is_same_file(staged, file))
}
