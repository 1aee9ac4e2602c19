//! A change set as it stands before the user.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::request::{DecideReview, NoteDecision, ReviewDecision};
use crate::{CallId, ChangeKind, ChangeSetId, ConversationId, NotePath, Source};

/// Pending changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// The change set that a decision names.
    pub id: ChangeSetId,
    /// The conversation it belongs to.
    pub conversation: ConversationId,
    /// The user's message that led to it.
    pub request: String,
    /// One diff a note, in the order they were planned.
    pub notes: Vec<NoteDiff>,
    /// The hub and the notes of which something was read before they were planned.
    pub sources: Vec<Source>,
}

impl Review {
    /// The decision on whole notes; those in neither list stay pending.
    #[must_use]
    pub fn decide_request(&self, accepted: &[NotePath], rejected: &[NotePath]) -> DecideReview {
        let decide = |note: &NoteDiff| {
            let outcome = if accepted.contains(&note.path) {
                ReviewDecision::Accept
            } else if rejected.contains(&note.path) {
                ReviewDecision::Reject
            } else {
                return None;
            };
            Some(NoteDecision {
                path: note.path.clone(),
                seen: note.seen.clone(),
                decision: outcome,
            })
        };
        let notes = self.notes.iter().filter_map(decide).collect();
        DecideReview { review: self.id.clone(), notes }
    }
}

/// One note of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NoteDiff {
    /// Its path before the changes; for a new note, the future one.
    pub path: NotePath,
    /// The operation that is planned.
    pub kind: ChangeKind,
    /// Where it goes, when it is renamed.
    pub to: Option<NotePath>,
    /// Rows with the same unit are accepted or rejected together: a move and the links to it.
    pub unit: Option<CallId>,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The single changes, each with up to three lines around it.
    pub hunks: Vec<NoteHunk>,
    /// Names exactly these changes, for the decision on them.
    pub seen: String,
    /// Whether it words rules for the assistant after more was read than the user's own words.
    pub rules: bool,
    /// Why it could not be applied when it was tried.
    pub problem: Option<String>,
}

/// One changed region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NoteHunk {
    /// The heading it stands under, if any.
    pub heading: Option<String>,
    /// Whether it begins among the properties at the top of the note.
    pub properties: bool,
    /// 1-based first line in the note as it was.
    pub old_start: u32,
    /// 1-based first line in the note as it shall be.
    pub new_start: u32,
    /// Context, removed and added lines, top to bottom.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk, without its line ending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffLine {
    /// Kept, added or removed.
    pub sign: DiffLineKind,
    /// The line in pieces; `marked` pieces are the words that differ.
    pub words: Vec<DiffSpan>,
}

/// A run of words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffSpan {
    /// A part of the line, whitespace included.
    pub text: String,
    /// Whether it differs from the line it replaces.
    pub marked: bool,
}

/// The change of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DiffLineKind {
    /// In both versions.
    Same,
    /// Only in the new version.
    Added,
    /// Only in the old version.
    Removed,
}
