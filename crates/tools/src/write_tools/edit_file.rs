//! `edit_file`: one edit of a part of a note; everything else in it keeps its bytes.

use async_trait::async_trait;
use llm::tool_api::tool::{
    ChangePlan, ChangingTool, SourceLabels, ToolBrief, ToolContext, ToolEffect, ToolFailure,
};
use protocol::{Change, ChangeSet};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::notes::notes_view::{CurrentNote, NotesView};
use crate::text::text_encoding::decode;
use crate::write_tools::edit::{Action, Freshness, NoteEdit};

/// Changes one part of a note. Read the note first, then give `path` and exactly one of these:
/// - text: `old_text` and `new_text`. `old_text` must occur exactly once: copy it from the note
///   with enough of the lines around it, without line numbers. An empty `new_text` deletes it.
/// - new lines at a line: `line`, `action` (before or after) and `text`.
/// - lines to delete: `start_line` and `end_line`.
/// - text under a heading: `heading`, `action` (replace, append or prepend) and `text`.
/// - a property in the frontmatter: `property`, `action` (set, remove or append) and `value`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFileInput {
    /// The note: its path such as `Projects/Garden.md`, or just its name such as `Garden`.
    pub(crate) path: String,
    /// The text to replace, exactly as it stands in the note, line breaks included.
    pub(crate) old_text: Option<String>,
    /// The text to put in place of `old_text`.
    pub(crate) new_text: Option<String>,
    /// True to replace every occurrence of `old_text` instead of exactly one.
    #[serde(default)]
    pub(crate) replace_all: bool,
    /// The number of the line to add new lines before or after, as read_file prints it.
    pub(crate) line: Option<u32>,
    /// The number of the first line to delete.
    pub(crate) start_line: Option<u32>,
    /// The number of the last line to delete. Leave out to delete one line.
    pub(crate) end_line: Option<u32>,
    /// The heading whose text to change, such as `Tasks`; of headings that occur twice with those
    /// above, such as `Monday > Tasks`. Or a block id, such as `^a1b2`.
    pub(crate) heading: Option<String>,
    /// The name of the property to change, such as `tags`.
    pub(crate) property: Option<String>,
    /// What to do at the line, with the heading or with the property. To replace the text under a
    /// heading also replaces the headings below it.
    pub(crate) action: Option<Action>,
    /// The lines for `line` or `heading`, Markdown, without the heading itself.
    pub(crate) text: Option<String>,
    /// The value for `property`: a text, a number, true or false, or a list of them.
    #[serde(default)]
    #[schemars(schema_with = "value_schema")]
    pub(crate) value: Option<Value>,
    /// The hash that read_file showed, to be told when the note has changed since.
    pub(crate) expect_hash: Option<String>,
}

fn value_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["string", "number", "boolean", "array", "null"],
        "items": { "type": ["string", "number", "boolean"] }
    })
}

pub(crate) struct EditFile(pub(crate) NotesView);

#[async_trait]
impl ChangingTool for EditFile {
    const NAME: &'static str = "edit_file";
    type Input = EditFileInput;
    const BRIEF: Option<ToolBrief> = Some(ToolBrief {
        description: "Replaces text in a note. old_text: copied from the note, without line numbers, and found there once.",
        required: &["path", "old_text", "new_text"],
        optional: &[],
    });

    async fn plan(
        &self,
        input: EditFileInput,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        let edit = NoteEdit::from_input(&input).map_err(ToolFailure::labeled)?;
        let note = self.0.find_note(&input.path, context).await?;
        self.0.require_writable(&note).await?;
        let reading = Freshness::of_note(&note, input.expect_hash.as_deref(), context);
        if matches!(edit, NoteEdit::Section(_)) {
            // The heading is told as it stands in the note.
            context.sources.record_name(&note.path);
        }
        plan_edit(note, &edit, reading)
            .map(|plan| (ToolEffect::Edit, plan))
            .map_err(ToolFailure::labeled)
    }
}

fn plan_edit(
    note: CurrentNote,
    edit: &NoteEdit<'_>,
    freshness: Freshness,
) -> Result<ChangePlan, String> {
    let text = decode(&note.path, &note.bytes)?;
    let edited = edit.apply(&note.path, text, freshness)?;
    if edited.text == text {
        return Err(format!(
            "`{}` already says exactly this, so it would not change.\nGive what shall stand there \
             instead, or go on: nothing is to be done.",
            note.path
        ));
    }
    let mark = note.bytes.len() - text.len();
    let mut after = note.bytes.get(..mark).unwrap_or_default().to_vec();
    after.extend_from_slice(edited.text.as_bytes());
    let mut summary = edited.summary;
    if freshness == Freshness::Outdated {
        summary.push_str(
            "; the note had changed since it was read, and the edit was made on what is there now",
        );
    }
    let change = Change::replace(note.path, note.bytes, after);
    Ok(ChangePlan { change_set: ChangeSet::one(change), summary, labels: SourceLabels::Complete })
}
