//! The edits of a note: a text, a section or a property, and how one becomes a plan.

mod edited_text;
pub(crate) mod freshness;
mod line_prefix;
mod property_messages;
pub(crate) mod replace_text;
pub(crate) mod section;

#[cfg(test)]
mod nested_lists;
#[cfg(test)]
mod replace_cost;
#[cfg(test)]
mod tests;

use llm::tool_api::tool::{ChangePlan, SourceLabels, ToolContext, ToolEffect, ToolFailure};
use markdown::PropertyEdit;
use protocol::{Change, ChangeSet, NotePath};
use serde_json::Value;

use edited_text::EditResult;
use freshness::Freshness;

use crate::notes::notes_view::{CurrentNote, NotesView};
use crate::plan_outcome::BASED_ON_PRESENT_TEXT;
use crate::text::text_encoding::decode;

#[derive(Debug)]
pub(crate) enum NoteEdit<'a> {
    Text(replace_text::TextReplacement<'a>),
    Section(section::SectionEdit<'a>),
    Property(PropertyEdit<'a>),
}

impl NoteEdit<'_> {
    /// Edits `text`, the text of the note at `path`; a failure is written for the model.
    pub(crate) fn apply(
        &self,
        path: &NotePath,
        text: &str,
        freshness: Freshness,
    ) -> Result<EditResult, String> {
        match self {
            Self::Text(edit) => edit.apply(path, text, freshness),
            Self::Property(edit) => property_messages::edit_property(edit, path, text),
            // The section was taken from a reading: without one nobody knows what is in it.
            Self::Section(edit) => freshness.require(path).and_then(|()| edit.apply(path, text)),
        }
    }
}

/// Plans `edit` on the note that `name` means, if it may be changed.
pub(crate) async fn plan_edit(
    notes: &NotesView,
    name: &str,
    edit: &NoteEdit<'_>,
    expected: Option<&str>,
    context: &ToolContext,
) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
    let note = notes.find_note(name, context).await?;
    notes.require_writable(&note).await?;
    let reading = Freshness::of_note(&note, expected, context);
    if matches!(edit, NoteEdit::Section(_)) {
        // The result names the heading as it is in the note.
        context.sources.record_name(&note.path);
    }
    changed_note(note, edit, reading)
        .map(|plan| (ToolEffect::Edit, plan))
        .map_err(ToolFailure::labeled)
}

fn changed_note(
    note: CurrentNote,
    edit: &NoteEdit<'_>,
    reading: Freshness,
) -> Result<ChangePlan, String> {
    let text = decode(&note.path, &note.bytes)?;
    let edited = edit.apply(&note.path, text, reading)?;
    if edited.text == text {
        return Err(format!(
            "No change needed: `{}` already has this content.\nSend different text, or continue \
             without this edit.",
            note.path
        ));
    }
    let mark = note.bytes.len() - text.len();
    let mut after = note.bytes.get(..mark).unwrap_or_default().to_vec();
    after.extend_from_slice(edited.text.as_bytes());
    let mut summary = edited.summary;
    if reading == Freshness::Outdated {
        summary.push_str("; the note changed after it was read, and ");
        summary.push_str(BASED_ON_PRESENT_TEXT);
    }
    let change = Change::replace(note.path, note.bytes, after);
    Ok(ChangePlan { change_set: ChangeSet::one(change), summary, labels: SourceLabels::Complete })
}

/// A value that a model gives where it means none.
pub(crate) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}
