//! Where a note's frontmatter is.

use std::ops::Range;

use super::line_ranges;

/// The lines between `---` on the first line and the next `---` or `...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frontmatter {
    /// The bytes of the YAML, without the lines around it.
    pub(super) yaml: Range<usize>,
    /// The 1-based number of the line that closes it.
    pub(super) last_line: usize,
}

/// What the first lines of a note are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Top {
    Frontmatter(Frontmatter),
    /// `---` on the first line, and no line closes it.
    Unclosed,
    Text,
}

impl Top {
    pub(super) fn of(text: &str) -> Self {
        let lines = line_ranges(text);
        let bare = |line: &Range<usize>| text.get(line.clone()).unwrap_or_default().trim_end();
        let Some(first) = lines.first().filter(|line| bare(line) == "---") else {
            return Self::Text;
        };
        let closing = |(_, line): &(usize, &Range<usize>)| matches!(bare(line), "---" | "...");
        match lines.iter().enumerate().skip(1).find(closing) {
            Some((at, line)) => {
                Self::Frontmatter(Frontmatter { yaml: first.end..line.start, last_line: at + 1 })
            }
            None => Self::Unclosed,
        }
    }
}

/// The 1-based number of the line that closes the frontmatter, if there is one.
pub(super) fn last_line(text: &str) -> Option<usize> {
    match Top::of(text) {
        Top::Frontmatter(matter) => Some(matter.last_line),
        Top::Unclosed | Top::Text => None,
    }
}
