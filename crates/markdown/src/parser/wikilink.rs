//! Wikilinks in text: `[[target#subpath|alias]]`, with `!` before them when they embed.

use std::ops::Range;

use super::link::{Link, LinkForm};
use super::walk::{WalkResult, covers};

/// All wikilinks in the runs of text, outside of code, HTML, math and destinations.
pub(super) fn find(text: &str, walk: &WalkResult) -> Vec<Link> {
    let mut found = Vec::new();
    for run in &walk.runs {
        scan(text, run.clone(), LinkForm::Wiki, |at| covers(&walk.opaque, at), &mut found);
    }
    found
}

/// Adds the wikilinks of `range`, whose brackets are not `hidden`.
pub(super) fn scan(
    text: &str,
    range: Range<usize>,
    form: LinkForm,
    hidden: impl Fn(usize) -> bool,
    found: &mut Vec<Link>,
) {
    let mut at = range.start;
    while let Some(open) = find_sign(text, at, range.end, "[[") {
        // Of `[[[a]]` the inner brackets are the link's.
        let open = if text.get(open + 2..).is_some_and(|rest| rest.starts_with('[')) {
            at = open + 1;
            continue;
        } else {
            open
        };
        at = open + 2;
        if hidden(open) || is_escaped(text, open) {
            continue;
        }
        let Some(close) = closing_brackets(text, at..range.end).filter(|close| !hidden(*close))
        else {
            continue;
        };
        found.extend(link(text, form, open, close));
        at = close + 2;
    }
}

fn find_sign(text: &str, from: usize, to: usize, sign: &str) -> Option<usize> {
    Some(from + text.get(from..to)?.find(sign)?)
}

/// Where the brackets that close a link stand; `None` where its line ends or another link begins
/// before. Looks no further than that, so that brackets which nothing closes cost no more.
fn closing_brackets(text: &str, inner: Range<usize>) -> Option<usize> {
    let bytes = text.as_bytes().get(inner.clone())?;
    let is_end = |two: &[u8]| matches!(two, [b'\n', ..] | b"[[" | b"]]");
    let at = bytes.windows(2).position(is_end)?;
    bytes.get(at..)?.starts_with(b"]]").then_some(inner.start + at)
}

fn is_escaped(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// The link between the brackets at `open` and `close`.
fn link(text: &str, form: LinkForm, open: usize, close: usize) -> Option<Link> {
    let inner = text.get(open + 2..close)?;
    let start = open + 2;
    let (address, alias) = match inner.find('|') {
        // In a table the sign between target and alias is escaped.
        Some(at) => (inner.get(..at)?.trim_end_matches('\\').len(), Some(start + at + 1..close)),
        None => (inner.len(), None),
    };
    let address = start..start + address;
    let hash = text.get(address.clone())?.find('#');
    let hash = hash.map_or(address.end, |at| start + at);
    let target = trimmed(text, start..hash);
    let subpath = if hash < address.end { hash..address.end } else { target.end..target.end };
    let is_embed = text.get(..open)?.ends_with('!') && !is_escaped(text, open - 1);
    let span = open - usize::from(is_embed)..close + 2;
    let says_nothing = target.is_empty() && subpath.len() < 2;
    (!says_nothing).then_some(Link { form, is_embed, span, target, subpath, alias })
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let words = text.get(range.clone()).unwrap_or_default();
    let lead = words.len() - words.trim_start().len();
    let start = (range.start + lead).min(range.end);
    start..start + words.trim().len()
}
