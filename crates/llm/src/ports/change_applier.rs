//! How the turn gets notes changed: it hands over plans and receives the decision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use protocol::{CallId, ChangeSet, ContentHash, NotePath, OpenTurn, Source, ToolEvent};
use tokio_util::sync::CancellationToken;

use crate::tool_api::tool::{ChangePlan, ToolEffect};

/// The outcome of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeOutcome {
    /// Text for the model: applied, pending, or why not.
    pub output: String,
    /// Whether the plan was refused.
    pub is_error: bool,
    /// Events for the window.
    pub reactions: Vec<ToolEvent>,
    /// Contents the conversation now knows (the bytes it just wrote or planned).
    pub seen: Vec<(NotePath, ContentHash)>,
    /// The sources of the outcome beside those of the plan's text: that a plan was possible at all
    /// may answer a question about a note.
    pub sources: Vec<Source>,
}

/// The view of a conversation's tools on the notes, beside the files.
#[derive(Debug, Clone, Default)]
pub struct NoteOverlay {
    /// Pending changes.
    pub overlay: Arc<ChangeSet>,
    /// The paths of pending changes that the turn may not see.
    pub withheld: Arc<BTreeSet<NotePath>>,
    /// The content of each note as the conversation last read it.
    pub seen: Arc<BTreeMap<NotePath, ContentHash>>,
}

/// Decides about plans and applies them. Implemented by the application and by the tests.
#[async_trait]
pub trait ChangeApplier: Send + Sync {
    /// The overlay for the conversation's next `calls`.
    async fn note_overlay(&self, turn: &OpenTurn, calls: &[CallId]) -> NoteOverlay;

    /// Judges a plan; applies it or adds it to the pending changes. The result is true and durable
    /// when it returns. Once `stop` is cancelled no further note is begun, and the rest stays
    /// pending.
    async fn decide(
        &self,
        turn: &OpenTurn,
        call: &CallId,
        effect: ToolEffect,
        plan: ChangePlan,
        stop: &CancellationToken,
    ) -> ChangeOutcome;
}
