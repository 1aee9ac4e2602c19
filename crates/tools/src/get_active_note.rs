//! `get_active_note`: which note the user looks at.

use std::sync::Arc;

use async_trait::async_trait;
use llm::tool::{Effect, Tool, ToolContext, ToolOutcome};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::{Desk, Source};
use crate::notes::Notes;

/// Says which note the user has open. Use it when the user speaks of "this note". Read the note
/// with read_file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetActiveNoteInput {}

pub(crate) struct GetActiveNote {
    pub(crate) notes: Notes,
    pub(crate) desk: Arc<dyn Desk>,
}

#[async_trait]
impl Tool for GetActiveNote {
    const NAME: &'static str = "get_active_note";
    const EFFECT: Effect = Effect::Read;
    type Input = GetActiveNoteInput;

    async fn run(&self, _: GetActiveNoteInput, context: &ToolContext) -> ToolOutcome {
        let Some(active) = self.desk.active_note() else {
            return ToolOutcome::ok(
                "No note is open. Ask the user which note is meant, or look for it with find_notes.",
            );
        };
        let source = match active.source {
            Source::Window => "open beside the chat",
            Source::CommandLine => "named on the command line",
        };
        match self.notes.named(active.path.as_str(), context).await {
            Ok(note) => {
                ToolOutcome::ok(format!("`{}` · {source} · hash {}", note.path, note.hash.short()))
            }
            Err(failure) => ToolOutcome::failed(format!(
                "`{}` is {source}, but it cannot be read now: {}",
                active.path, failure.0
            )),
        }
    }
}
