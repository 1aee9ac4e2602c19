//! The kinds of edit that `edit_file` knows, one file each, and how a call says which it means.

mod arguments;
mod delete_lines;
mod frontmatter;
mod insert_lines;
mod property;
mod replace_text;
mod section;
mod yaml;

#[cfg(test)]
mod tests;

use std::ops::Range;

use llm::tool_api::tool::ToolContext;
use protocol::NotePath;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notes::notes_view::CurrentNote;
use crate::text::text_encoding::LineEnd;

/// What to do at a line, with a section or with a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    Before,
    After,
    Replace,
    Append,
    Prepend,
    Set,
    Remove,
}

/// One edit, its fields checked against each other; read from a call by `NoteEdit::of`.
#[derive(Debug)]
pub(crate) enum NoteEdit<'a> {
    Text(replace_text::TextReplacement<'a>),
    InsertLines(insert_lines::InsertLines<'a>),
    DeleteLines(delete_lines::DeleteLines),
    Section(section::SectionEdit<'a>),
    Property(property::PropertyEdit<'a>),
}

/// What an edit comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EditResult {
    /// The whole text, without the byte order mark.
    pub(crate) text: String,
    /// What was done, in the past tense.
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
            // Their place was taken from a reading: without one it means nothing.
            Self::InsertLines(edit) => {
                freshness.require(path).and_then(|()| edit.apply(path, text))
            }
            Self::DeleteLines(edit) => {
                freshness.require(path).and_then(|()| edit.apply(path, text))
            }
            Self::Section(edit) => freshness.require(path).and_then(|()| edit.apply(path, text)),
        }
    }
}

/// What the conversation knows of the note that it edits.
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
                "`{path}` was not read yet, so its lines and sections are not known.\nRead it \
                 first with read_file, then call again."
            )),
            Self::Outdated => Err(format!(
                "`{path}` changed since it was read, so its lines and sections may be others \
                 now.\nRead it again with read_file, then call again with the new hash, or without \
                 expect_hash."
            )),
        }
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
    if before.is_empty() || before.ends_with('\n') {
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

/// The byte range of each line, its line break included.
fn line_ranges(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let next = |line: &str| {
        let range = at..at + line.len();
        at = range.end;
        range
    };
    text.split_inclusive('\n').map(next).collect()
}
