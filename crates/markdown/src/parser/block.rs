//! The blocks of a note and the ids that some of them carry.

use std::cell::LazyCell;
use std::ops::Range;

use super::walk::WalkResult;

/// One block; a block that holds others comes before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkdownBlock {
    /// Paragraph, heading, list or another element of Markdown.
    pub kind: BlockKind,
    /// Its bytes, as the parser gives them: most kinds include their last line end.
    pub span: Range<usize>,
    /// How many blocks it stands in.
    pub depth: usize,
}

/// The blocks of Markdown that the parser tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Lines of text.
    Paragraph,
    /// With its level, 1 to 6.
    Heading(usize),
    /// Lines behind `>`.
    Quote,
    /// Fenced or indented.
    Code,
    /// Raw HTML.
    Html,
    /// All items of one list.
    List,
    /// One item of a list, with the blocks in it.
    Item,
    /// `[^1]: …`
    Footnote,
    /// A whole table.
    Table,
    /// One row of a table, the first one included.
    Row,
    /// One cell of a row.
    Cell,
    /// `---` between paragraphs.
    Rule,
}

/// A mark such as `^plan` that makes a block addressable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockId {
    /// The id without its sign.
    pub id: Range<usize>,
    /// The block that it names: the paragraph or list item it ends, or the block before it when
    /// it stands alone.
    pub block: Range<usize>,
}

/// Finds ids at the end of paragraphs and items. Of two equal ids both are listed.
pub(super) fn block_ids(text: &str, walk: &WalkResult) -> Vec<BlockId> {
    let mut found = Vec::new();
    let mut named = NameableBlocks::from_blocks(&walk.blocks);
    let ended = LazyCell::new(|| EndedBlocks::from_blocks(&walk.blocks));
    for run in &walk.runs {
        let words = text.get(run.clone()).unwrap_or_default().trim_end();
        let Some((before, id)) = words.rsplit_once('^') else { continue };
        let is_id = !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !is_id || !(before.is_empty() || before.ends_with([' ', '\t', '\n'])) {
            continue;
        }
        let end = run.start + words.len();
        let own =
            named.innermost_around(run).map_or_else(|| run.clone(), |block| block.span.clone());
        let block = if before.is_empty() { ended.block_before(own) } else { own };
        found.push(BlockId { id: end - id.len()..end, block });
    }
    found
}

const fn can_have_id(kind: BlockKind) -> bool {
    matches!(kind, BlockKind::Paragraph | BlockKind::Item | BlockKind::Heading(_))
}

/// The blocks that an id may name, for runs of text from top to bottom.
struct NameableBlocks<'a> {
    rest: std::slice::Iter<'a, MarkdownBlock>,
    /// Those that have begun and, as far as is known, not ended; the innermost last.
    open: Vec<&'a MarkdownBlock>,
}

impl<'a> NameableBlocks<'a> {
    fn from_blocks(blocks: &'a [MarkdownBlock]) -> Self {
        Self { rest: blocks.iter(), open: Vec::new() }
    }

    /// The innermost block that holds all of `run`, which begins behind every run before it.
    fn innermost_around(&mut self, run: &Range<usize>) -> Option<&'a MarkdownBlock> {
        while let Some(block) = self.rest.as_slice().first() {
            if block.span.start > run.start {
                break;
            }
            self.rest.next();
            self.open.extend(Some(block).filter(|block| can_have_id(block.kind)));
        }
        while self.open.last().is_some_and(|block| block.span.end < run.end) {
            self.open.pop();
        }
        self.open.last().copied()
    }
}

/// For each place where a block ends, in order, the last of the outermost blocks that have ended.
struct EndedBlocks<'a>(Vec<(usize, &'a MarkdownBlock)>);

impl<'a> EndedBlocks<'a> {
    fn from_blocks(blocks: &'a [MarkdownBlock]) -> Self {
        let mut ended: Vec<(usize, &MarkdownBlock)> =
            blocks.iter().map(|block| (block.span.end, block)).collect();
        ended.sort_by_key(|(end, _)| *end);
        let mut outermost: Option<&MarkdownBlock> = None;
        for (_, block) in &mut ended {
            outermost = outermost.filter(|known| known.depth < block.depth).or(Some(*block));
            *block = outermost.unwrap_or(*block);
        }
        Self(ended)
    }

    /// The block before an id that stands alone in `own`.
    fn block_before(&self, own: Range<usize>) -> Range<usize> {
        let before = self.0.partition_point(|(end, _)| *end <= own.start);
        let last = before.checked_sub(1).and_then(|last| self.0.get(last));
        last.map_or(own, |(_, block)| block.span.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::parser::walk::walk;

    /// The same result without any use of the order.
    fn by_looking_at_all(
        walk: &WalkResult,
        run: &Range<usize>,
    ) -> (Option<MarkdownBlock>, Range<usize>) {
        let own = walk.blocks.iter().rfind(|block| {
            block.span.start <= run.start && run.end <= block.span.end && can_have_id(block.kind)
        });
        let at = own.map_or_else(|| run.clone(), |block| block.span.clone());
        let before = |block: &&MarkdownBlock| block.span.end <= at.start;
        let least = walk.blocks.iter().filter(before).map(|block| block.depth).min();
        let last = walk.blocks.iter().rfind(|block| before(block) && Some(block.depth) == least);
        (own.cloned(), last.map_or_else(|| at.clone(), |block| block.span.clone()))
    }

    proptest! {
        #[test]
        fn an_id_names_the_block_that_a_look_at_all_blocks_finds(
            text in "([->#1.|a^\\[\\]:] {0,2}|\n|\n  |\n\n|\n> |\n- |\n    |---\n|a\\^b){0,40}",
        ) {
            let walked = walk(&text, 0);
            let (mut named, ended) = (NameableBlocks::from_blocks(&walked.blocks), EndedBlocks::from_blocks(&walked.blocks));
            for run in &walked.runs {
                let own = named.innermost_around(run);
                let at = own.map_or_else(|| run.clone(), |block| block.span.clone());
                prop_assert_eq!((own.cloned(), ended.block_before(at)), by_looking_at_all(&walked, run));
            }
        }
    }
}
