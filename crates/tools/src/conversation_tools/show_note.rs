//! `show_note`: puts a note in front of the user.

use async_trait::async_trait;
use llm::tool_api::tool::{Tool, ToolContext, ToolEffect, ToolFailure, ToolOutcome};
use protocol::ToolEvent;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::NotesView;
use crate::text::heading_ref;
use crate::text::text_encoding::decode;

/// Shows a note to the user, beside the chat. Use it when the user wants to see or open a note; to
/// read one yourself use read_file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShowNoteInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`.
    path: String,
    /// The heading to bring into view. Leave out for the top of the note.
    heading: Option<String>,
}

pub(crate) struct ShowNote(pub(crate) NotesView);

#[async_trait]
impl Tool for ShowNote {
    const NAME: &'static str = "show_note";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = ShowNoteInput;

    async fn run(&self, input: ShowNoteInput, context: &ToolContext) -> ToolOutcome {
        self.open(&input, context).await.unwrap_or_else(ToolOutcome::from)
    }
}

impl ShowNote {
    async fn open(
        &self,
        input: &ShowNoteInput,
        context: &ToolContext,
    ) -> Result<ToolOutcome, ToolFailure> {
        let note = self.0.find_note(&input.path, context).await?;
        let line = match &input.heading {
            None => None,
            Some(asked) => {
                let text = decode(&note.path, &note.bytes).map_err(ToolFailure::labeled)?;
                let heading = heading_ref::resolve_heading(&note.path, text, asked);
                Some(heading.map_err(ToolFailure::labeled)?.line)
            }
        };
        let at = line.map(|line| format!(" at line {line}")).unwrap_or_default();
        Ok(ToolOutcome {
            output: format!("Shown to the user{at}: `{}`", note.path),
            reactions: vec![ToolEvent::OpenNote {
                path: note.path,
                line: line.and_then(|line| u32::try_from(line).ok()),
            }],
            ..ToolOutcome::default()
        }
        .labeled())
    }
}

/// Reads a result back: the path of the note that is shown.
pub(crate) fn parse_result(output: &str) -> Option<&str> {
    output.strip_prefix("Shown to the user")?.split_once(": `")?.1.strip_suffix('`')
}
