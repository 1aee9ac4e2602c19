//! The text under a heading, or the block with an id.

use std::ops::Range;

use markdown::parser::{BlockKind, Document, Heading, MarkdownBlock, headings};
use markdown::{LineEnd, line_end, line_start, splice};
use protocol::NotePath;

use super::edited_text::{EditResult, insert_at, line_ranges, strip_last_break};
use super::line_prefix::{LinePrefix, is_list_item};
use crate::text::heading_ref;
use crate::text::text_encoding::{line_at, pluralize};

/// Block ids listed at most, or the lines of one.
const MAX_LISTED: usize = 50;

/// `heading`, `action` and `text`.
#[derive(Debug)]
pub(crate) struct SectionEdit<'a> {
    pub(crate) heading: &'a str,
    pub(crate) part: SectionPart,
    pub(crate) text: &'a str,
}

/// The place of the new text in a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionPart {
    /// In place of all its text, the sections below it included.
    Whole,
    /// Behind the text that stands directly under the heading.
    End,
    /// Before that text.
    Beginning,
}

impl SectionEdit<'_> {
    pub(super) fn apply(&self, path: &NotePath, text: &str) -> Result<EditResult, String> {
        if let Some(id) = self.heading.trim().strip_prefix('^') {
            return self.edit_block(path, text, id);
        }
        let heading = heading_ref::resolve_heading(path, text, self.heading)?;
        let body = SectionBody::under_heading(text, &heading);
        self.refuse_own_heading(&heading)?;
        let title = &heading.title;
        Ok(match self.part {
            SectionPart::Whole => EditResult {
                text: body.replaced(text, self.text),
                summary: format!(
                    "replace the text under “{title}” in `{path}` ({} instead of {})",
                    pluralize(self.text.lines().count(), "line"),
                    text.get(body.words.clone()).unwrap_or_default().lines().count()
                ),
            },
            SectionPart::End => EditResult {
                text: insert_at(text, heading.end, self.text),
                summary: format!("add {} under “{title}” in `{path}`", self.text_to_add()),
            },
            SectionPart::Beginning => EditResult {
                text: insert_at(text, body.beginning, self.text),
                summary: format!("add {} at the top of “{title}” in `{path}`", self.text_to_add()),
            },
        })
    }

    /// The bytes of `text` that go when all of the section or block is replaced; `None` where there is no such
    /// section.
    pub(crate) fn replaced_range(&self, path: &NotePath, text: &str) -> Option<Range<usize>> {
        if let Some(id) = self.heading.trim().strip_prefix('^') {
            return IdentifiedBlock::find(path, text, id).ok().map(|block| block.words);
        }
        let heading = heading_ref::resolve_heading(path, text, self.heading).ok()?;
        Some(SectionBody::under_heading(text, &heading).words)
    }

    fn text_to_add(&self) -> String {
        pluralize(strip_last_break(self.text).split('\n').count(), "line")
    }

    /// A model that repeats the heading means to keep it, and would double it.
    fn refuse_own_heading(&self, heading: &Heading) -> Result<(), String> {
        match headings(self.text).first() {
            Some(first)
                if first.line == 1
                    && first.level == heading.level
                    && first.title == heading.title =>
            {
                Err(format!(
                    "text begins with the heading “{}” itself, which stays in the note.\nLeave out \
                     the first line of text, and give only what stands below the heading.",
                    heading.title
                ))
            }
            _ => Ok(()),
        }
    }

    fn edit_block(&self, path: &NotePath, text: &str, id: &str) -> Result<EditResult, String> {
        let block = IdentifiedBlock::find(path, text, id)?;
        let at = line_at(text, block.words.start);
        let summary = |what: &str| format!("{what} the block ^{id} in `{path}` (line {at})");
        let (ends, lines) = (LineEnd::of(text), strip_last_break(self.text));
        Ok(match self.part {
            SectionPart::Whole => {
                let own = format!("^{id}");
                let new = lines.trim_end();
                let new = new.strip_suffix(own.as_str()).unwrap_or(new).trim_end();
                let new = ends.convert(&block.prefix.in_place(new));
                EditResult { text: splice(text, block.words, &new), summary: summary("replace") }
            }
            SectionPart::End => EditResult {
                text: insert_at(text, block.end, &(block.prefix.own_lines(lines) + "\n")),
                summary: summary(&format!("add {} after", self.text_to_add())),
            },
            SectionPart::Beginning => {
                let (start, new) = (block.words.start, block.prefix.before(lines));
                EditResult {
                    text: splice(text, start..start, &ends.convert(&new)),
                    summary: summary(&format!("add {} before", self.text_to_add())),
                }
            }
        })
    }
}

