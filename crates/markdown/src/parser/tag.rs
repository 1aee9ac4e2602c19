//! Inline tags: `#garden`, `#garden/herbs`.

use std::ops::Range;

use super::link::Link;
use super::walk::{WalkResult, covers};
use crate::tag_name;

/// One tag in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Its name, without the sign; `/` stands between the parts of a nested one.
    pub name: Range<usize>,
}

/// Tags in the runs of text: behind a blank or at the start, and not of digits alone.
pub(super) fn find(
    text: &str,
    walk: &WalkResult,
    links: &[Link],
    comments: &[Range<usize>],
) -> Vec<Tag> {
    let mut found = Vec::new();
    let mut links = links.iter().peekable();
    for run in &walk.runs {
        let words = text.get(run.clone()).unwrap_or_default();
        for at in words.match_indices('#').map(|(at, _)| run.start + at) {
            while links.next_if(|link| link.span.end <= at).is_some() {}
            let in_link = links.peek().is_some_and(|link| link.span.start <= at);
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let stands_free = before.is_none_or(char::is_whitespace);
            if !stands_free || in_link || covers(&walk.opaque, at) || covers(comments, at) {
                continue;
            }
            found.extend(tag_name(text, at + 1).map(|name| Tag { name }));
        }
    }
    found
}
