//! One walk over the parser's events: blocks, the runs of text in them, and the parts that are no
//! text.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use super::link::{Link, LinkForm};
use super::nesting::limit_nesting;
use super::{BlockKind, MarkdownBlock, destination};
use crate::frontmatter::{Frontmatter, byte_order_mark_len};

#[derive(Debug, Default)]
pub(super) struct WalkResult {
    pub(super) blocks: Vec<MarkdownBlock>,
    /// Text in lines, one run a paragraph, heading, cell or item without paragraphs; in order.
    pub(super) runs: Vec<Range<usize>>,
    /// Code, HTML and math, and the destinations of links: nothing of Obsidian's stands in these.
    pub(super) opaque: Vec<Range<usize>>,
    /// Markdown links and definitions that stay in the vault.
    pub(super) links: Vec<Link>,
}

const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_MATH);

/// Walks the Markdown of `text` behind `body`.
pub(super) fn walk(text: &str, body: usize) -> WalkResult {
    let markdown = limit_nesting(text.get(body..).unwrap_or_default());
    let parser = Parser::new_ext(&markdown, OPTIONS);
    let mut definitions: Vec<Range<usize>> = parser
        .reference_definitions()
        .iter()
        .map(|(_, definition)| body + definition.span.start..body + definition.span.end)
        .collect();
    definitions.sort_by_key(|span| span.start);
    let mut walker =
        EventWalker { text, walked: WalkResult::default(), depth: 0, run: None, open: Vec::new() };
    for (event, range) in parser.into_offset_iter() {
        walker.on_event(event, body + range.start..body + range.end);
    }
    walker.end_run();
    let mut walked = walker.walked;
    for span in definitions {
        let Some(target) = destination::definition_destination(text, &span) else { continue };
        walked.links.extend(link(text, LinkForm::Definition, span, target, None));
    }
    walked.opaque.sort_by_key(|range| range.start);
    walked
}

struct EventWalker<'a> {
    text: &'a str,
    walked: WalkResult,
    /// How many blocks are open.
    depth: usize,
    run: Option<Range<usize>>,
    /// Links that are open, the innermost last.
    open: Vec<OpenLink>,
}

struct OpenLink {
    is_embed: bool,
    is_inline: bool,
    /// Behind what was seen of its words.
    words: Range<usize>,
}

impl EventWalker<'_> {
    fn on_event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => match block(&tag) {
                Some(kind) => self.open_block(kind, range),
                None => self.open_inline(&tag, range),
            },
            Event::End(end) => match end {
                TagEnd::Link | TagEnd::Image => self.close_link(range),
                TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.text(&range),
                TagEnd::Superscript | TagEnd::Subscript | TagEnd::HtmlBlock => self.end_run(),
                _ => {
                    self.end_run();
                    self.depth = self.depth.saturating_sub(1);
                }
            },
            Event::Rule => {
                self.end_run();
                self.walked.blocks.push(MarkdownBlock {
                    kind: BlockKind::Rule,
                    span: range,
                    depth: self.depth,
                });
            }
            Event::Code(_)
            | Event::InlineHtml(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => {
                self.text(&range);
                self.walked.opaque.push(range);
            }
            Event::Html(_) => {}
            _ => self.text(&range),
        }
    }

    fn open_block(&mut self, kind: BlockKind, range: Range<usize>) {
        self.end_run();
        if matches!(kind, BlockKind::Code | BlockKind::Html) {
            self.walked.opaque.push(range.clone());
        }
        self.walked.blocks.push(MarkdownBlock { kind, span: range, depth: self.depth });
        self.depth += usize::from(kind != BlockKind::Html);
    }

    fn open_inline(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        let (is_embed, link_type) = match tag {
            Tag::Link { link_type, .. } => (false, link_type),
            Tag::Image { link_type, .. } => (true, link_type),
            _ => return,
        };
        self.text(&range);
        let words = range.start + 1 + usize::from(is_embed);
        let is_inline = *link_type == LinkType::Inline;
        self.open.push(OpenLink { is_embed, is_inline, words: words..words });
    }

    fn close_link(&mut self, range: Range<usize>) {
        let Some(open) = self.open.pop() else { return };
        self.text(&range);
        if !open.is_inline {
            return;
        }
        let Some(target) = destination::inline_destination(self.text, open.words.end, range.end)
        else {
            return;
        };
        self.walked.opaque.push(target.start..range.end);
        let alias = Some(open.words).filter(|words| !words.is_empty());
        if let Some(mut link) = link(self.text, LinkForm::Inline, range, target, alias) {
            link.is_embed = open.is_embed;
            self.walked.links.push(link);
        }
    }

    /// Adds to the current text, and to the text of the link around it.
    fn text(&mut self, range: &Range<usize>) {
        if self.walked.blocks.last().is_some_and(|block| {
            matches!(block.kind, BlockKind::Code | BlockKind::Html) && block.span.end >= range.end
        }) {
            return;
        }
        // The links around it hear of all their words when the innermost is closed.
        if let Some(open) = self.open.last_mut() {
            open.words.end = open.words.end.max(range.end);
        }
        let run = self.run.get_or_insert_with(|| range.clone());
        run.start = run.start.min(range.start);
        run.end = run.end.max(range.end);
    }

    fn end_run(&mut self) {
        self.walked.runs.extend(self.run.take());
    }
}

/// A link whose destination stays in the vault.
fn link(
    text: &str,
    form: LinkForm,
    span: Range<usize>,
    target: Range<usize>,
    alias: Option<Range<usize>>,
) -> Option<Link> {
    let raw = text.get(target.clone()).filter(|raw| destination::is_local(raw))?;
    let hash = target.start + raw.find('#').unwrap_or(raw.len());
    let (target, subpath) = (target.start..hash, hash..target.end);
    Some(Link { form, is_embed: false, span, target, subpath, alias })
}

fn block(tag: &Tag<'_>) -> Option<BlockKind> {
    Some(match tag {
        Tag::Paragraph => BlockKind::Paragraph,
        Tag::Heading { level, .. } => BlockKind::Heading(*level as usize),
        Tag::BlockQuote(_) => BlockKind::Quote,
        Tag::CodeBlock(_) => BlockKind::Code,
        Tag::HtmlBlock => BlockKind::Html,
        Tag::List(_) => BlockKind::List,
        Tag::Item => BlockKind::Item,
        Tag::FootnoteDefinition(_) => BlockKind::Footnote,
        Tag::Table(_) => BlockKind::Table,
        Tag::TableHead | Tag::TableRow => BlockKind::Row,
        Tag::TableCell => BlockKind::Cell,
        _ => return None,
    })
}

/// Where the Markdown begins: behind frontmatter or byte order mark.
pub(super) fn markdown_start(text: &str, frontmatter: Option<&Frontmatter>) -> usize {
    frontmatter.map_or_else(|| byte_order_mark_len(text), |matter| matter.span.end)
}

/// Whether one of `ranges`, which are in order and apart, holds the byte at `at`.
pub(super) fn covers(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= at);
    ranges.get(next).is_some_and(|range| range.start <= at)
}
