//! List items with a box: `- [ ] Water the beans`.

use std::ops::Range;

use super::{BlockKind, MarkdownBlock};

/// A list item with a box, as byte ranges of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The list item, sub-items included.
    pub item: Range<usize>,
    /// The sign in the box: a blank while it is open. Plugins give other signs other meanings.
    pub mark: Range<usize>,
}

/// Items that begin with a box of one sign.
pub(super) fn find(text: &str, blocks: &[MarkdownBlock]) -> Vec<Task> {
    let items = blocks.iter().filter(|block| block.kind == BlockKind::Item);
    items.filter_map(|item| task(text, &item.span)).collect()
}

fn task(text: &str, item: &Range<usize>) -> Option<Task> {
    let whole = text.get(item.clone())?;
    let rest = whole.trim_start();
    let marker = match rest.as_bytes().first()? {
        b'-' | b'*' | b'+' => 1,
        _ => rest.find(['.', ')'])? + 1,
    };
    let words = rest.get(marker..)?.trim_start_matches([' ', '\t']);
    let inner = words.strip_prefix('[')?;
    let mark = inner.chars().next().filter(|mark| !matches!(mark, ']' | '[' | '\n'))?;
    let behind = inner.get(mark.len_utf8()..)?.strip_prefix(']')?;
    if !(behind.is_empty() || behind.starts_with([' ', '\t', '\n', '\r'])) {
        return None;
    }
    let at = item.start + whole.len() - inner.len();
    Some(Task { item: item.clone(), mark: at..at + mark.len_utf8() })
}
