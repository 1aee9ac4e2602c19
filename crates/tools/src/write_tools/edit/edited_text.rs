//! The result of an edit, and how lines are put into a text.

use std::ops::Range;

use markdown::{LineEnd, splice};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EditResult {
    /// The whole text, without the byte order mark.
    pub(crate) text: String,
    /// The edit, as an instruction: see [`ChangePlan::summary`].
    pub(crate) summary: String,
}

/// `text` with the lines of `new` added at `at`, the start of a line or the end of the text. A
/// missing final newline stays missing.
pub(super) fn insert_at(text: &str, at: usize, new: &str) -> String {
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

pub(super) fn strip_last_break(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// The byte range of each line, its line break included, which may be a bare `\r`.
pub(super) fn line_ranges(text: &str) -> Vec<Range<usize>> {
    markdown::lines(text).collect()
}
