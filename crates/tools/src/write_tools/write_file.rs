//! `write_file`: a whole note.

use std::sync::Arc;

use async_trait::async_trait;
use llm::tool_api::tool::{
    ChangePlan, ChangingTool, SourceLabels, ToolBrief, ToolContext, ToolEffect, ToolFailure,
};
use protocol::{Change, ChangeSet};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::{CurrentNote, NotesView, PathState};
use crate::notes::shown_lines::require_shown;
use crate::ports::conversation_archive::ConversationArchive;
use crate::text::text_encoding::pluralize;

/// Creates a note, with the folders it needs. An existing note is replaced only with
/// overwrite: true, and only after it was read. For smaller changes use edit_file or append_file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFileInput {
    /// The note's whole path from the top folder, such as `Projects/Garden.md`.
    path: String,
    /// The full content of the note, in Markdown.
    content: String,
    /// True to replace a note that exists.
    #[serde(default)]
    overwrite: bool,
    /// The hash that read_file showed, to fail if the note has changed since.
    expect_hash: Option<String>,
}

pub(crate) struct WriteFile {
    pub(crate) notes: NotesView,
    pub(crate) archive: Arc<dyn ConversationArchive>,
}

impl WriteFile {
    /// Refuses to replace a note while a line of it was not shown, also when its hash is known: other tools than
    /// `read_file` tell it, too.
    async fn require_note_shown(
        &self,
        note: &CurrentNote,
        context: &ToolContext,
    ) -> Result<(), ToolFailure> {
        let text = String::from_utf8_lossy(&note.bytes);
        let text = text.trim_start_matches('\u{feff}');
        let (archive, all) = (self.archive.as_ref(), 0..text.len());
        require_shown(archive, &note.path, text, all, context).await
    }
}

#[async_trait]
impl ChangingTool for WriteFile {
    const NAME: &'static str = "write_file";
    type Input = WriteFileInput;
    const BRIEF: Option<ToolBrief> = Some(ToolBrief {
        description: "Makes a new note.",
        required: &["path", "content"],
        optional: &[],
    });

    async fn plan(
        &self,
        input: WriteFileInput,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        let lines = pluralize(input.content.lines().count(), "line");
        match self.notes.path_state(&input.path, context).await? {
            PathState::Free(path) => {
                let kept = self.notes.updates_after_creation(&path, context).await?;
                let summary = format!("create `{path}` with {lines}");
                Ok(kept.plan_creation(path, input.content.into_bytes(), &summary, context))
            }
            PathState::Taken(note) => {
                self.notes.require_writable(&note).await?;
                require_overwrite(&note, &input, context).map_err(ToolFailure::labeled)?;
                self.require_note_shown(&note, context).await?;
                let before = String::from_utf8_lossy(&note.bytes).lines().count();
                let summary =
                    format!("replace all of `{}`: {lines} instead of {before}", note.path);
                let after = input.content.into_bytes();
                let change = Change::replace(note.path, note.bytes, after);
                Ok((
                    ToolEffect::Overwrite,
                    ChangePlan {
                        change_set: ChangeSet::one(change),
                        summary,
                        labels: SourceLabels::Complete,
                    },
                ))
            }
        }
    }
}

fn require_overwrite(
    note: &CurrentNote,
    input: &WriteFileInput,
    context: &ToolContext,
) -> Result<(), String> {
    let path = &note.path;
    if !input.overwrite {
        return Err(format!(
            "`{path}` already exists.\nChange a part of it with edit_file, add to it with \
             append_file, choose another name, or set overwrite to replace all of it."
        ));
    }
    let is_current = match (&input.expect_hash, context.seen.get(path)) {
        (Some(expected), _) => note.hash.matches(expected),
        (None, Some(seen)) => *seen == note.hash,
        (None, None) => {
            return Err(format!(
                "`{path}` was not read in this conversation.\nRead it first with read_file, so that \
                 nothing in it is lost unseen, then call again."
            ));
        }
    };
    if !is_current {
        return Err(format!(
            "`{path}` changed since it was read.\nRead it again with read_file, then call again \
             with a content that keeps what was added."
        ));
    }
    if note.bytes == input.content.as_bytes() {
        return Err(format!("No change needed: `{path}` already has this content."));
    }
    Ok(())
}
