//! The headings of a note, with the places where text under each of them goes.

use std::ops::Range;

use super::{BlockKind, MarkdownBlock, walk};
use crate::{body_start, count_line_breaks, line_end, line_start};

/// A heading outside of code, quotes, lists and frontmatter: `#` to `######`, underlined, or
/// `<h1>` to `<h6>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: usize,
    /// The text as written, without the signs.
    pub title: String,
    /// 1-based. Lines are counted as editors and tools count them: by `\n`.
    pub line: usize,
    /// Byte offset of its first line.
    pub start: usize,
    /// Byte offset behind the heading itself, its underline included.
    pub body: usize,
    /// Byte offset behind the last line with text that stands directly under it, before the next
    /// heading of any level: text put there belongs to this heading.
    pub end: usize,
}

impl Heading {
    /// As it would stand in the note with signs: `## Title`.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        format!("{} {}", "#".repeat(self.level), self.title)
    }
}

/// All headings of a text, in order.
#[must_use]
pub fn headings(text: &str) -> Vec<Heading> {
    find(text, &walk::walk(text, body_start(text)).blocks)
}

pub(super) fn find(text: &str, blocks: &[MarkdownBlock]) -> Vec<Heading> {
    let mut places = Vec::new();
    for block in blocks.iter().filter(|block| block.depth == 0) {
        match block.kind {
            BlockKind::Heading(level) => places.extend(markdown_heading(text, level, &block.span)),
            BlockKind::Html => places.extend(html_headings(text, &block.span)),
            _ => {}
        }
    }
    let mut line = HeadingLineCounter::default();
    let ends: Vec<usize> = places
        .iter()
        .skip(1)
        .map(|next| next.lines.start)
        .chain(std::iter::once(text.len()))
        .collect();
    let with_end = places.into_iter().zip(ends);
    with_end
        .map(|(place, next)| {
            let below = text.get(place.lines.end..next).unwrap_or_default();
            Heading {
                level: place.level,
                title: place.title,
                line: line.line_at(text, place.lines.start),
                start: place.lines.start,
                body: place.lines.end,
                end: place.lines.end + content_end(below),
            }
        })
        .collect()
}

/// A heading and its whole lines.
struct HeadingLines {
    level: usize,
    title: String,
    lines: Range<usize>,
}

/// Counts lines from one offset to the next.
#[derive(Default)]
struct HeadingLineCounter {
    at: usize,
    before: usize,
}

impl HeadingLineCounter {
    /// The 1-based line of `offset`, which is not before the last one asked for.
    fn line_at(&mut self, text: &str, offset: usize) -> usize {
        let passed = text.get(self.at..offset).unwrap_or_default();
        self.before += count_line_breaks(passed.as_bytes());
        self.at = offset;
        self.before + 1
    }
}

/// A heading with `#` signs or an underline.
fn markdown_heading(text: &str, level: usize, span: &Range<usize>) -> Option<HeadingLines> {
    let start = line_start(text, span.start);
    // The mark at the start of a file is no part of its first line.
    let start = if text.get(start..span.start)?.trim().is_empty() { start } else { span.start };
    let inner = text.get(span.clone())?.trim_end();
    let end = line_end(text, span.start + inner.len());
    let title = atx_title(inner).unwrap_or_else(|| {
        let lines = inner.split(['\n', '\r']).map(str::trim);
        let above: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let words = above.split_last().map_or(&[][..], |(_, words)| words);
        words.join(" ")
    });
    // GitHub reads a table of one column here.
    let is_row = !inner.starts_with('#') && inner.starts_with('|');
    if is_row {
        return None;
    }
    Some(HeadingLines { level, title, lines: start..end })
}

/// The title of a line with `#` signs.
fn atx_title(line: &str) -> Option<String> {
    let rest = line.strip_prefix('#')?.trim_start_matches('#');
    let title = rest.strip_prefix([' ', '\t']).or_else(|| rest.is_empty().then_some(""))?;
    let closed = title.trim_end_matches('#');
    let title = if closed.is_empty() || closed.ends_with([' ', '\t']) { closed } else { title };
    (!title.contains(['\n', '\r'])).then(|| title.trim().to_owned())
}

/// Lines such as `<h2 class="x">Title</h2>` in a block of HTML.
fn html_headings(text: &str, span: &Range<usize>) -> Vec<HeadingLines> {
    let mut at = span.start;
    let mut found = Vec::new();
    while at < span.end {
        let lines = at..line_end(text, at).min(span.end);
        at = lines.end;
        let line = text.get(lines.clone()).unwrap_or_default();
        if let Some((level, title)) = parse_html_heading(line.trim_end()) {
            found.push(HeadingLines { level, title, lines });
        }
    }
    found
}

/// The level and text of an HTML heading on one line, without tags inside.
fn parse_html_heading(bare: &str) -> Option<(usize, String)> {
    let lower = bare.trim_start().to_ascii_lowercase();
    let level = lower.strip_prefix("<h")?.chars().next()?.to_digit(10)?;
    let level = usize::try_from(level).ok().filter(|level| (1..=6).contains(level))?;
    let inner = bare.trim_start().get(3..)?;
    let opened = inner.starts_with(['>', ' ', '\t']);
    let close = inner.to_ascii_lowercase().find(&format!("</h{level}>"))?;
    let (_, words) = inner.get(..close)?.split_once('>')?;
    let mut title = String::new();
    let mut in_tag = false;
    for sign in words.chars() {
        match sign {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ if !in_tag => title.push(sign),
            _ => {}
        }
    }
    opened.then(|| (level, title.trim().to_owned()))
}

/// Behind the last line with words.
fn content_end(below: &str) -> usize {
    let words = below.trim_end().len();
    if words == 0 { 0 } else { line_end(below, words) }
}

#[cfg(test)]
mod tests;
