//! The edits of a note: a text, a section or a property, and how one becomes a plan.

mod line_prefix;
pub(crate) mod property;
pub(crate) mod replace_text;
pub(crate) mod section;
mod yaml;

#[cfg(test)]
mod nested_lists;
#[cfg(test)]
mod replace_cost;
#[cfg(test)]
mod tests;

use std::ops::Range;

use llm::tool_api::tool::{ChangePlan, SourceLabels, ToolContext, ToolEffect, ToolFailure};
use protocol::{Change, ChangeSet, NotePath};
use serde_json::Value;

use crate::notes::notes_view::{CurrentNote, NotesView};
use crate::plan_outcome::BASED_ON_PRESENT_TEXT;
use crate::text::text_encoding::{LineEnd, decode};

#[derive(Debug)]
pub(crate) enum NoteEdit<'a> {
    Text(replace_text::TextReplacement<'a>),
    Section(section::SectionEdit<'a>),
    Property(property::PropertyEdit<'a>),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EditResult {
    /// The whole text, without the byte order mark.
    pub(crate) text: String,
    /// The edit, as an instruction: see [`ChangePlan::summary`].
    pub(crate) summary: String,
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
            Self::Property(edit) => edit.apply(path, text),
            // The section was taken from a reading: without one nobody knows what is in it.
            Self::Section(edit) => freshness.require(path).and_then(|()| edit.apply(path, text)),
        }
    }
}

/// Whether the conversation has read the note that it edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    Never,
    Current,
    /// The note was changed since.
    Outdated,
}

impl Freshness {
    pub(crate) fn of_note(
        note: &CurrentNote,
        expected: Option<&str>,
        context: &ToolContext,
    ) -> Self {
        let expected = expected.map(str::trim).filter(|hash| !hash.is_empty());
        let is_current = match (expected, context.seen.get(&note.path)) {
            (Some(expected), _) => note.hash.matches(expected),
            (None, Some(seen)) => *seen == note.hash,
            (None, None) => return Self::Never,
        };
        if is_current { Self::Current } else { Self::Outdated }
    }

    fn require(self, path: &NotePath) -> Result<(), String> {
        match self {
            Self::Current => Ok(()),
            Self::Never => Err(format!(
                "`{path}` was not read yet, so its sections are not known.\nRead it \
                 first with read_file, then call again."
            )),
            Self::Outdated => Err(format!(
                "`{path}` changed since it was read, so its sections may be others now.\nRead it again with read_file, then call again with the new hash, or without \
                 expect_hash."
            )),
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

/// `text` with `new` in place of `range`; all other bytes stay.
fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    let mut out = String::with_capacity(text.len() + new.len());
    out.push_str(text.get(..range.start).unwrap_or_default());
    out.push_str(new);
    out.push_str(text.get(range.end..).unwrap_or_default());
    out
}

/// `text` with the lines of `new` added at `at`, the start of a line or the end of the text. A
/// missing final newline stays missing.
fn insert_at(text: &str, at: usize, new: &str) -> String {
    let ends = LineEnd::of(text);
    let mut lines = ends.convert(strip_last_break(new));
    let before = text.get(..at).unwrap_or_default();
    if before.is_empty() || before.ends_with(['\n', '\r']) {
        lines.push_str(ends.as_str());
    } else {
        lines.insert_str(0, ends.as_str());
    }
    splice(text, at..at, &lines)
}

fn strip_last_break(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// The byte range of each line, its line break included, which may be a bare `\r`.
fn line_ranges(text: &str) -> Vec<Range<usize>> {
    markdown::lines(text).collect()
}
