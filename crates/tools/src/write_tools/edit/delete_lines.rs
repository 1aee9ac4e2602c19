//! Lines taken out of a note.

use protocol::NotePath;

use super::insert_lines::{inside_frontmatter, no_such_line};
use super::{EditResult, frontmatter, line_ranges, splice};
use crate::text::text_encoding::pluralize;

/// `start_line` and `end_line`, both included.
#[derive(Debug)]
pub(crate) struct DeleteLines {
    pub(super) first: usize,
    pub(super) last: usize,
}

impl DeleteLines {
    pub(super) fn apply(&self, path: &NotePath, text: &str) -> Result<EditResult, String> {
        let lines = line_ranges(text);
        let Self { first, last } = *self;
        if first == 0 || last < first {
            return Err(format!(
                "start_line {first} to end_line {last} is no range: lines are counted from 1, and \
                 end_line is not before start_line.\n`{path}` has {}.",
                pluralize(lines.len(), "line")
            ));
        }
        let (Some(from), Some(to)) = (lines.get(first - 1), lines.get(last - 1)) else {
            let (field, line) =
                if first > lines.len() { ("start_line", first) } else { ("end_line", last) };
            return Err(no_such_line(path, field, line, lines.len()));
        };
        if let Some(matter) = frontmatter::last_line(text).filter(|matter| first <= *matter) {
            return Err(inside_frontmatter(path, "start_line", first, matter));
        }
        let which = if first == last {
            format!("line {first}")
        } else {
            format!("lines {first} to {last}")
        };
        Ok(EditResult {
            text: splice(text, from.start..to.end, ""),
            summary: format!("Deleted {which} of `{path}`"),
        })
    }
}
