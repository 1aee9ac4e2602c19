//! Work that takes longer than a moment, for as long as it is under way.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// What the user accepted of a review is written into the notes.
    Applying,
    /// Changes are taken back.
    Undoing,
    /// Changes are put in again.
    Redoing,
    /// Conversations are written into a file.
    Exporting,
    /// Earlier versions of notes are forgotten.
    Forgetting,
}

/// Work under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct JobProgress {
    /// Names it, for as long as the application runs.
    pub id: u32,
    /// What is being done.
    pub kind: JobKind,
    /// Steps that were taken: notes, conversations, or changes that are forgotten.
    pub done: u32,
    /// Steps in all; `None` while that is not known.
    pub all: Option<u32>,
    /// Whether it was stopped: then it ends with the step that is under way.
    pub stopping: bool,
}
