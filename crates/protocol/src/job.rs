//! Work that takes longer than a moment, for as long as it is under way.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Long work that shows its progress and that the user can stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// The accepted changes of a review are written into the notes.
    Applying,
    /// Changes are undone.
    Undoing,
    /// Changes are reapplied.
    Redoing,
    /// Conversations are written into a file.
    Exporting,
    /// Earlier versions of notes are deleted.
    DeletingHistory,
}

/// Work under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct JobProgress {
    /// Names it, for as long as the application runs.
    pub id: u32,
    /// Which work it is; several jobs of one kind may run.
    pub kind: JobKind,
    /// Steps that were taken: notes, conversations, or changes whose history is deleted.
    pub done: u32,
    /// Steps in all; `None` while that is not known.
    pub all: Option<u32>,
    /// Whether it was stopped: then it ends with the step that is under way.
    pub stopping: bool,
}
