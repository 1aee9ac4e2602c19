//! The blocks of a note and the ids that some of them carry.

use std::cell::LazyCell;
use std::ops::Range;

use super::walk::Walked;

/// One block; a block that holds others comes before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its bytes, as the parser gives them: most kinds include their last line end.
    pub span: Range<usize>,
    /// How many blocks it stands in.
    pub depth: usize,
}

/// What a block is.
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
    /// One item.
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
pub(super) fn ids(text: &str, walked: &Walked) -> Vec<BlockId> {
    let mut found = Vec::new();
    let mut named = Named::of(&walked.blocks);
    let ended = LazyCell::new(|| Ended::of(&walked.blocks));
    for run in &walked.runs {
        let words = text.get(run.clone()).unwrap_or_default().trim_end();
        let Some((before, id)) = words.rsplit_once('^') else { continue };
        let is_id = !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !is_id || !(before.is_empty() || before.ends_with([' ', '\t', '\n'])) {
            continue;
        }
        let end = run.start + words.len();
        let own = named.around(run).map_or_else(|| run.clone(), |block| block.span.clone());
        let block = if before.is_empty() { ended.above(own) } else { own };
        found.push(BlockId { id: end - id.len()..end, block });
    }
    found
}

const fn is_named(kind: BlockKind) -> bool {
    matches!(kind, BlockKind::Paragraph | BlockKind::Item | BlockKind::Heading(_))
}

/// The blocks that an id may name, for runs of text from top to bottom.
struct Named<'a> {
    rest: std::slice::Iter<'a, Block>,
    /// Those that have begun and, as far as is known, not ended; the innermost last.
    open: Vec<&'a Block>,
}

impl<'a> Named<'a> {
    fn of(blocks: &'a [Block]) -> Self {
        Self { rest: blocks.iter(), open: Vec::new() }
    }

    /// The innermost block that holds all of `run`, which begins behind every run before it.
    fn around(&mut self, run: &Range<usize>) -> Option<&'a Block> {
        while let Some(block) = self.rest.as_slice().first() {
            if block.span.start > run.start {
                break;
            }
            self.rest.next();
            self.open.extend(Some(block).filter(|block| is_named(block.kind)));
        }
        while self.open.last().is_some_and(|block| block.span.end < run.end) {
            self.open.pop();
        }
        self.open.last().copied()
    }
}

/// For each place where a block ends, in order, the last of the outermost blocks that have ended.
struct Ended<'a>(Vec<(usize, &'a Block)>);

impl<'a> Ended<'a> {
    fn of(blocks: &'a [Block]) -> Self {
        let mut ended: Vec<(usize, &Block)> =
            blocks.iter().map(|block| (block.span.end, block)).collect();
        ended.sort_by_key(|(end, _)| *end);
        let mut outermost: Option<&Block> = None;
        for (_, block) in &mut ended {
            outermost = outermost.filter(|known| known.depth < block.depth).or(Some(*block));
            *block = outermost.unwrap_or(*block);
        }
        Self(ended)
    }

    /// The block before an id that stands alone in `own`.
    fn above(&self, own: Range<usize>) -> Range<usize> {
        let before = self.0.partition_point(|(end, _)| *end <= own.start);
        let last = before.checked_sub(1).and_then(|last| self.0.get(last));
        last.map_or(own, |(_, block)| block.span.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::markdown::walk::walk;

    /// What is said above, without any order made use of.
    fn by_looking_at_all(walked: &Walked, run: &Range<usize>) -> (Option<Block>, Range<usize>) {
        let own = walked.blocks.iter().rfind(|block| {
            block.span.start <= run.start && run.end <= block.span.end && is_named(block.kind)
        });
        let at = own.map_or_else(|| run.clone(), |block| block.span.clone());
        let before = |block: &&Block| block.span.end <= at.start;
        let least = walked.blocks.iter().filter(before).map(|block| block.depth).min();
        let last = walked.blocks.iter().rfind(|block| before(block) && Some(block.depth) == least);
        (own.cloned(), last.map_or_else(|| at.clone(), |block| block.span.clone()))
    }

    proptest! {
        #[test]
        fn an_id_names_the_block_that_a_look_at_all_blocks_finds(
            text in "([->#1.|a^\\[\\]:] {0,2}|\n|\n  |\n\n|\n> |\n- |\n    |---\n|a\\^b){0,40}",
        ) {
            let walked = walk(&text, 0);
            let (mut named, ended) = (Named::of(&walked.blocks), Ended::of(&walked.blocks));
            for run in &walked.runs {
                let own = named.around(run);
                let at = own.map_or_else(|| run.clone(), |block| block.span.clone());
                prop_assert_eq!((own.cloned(), ended.above(at)), by_looking_at_all(&walked, run));
            }
        }
    }
}
