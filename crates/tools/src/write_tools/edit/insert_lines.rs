//! New lines before or after a line.

use protocol::NotePath;

use super::{EditResult, frontmatter, insert_at, line_ranges, strip_last_break};
use crate::text::text_encoding::pluralize;

/// `line`, `action` and `text`.
#[derive(Debug)]
pub(crate) struct InsertLines<'a> {
    /// The line that was named, from 1.
    pub(super) line: usize,
    /// How many lines stay above the new ones.
    pub(super) after: usize,
    pub(super) text: &'a str,
}

impl InsertLines<'_> {
    pub(super) fn apply(&self, path: &NotePath, text: &str) -> Result<EditResult, String> {
        let lines = line_ranges(text);
        if self.line > lines.len().max(1) {
            return Err(no_such_line(path, "line", self.line, lines.len()));
        }
        if let Some(last) = frontmatter::last_line(text).filter(|last| self.after < *last) {
            return Err(inside_frontmatter(path, "line", self.line, last));
        }
        let at = match self.after.checked_sub(1) {
            Some(above) => lines.get(above).map_or(text.len(), |line| line.end),
            None => 0,
        };
        let added = pluralize(strip_last_break(self.text).split('\n').count(), "line");
        Ok(EditResult {
            text: insert_at(text, at, self.text),
            summary: format!("Added {added} to `{path}` (line {})", self.after + 1),
        })
    }
}

/// A line that the note does not have.
pub(super) fn no_such_line(path: &NotePath, field: &str, line: usize, total: usize) -> String {
    format!(
        "{field} {line} is beyond the end: `{path}` has {}.\nThe last line is {total}. To add to \
         the end use append_file.",
        pluralize(total, "line")
    )
}

/// A line that is YAML; usually it was counted without the frontmatter.
pub(super) fn inside_frontmatter(path: &NotePath, field: &str, line: usize, last: usize) -> String {
    format!(
        "{field} {line} is in the frontmatter of `{path}`, which is lines 1 to {last}.\nLines are \
         counted from the top of the note, frontmatter included: if you counted from below it, \
         line {line} is {}. To change a property use property, action and value.",
        line + last
    )
}
