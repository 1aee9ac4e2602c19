//! Callouts: quotes whose first line is `[!kind] Title`.

use std::ops::Range;

use super::{BlockKind, MarkdownBlock};

/// A quote with a kind and a title, as byte ranges of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callout {
    /// The quote.
    pub span: Range<usize>,
    /// The kind after `[!`: `note`, `warning`, or any word.
    pub kind: Range<usize>,
    /// The text after it on its line; empty when the kind is the title.
    pub title: Range<usize>,
}

/// The quotes that are callouts.
pub(super) fn find(text: &str, blocks: &[MarkdownBlock]) -> Vec<Callout> {
    let quotes = blocks.iter().filter(|block| block.kind == BlockKind::Quote);
    quotes.filter_map(|quote| callout(text, &quote.span)).collect()
}

fn callout(text: &str, span: &Range<usize>) -> Option<Callout> {
    let quote = text.get(span.clone())?;
    let inner = quote.trim_start().strip_prefix('>')?.trim_start_matches([' ', '\t']);
    // Of thousands of quotes in each other only the innermost has to find where its line ends.
    if !inner.starts_with("[!") {
        return None;
    }
    let line = quote.lines().next()?;
    let inner = line.trim_start().strip_prefix('>')?.trim_start_matches([' ', '\t']);
    let inner = inner.strip_prefix("[!")?;
    let start = span.start + line.len() - inner.len();
    let kind = inner.find(']')?;
    // `+` and `-` say whether it is folded.
    let behind = inner.get(kind + 1..)?.trim_start_matches(['+', '-']);
    let title = behind.trim_start();
    let title = span.start + line.len() - title.len()..span.start + line.trim_end().len();
    let title = title.start.min(title.end)..title.end;
    (kind > 0).then(|| Callout { span: span.clone(), kind: start..start + kind, title })
}
