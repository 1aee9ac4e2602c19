//! Where a note's frontmatter is.

use std::ops::Range;

use super::BYTE_ORDER_MARK;

/// The lines between `---` on the first line and the next `---` or `...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontmatter {
    /// All of it, from the first fence to behind the line end of the last.
    pub span: Range<usize>,
    /// The YAML, without the lines around it.
    pub yaml: Range<usize>,
}

impl Frontmatter {
    /// `None` when the first line opens none or no line closes it: then the lines are text.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut at = 0;
        let mut yaml = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let start = at;
            at += line.len();
            let bare = line.trim_end();
            if number == 0 {
                if bare.trim_start_matches(BYTE_ORDER_MARK) != "---" {
                    return None;
                }
                yaml = at;
            } else if matches!(bare, "---" | "...") {
                let first = text.find('-').unwrap_or_default();
                return Some(Self { span: first..at, yaml: yaml..start });
            }
        }
        None
    }
}