/// The text under a heading.
struct SectionBody {
    /// From the first line with words to behind the last, over the sections below it.
    words: Range<usize>,
    /// Where new text stands before all other, under the heading itself.
    beginning: usize,
}

impl SectionBody {
    fn under_heading(text: &str, heading: &Heading) -> Self {
        let all = headings(text);
        let next = |is_end: &dyn Fn(&Heading) -> bool| {
            let below = all.iter().filter(|other| other.start > heading.start);
            below.into_iter().find(|other| is_end(other)).map_or(text.len(), |other| other.start)
        };
        let own = trim_blank_lines(text, heading.body..next(&|_| true));
        let all = trim_blank_lines(text, heading.body..next(&|other| other.level <= heading.level));
        let beginning = if own.is_empty() { heading.body } else { own.start };
        Self { words: all, beginning }
    }

    fn replaced(&self, text: &str, new: &str) -> String {
        if strip_last_break(new).is_empty() {
            return splice(text, self.words.clone(), "");
        }
        if self.words.is_empty() {
            return insert_at(text, self.words.start, new);
        }
        let ends = LineEnd::of(text);
        let mut lines = ends.convert(strip_last_break(new));
        if text.get(self.words.clone()).is_some_and(|old| old.ends_with(['\n', '\r'])) {
            lines.push_str(ends.as_str());
        }
        splice(text, self.words.clone(), &lines)
    }
}

/// The part of `range` from its first line with words to behind its last; empty at the start of
/// `range` when no line has any.
fn trim_blank_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    let (first, last) = (part.len() - part.trim_start().len(), part.trim_end().len());
    if last == 0 {
        return range.start..range.start;
    }
    range.start + line_start(part, first)..range.start + line_end(part, last)
}

/// A block with an id: a list item, a paragraph, or what stands before a line of just `^id`.
struct IdentifiedBlock<'a> {
    /// From its beginning to before the id and the space ahead of it. Of an item in a list without the
    /// items below it.
    words: Range<usize>,
    /// The bytes of its first line before `words`.
    prefix: LinePrefix<'a>,
    /// Behind its last line; behind that of the items below it, too.
    end: usize,
}

impl<'a> IdentifiedBlock<'a> {
    fn find(path: &NotePath, text: &'a str, id: &str) -> Result<Self, String> {
        let lines = line_ranges(text);
        let at = line_of_id(path, text, &lines, id)?;
        let own = lines.get(at).cloned().unwrap_or_default();
        let before_id = text.get(..own.end).unwrap_or_default();
        let id_at = before_id.rfind('^').unwrap_or(own.start);
        let document = Document::parse(text);
        // Where a tab is wider than the indentation, an item of the parser begins before its own line.
        let start = match parsed_block(&document, &own, id) {
            Some(block) => skip(text, block.start, is_space),
            None => skip(text, start_by_lines(&document, &lines, at), is_before_words),
        };
        let start = start.min(id_at);
        let first = line_start(text, start);
        let is_around =
            |block: &&MarkdownBlock| block.kind == BlockKind::Item && block.span.contains(&id_at);
        let items: Vec<(usize, usize)> = document
            .blocks
            .iter()
            .filter(is_around)
            .map(|item| (skip(text, item.span.start, is_before_words), item.span.end))
            .collect();
        let own_item = items.iter().rfind(|(sign, _)| line_start(text, *sign) == first);
        let in_item = items.iter().any(|(sign, _)| *sign < first);
        let words_start = match own_item {
            Some((sign, _)) => *sign,
            None if in_item => start,
            None => first,
        };
        let prefix = LinePrefix::new(text.get(first..words_start).unwrap_or_default());
        let is_behind =
            |sign| if prefix.is_quoted() { is_before_words(sign) } else { is_space(sign) };
        let end = own_item.map_or(own.end, |(_, end)| {
            let whole = text.get(..*end).unwrap_or_default();
            line_end(text, whole.trim_end_matches(is_behind).len()).max(own.end)
        });
        let words = text.get(words_start..id_at).unwrap_or_default().trim_end();
        Ok(Self { words: words_start..words_start + words.len(), prefix, end })
    }
}

/// The offset of the first sign from `at` on that is not one of such.
fn skip(text: &str, at: usize, is_such: impl Fn(char) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    text.len() - rest.trim_start_matches(is_such).len()
}

const fn is_space(sign: char) -> bool {
    matches!(sign, ' ' | '\t' | '\n' | '\r')
}

/// Whether the sign may stand before the words of a block: of its indentation or a quote.
const fn is_before_words(sign: char) -> bool {
    sign == '>' || is_space(sign)
}

