//! How the turn gets notes changed: it hands over plans and is told the verdict.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use protocol::{CallId, ChangeSet, ContentHash, NotePath, OpenTurn, Source, ToolEvent};
use tokio_util::sync::CancellationToken;

use crate::tool_api::tool::{ChangePlan, ToolEffect};

/// What became of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeOutcome {
    /// Text for the model: applied, waiting for the user, or why not.
    pub output: String,
    /// Whether the plan was refused.
    pub is_error: bool,
    /// What the window is told.
    pub reactions: Vec<ToolEvent>,
    /// Contents the conversation now knows (the bytes it just wrote or planned).
    pub seen: Vec<(NotePath, ContentHash)>,
    /// What it tells of beside what the plan's words name: that it could be planned at all may answer a
    /// question about a note.
    pub sources: Vec<Source>,
}

/// What a conversation's tools see beside the files.
#[derive(Debug, Clone, Default)]
pub struct NoteOverlay {
    /// Changes that wait for a verdict.
    pub overlay: Arc<ChangeSet>,
    /// The content of each note as the conversation last read it.
    pub seen: Arc<BTreeMap<NotePath, ContentHash>>,
}

/// Decides about plans and applies them. Implemented by the application and by the tests.
#[async_trait]
pub trait ChangeApplier: Send + Sync {
    /// What the conversation's next call shall see.
    async fn note_overlay(&self, turn: &OpenTurn) -> NoteOverlay;

    /// Judges a plan; applies it or adds it to the changes that wait. What it returns is true
    /// and durable when it returns. Once `stop` is cancelled no further note is begun; what was not
    /// done then waits.
    async fn decide(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        effect: ToolEffect,
        plan: ChangePlan,
        stop: &CancellationToken,
    ) -> ChangeOutcome;
}
