//! The blocks of a note and the ids that some of them carry.

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
    for run in &walked.runs {
        let words = text.get(run.clone()).unwrap_or_default().trim_end();
        let Some((before, id)) = words.rsplit_once('^') else { continue };
        let is_id = !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !is_id || !(before.is_empty() || before.ends_with([' ', '\t', '\n'])) {
            continue;
        }
        let end = run.start + words.len();
        let own = walked.blocks.iter().rfind(|block| {
            block.span.start <= run.start && run.end <= block.span.end && is_named(block.kind)
        });
        let own = own.map_or_else(|| run.clone(), |block| block.span.clone());
        let block = if before.is_empty() { above(walked, &own) } else { own };
        found.push(BlockId { id: end - id.len()..end, block });
    }
    found
}

const fn is_named(kind: BlockKind) -> bool {
    matches!(kind, BlockKind::Paragraph | BlockKind::Item | BlockKind::Heading(_))
}

/// The block that ends before an id of its own line.
fn above(walked: &Walked, own: &Range<usize>) -> Range<usize> {
    let before = |block: &&Block| block.span.end <= own.start;
    let least = walked.blocks.iter().filter(before).map(|block| block.depth).min();
    let last = walked.blocks.iter().rfind(|block| before(block) && Some(block.depth) == least);
    last.map_or_else(|| own.clone(), |block| block.span.clone())
}
