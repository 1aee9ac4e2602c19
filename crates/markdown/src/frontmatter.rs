//! Where a note's frontmatter is.

use std::ops::Range;

use crate::line_breaks::lines;

/// The lines between `---` on the first line and the next `---` or `...`. Blanks behind the signs
/// and a byte order mark before the first do not matter; a line ends in `\n`, `\r\n` or `\r`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontmatter {
    /// All of it, from the first fence to behind the line end of the last.
    pub span: Range<usize>,
    /// The YAML, without the lines around it.
    pub yaml: Range<usize>,
}

/// The kind of a note's first lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteStart {
    /// Properties.
    Frontmatter(Frontmatter),
    /// `---` on the first line, and no line closes it: the lines are text.
    Unclosed,
    /// Neither.
    Text,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl NoteStart {
    /// Of a note's whole text.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let Some(fence) = opening_fence(text) else { return Self::Text };
        match closing_fences(text, fence.end).next() {
            Some(close) => Self::Frontmatter(Frontmatter {
                span: fence.start..close.end,
                yaml: fence.end..close.start,
            }),
            None => Self::Unclosed,
        }
    }
}

impl Frontmatter {
    /// `None` when the first line opens none or no line closes it: then the lines are text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match NoteStart::parse(text) {
            NoteStart::Frontmatter(matter) => Some(matter),
            NoteStart::Unclosed | NoteStart::Text => None,
        }
    }

    /// How many lines it takes, counted as editors and tools count them: by `\n`.
    #[must_use]
    pub fn line_count(&self, text: &str) -> usize {
        text.get(..self.span.end).unwrap_or_default().split_inclusive('\n').count()
    }
}

/// Where the text of a note begins: behind its frontmatter, or else behind a byte order mark.
#[must_use]
pub fn body_start(text: &str) -> usize {
    Frontmatter::parse(text).map_or_else(|| byte_order_mark_len(text), |matter| matter.span.end)
}

/// How many bytes a byte order mark takes at the start of `text`; 0 where there is none.
pub(crate) fn byte_order_mark_len(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
}

/// The YAML of frontmatter that ends at another line than [`NoteStart::parse`] says, for programs that take
/// only `---` without anything behind it for the end.
pub(crate) fn yaml_to_later_fences(text: &str) -> impl Iterator<Item = &str> {
    let fence = opening_fence(text);
    let close = move |is_end: fn(&str) -> bool| {
        let fence = fence.clone()?;
        let mut ends = closing_fences(text, fence.end);
        let first = ends.next()?;
        let found = ends.find(|line| is_end(text.get(line.clone()).unwrap_or_default()))?;
        let is_later = !is_end(text.get(first).unwrap_or_default());
        is_later.then(|| text.get(fence.end..found.start).unwrap_or_default())
    };
    let exact = |line: &str| line.trim_end_matches(['\n', '\r']) == "---";
    let blank = |line: &str| line.trim_end_matches(['\n', '\r', ' ', '\t']) == "---";
    [close(exact), close(blank)].into_iter().flatten()
}

/// The first line, if it opens frontmatter, without the byte order mark.
fn opening_fence(text: &str) -> Option<Range<usize>> {
    let first = lines(text).next()?;
    let line = text.get(first.clone())?;
    let bare = line.trim_start_matches(BYTE_ORDER_MARK);
    (bare.trim_end() == "---").then(|| first.end - bare.len()..first.end)
}

fn closing_fences(text: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let rest = text.get(from..).unwrap_or_default();
    let all = lines(rest).map(move |line| from + line.start..from + line.end);
    all.filter(|line| {
        let line = text.get(line.clone()).unwrap_or_default();
        line.starts_with(['-', '.']) && matches!(line.trim_end(), "---" | "...")
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails where it cannot go on")]
mod tests {
    use serde::Deserialize;

    use super::*;

    const TABLE: &str = include_str!("frontmatter/cases.json");

    #[derive(Deserialize)]
    struct FrontmatterCase {
        name: String,
        text: String,
        /// `null` where the note has no frontmatter.
        yaml: Option<String>,
        body: String,
    }

    #[test]
    fn frontmatter_is_where_the_table_says() {
        let cases: Vec<FrontmatterCase> = serde_json::from_str(TABLE).expect("a table");
        for FrontmatterCase { name, text, yaml, body } in cases {
            let matter = Frontmatter::parse(&text);
            let found = matter.as_ref().map(|matter| text.get(matter.yaml.clone()).unwrap());
            assert_eq!(found, yaml.as_deref(), "{name}");
            assert_eq!(text.get(body_start(&text)..).unwrap(), body, "{name}");
        }
    }
}
