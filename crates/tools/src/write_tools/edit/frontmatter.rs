//! The lines of a note's frontmatter.

use markdown::Frontmatter;

/// The 1-based number of the line that closes the frontmatter, if there is one.
pub(super) fn last_line(text: &str) -> Option<usize> {
    Frontmatter::parse(text).map(|matter| matter.line_count(text))
}