/// The index of the only line that ends in `id`.
fn line_of_id(
    path: &NotePath,
    text: &str,
    lines: &[Range<usize>],
    id: &str,
) -> Result<usize, String> {
    let line = |at: usize| lines.get(at).and_then(|line| text.get(line.clone()));
    // As read_file counts, to which a bare `\r` ends no line.
    let number = |at: usize| lines.get(at).map_or(1, |line| line_at(text, line.start));
    let ids: Vec<(usize, &str)> =
        (0..lines.len()).filter_map(|at| Some((at, id_of(line(at)?)?))).collect();
    let found: Vec<usize> =
        ids.iter().filter(|(_, found)| *found == id).map(|(at, _)| *at).collect();
    match found.as_slice() {
        [at] => Ok(*at),
        [] => Err(no_block(path, id, &ids, number)),
        several => {
            let listed = several.iter().take(MAX_LISTED);
            let lines: Vec<String> = listed.map(|at| number(*at).to_string()).collect();
            Err(format!(
                "`{path}` has the block id ^{id} several times, in lines {}.\nChange the \
                 one you mean with edit_file.",
                lines.join(", ")
            ))
        }
    }
}

/// The block that `id` at the end of the line `own` names, or the whole table that it stands in.
/// `None` where the parser sees no such id, or text between the block and the id.
fn parsed_block(document: &Document<'_>, own: &Range<usize>, id: &str) -> Option<Range<usize>> {
    let found = document
        .block_ids
        .iter()
        .find(|found| own.contains(&found.id.start) && document.slice(&found.id) == id)?;
    let at = found.id.start;
    let is_table =
        |block: &&MarkdownBlock| block.kind == BlockKind::Table && block.span.contains(&at);
    let table = document.blocks.iter().find(is_table).map(|block| &block.span);
    let block = table.unwrap_or(&found.block);
    // Empty when the block holds the id.
    let between = document.slice(&(block.end..at)).trim_end_matches('^');
    between.trim().is_empty().then(|| block.clone())
}

/// The start of the block whose id ends the line `at`, for an id that the parser does not see: below
/// a blank line, a heading or the frontmatter, or at the item of a list that the line belongs to.
fn start_by_lines(document: &Document<'_>, lines: &[Range<usize>], at: usize) -> usize {
    let line = |at: usize| lines.get(at).map(|line| document.slice(line));
    let own = line(at).unwrap_or_default();
    let alone = own.trim_start().starts_with('^');
    let is_blank =
        |at: usize| line(at).is_none_or(|line| line.trim_matches(is_before_words).is_empty());
    let mut first = at;
    if alone {
        first = (0..at).rev().find(|above| !is_blank(*above)).unwrap_or(at);
    }
    let is_start = |at: usize| {
        line(at).is_some_and(|line| is_list_item(line.trim_start_matches(is_before_words)))
    };
    let floor = block_start_limit(document, lines.get(at).map_or(0, |line| line.start));
    let is_own = |at: usize| lines.get(at).is_some_and(|line| line.start >= floor);
    while first > 0 && is_own(first - 1) && !is_blank(first - 1) && (alone || !is_start(first)) {
        first -= 1;
    }
    lines.get(first).map_or(0, |line| line.start)
}

/// Behind the last heading or frontmatter above `at`: no block reaches over it.
fn block_start_limit(document: &Document<'_>, at: usize) -> usize {
    let above = document.headings.iter().map(|heading| heading.body).rfind(|body| *body <= at);
    let matter = document.frontmatter.as_ref().map(|matter| matter.span.end);
    above.unwrap_or_default().max(matter.unwrap_or_default())
}

/// The block id at the end of a line.
fn id_of(line: &str) -> Option<&str> {
    let (before, id) = line.trim_end().rsplit_once('^')?;
    let is_id =
        !id.is_empty() && id.bytes().all(|sign| sign.is_ascii_alphanumeric() || sign == b'-');
    (is_id && (before.is_empty() || before.ends_with([' ', '\t']))).then_some(id)
}

fn no_block(
    path: &NotePath,
    id: &str,
    ids: &[(usize, &str)],
    number: impl Fn(usize) -> usize,
) -> String {
    let listed = ids.iter().take(MAX_LISTED);
    let there: Vec<String> =
        listed.map(|(at, id)| format!("line {}: ^{id}", number(*at))).collect();
    if there.is_empty() {
        return format!(
            "`{path}` has no block ids, so none is ^{id}.\nUse edit_file, or give the \
             heading above it."
        );
    }
    format!("`{path}` has no block ^{id}.\nIts block ids are:\n{}", there.join("\n"))
}
