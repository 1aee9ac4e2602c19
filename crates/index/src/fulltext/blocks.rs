//! The paragraphs of a note, each under its heading, and the excerpt of one that is shown.

use std::ops::Range;

use crate::query::matcher::TermMark;

/// How much of a paragraph is shown, in characters.
const EXCERPT_CHARS: usize = 300;

/// How much of it stands before the first word that was found.
const LEAD_CHARS: usize = 80;

/// A paragraph, a heading or the properties at the top of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PassageBlock {
    /// The bytes, without the line end of its last line.
    pub(crate) span: Range<usize>,
    /// 1-based line of its first line.
    pub(crate) line: u32,
    /// The words of the heading it stands under (of itself, for a heading).
    pub(crate) heading: Option<Range<usize>>,
    /// Properties, heading or text.
    pub(crate) kind: PassageBlockKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassageBlockKind {
    /// The frontmatter at the top.
    Properties,
    /// A `#` line outside code.
    Heading,
    /// Lines up to an empty one.
    Text,
}

/// Text cut from a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// 1-based line of the text's first line.
    pub(crate) line: u32,
    /// UTF-16 offsets in `text`.
    pub(crate) marks: Vec<(u32, u32)>,
}

/// All blocks of a note, in order.
pub(crate) fn blocks(text: &str) -> Vec<PassageBlock> {
    let properties = ::markdown::Frontmatter::parse(text).map_or(0, |matter| matter.span.end);
    let mut reader = BlockReader::default();
    let mut start = 0;
    for (line, number) in text.split_inclusive('\n').zip(1_u32..) {
        let bare = line.trim_end();
        let span = start..start + bare.len();
        if start < properties {
            reader.add_block(PassageBlockKind::Properties, span, number);
        } else {
            reader.open &= start > properties || properties == 0;
            reader.add_line(bare, span, number);
        }
        start += line.len();
    }
    reader.blocks
}

/// Cuts at most 300 characters around the first of `marks`, which are those in it.
pub(crate) fn excerpt(text: &str, block: &PassageBlock, marks: &[TermMark]) -> Excerpt {
    let whole = text.get(block.span.clone()).unwrap_or_default();
    let first = marks.first().map_or(0, |mark| mark.start - block.span.start);
    let skipped = whole.get(..first).unwrap_or_default().chars().count().saturating_sub(LEAD_CHARS);
    let is_short = whole.chars().nth(EXCERPT_CHARS).is_none();
    let from = if is_short { 0 } else { byte_offset(whole, skipped) };
    let tail = whole.get(from..).unwrap_or_default();
    let shown = tail.get(..byte_offset(tail, EXCERPT_CHARS)).unwrap_or(tail);
    let offset = block.span.start + from;
    let utf16 = |byte: usize| {
        let units = shown.get(..byte)?.encode_utf16().count();
        u32::try_from(units).ok()
    };
    let mark = |mark: &TermMark| {
        let (start, end) = (mark.start.checked_sub(offset)?, mark.end.checked_sub(offset)?);
        (end <= shown.len()).then_some((utf16(start)?, utf16(end)?))
    };
    // Where a phrase begins with a word that is asked for too, the longer mark shows both.
    let mut apart: Vec<TermMark> = Vec::new();
    for mark in marks {
        match apart.last_mut() {
            Some(last) if mark.start < last.end => last.end = last.end.max(mark.end),
            _ => apart.push(*mark),
        }
    }
    let lines = whole.get(..from).unwrap_or_default().matches('\n').count();
    Excerpt {
        text: shown.to_owned(),
        line: block.line + u32::try_from(lines).unwrap_or_default(),
        marks: apart.iter().filter_map(mark).collect(),
    }
}

/// The block so far.
#[derive(Debug, Default)]
struct BlockReader {
    blocks: Vec<PassageBlock>,
    heading: Option<Range<usize>>,
    /// Whether the next line continues the last block.
    open: bool,
    in_code: bool,
}

impl BlockReader {
    fn add_line(&mut self, line: &str, span: Range<usize>, number: u32) {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        self.in_code ^= is_fence;
        if let Some(words) = (!self.in_code && !is_fence).then(|| heading_words(line)).flatten() {
            self.heading = Some(span.end - words.len()..span.end);
            self.open = false;
            self.add_block(PassageBlockKind::Heading, span, number);
            self.open = false;
        } else if line.is_empty() {
            self.open = false;
        } else {
            self.add_block(PassageBlockKind::Text, span, number);
        }
    }

    fn add_block(&mut self, kind: PassageBlockKind, span: Range<usize>, line: u32) {
        match self.blocks.last_mut() {
            Some(last) if self.open => last.span.end = span.end,
            _ => self.blocks.push(PassageBlock { span, line, heading: self.heading.clone(), kind }),
        }
        self.open = true;
    }
}

/// The words of a heading's line, which end where the line ends.
fn heading_words(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

/// Where the `n`-th character begins, or the end.
fn byte_offset(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(byte, _)| byte)
}

#[cfg(test)]
mod tests {
    use super::{PassageBlockKind, blocks};

    fn kinds(text: &str) -> Vec<PassageBlockKind> {
        blocks(text).into_iter().map(|block| block.kind).collect()
    }

    #[test]
    fn properties_are_told_from_text_whatever_ends_them() {
        for text in [
            "---\na: 1\n---\nText\n",
            "---\na: 1\n...\nText\n",
            "\u{feff}---\na: 1\n---\nText\n",
            "---\r\na: 1\r\n...\r\nText\r\n",
            "--- \na: 1\n---\t\nText\n",
            "---\n---\nText\n",
        ] {
            let expected = [PassageBlockKind::Properties, PassageBlockKind::Text];
            assert_eq!(kinds(text), expected, "{text:?}");
        }
        // The controls: nothing ends it, or it begins at another line.
        for text in ["---\na: 1\nText\n", "Text\n---\na: 1\n---\n"] {
            assert_eq!(kinds(text), [PassageBlockKind::Text], "{text:?}");
        }
    }
}
