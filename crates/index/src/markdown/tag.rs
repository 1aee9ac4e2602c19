//! Inline tags: `#garden`, `#garden/herbs`.

use std::ops::Range;

use super::covers;
use super::link::Link;
use super::walk::Walked;

/// One tag in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Its name, without the sign; `/` stands between the parts of a nested one.
    pub name: Range<usize>,
}

/// Tags in the runs of text: behind a blank or at the start, and not of digits alone.
pub(super) fn find(
    text: &str,
    walked: &Walked,
    links: &[Link],
    comments: &[Range<usize>],
) -> Vec<Tag> {
    let mut found = Vec::new();
    let mut links = links.iter().peekable();
    for run in &walked.runs {
        let words = text.get(run.clone()).unwrap_or_default();
        for at in words.match_indices('#').map(|(at, _)| run.start + at) {
            while links.next_if(|link| link.span.end <= at).is_some() {}
            let in_link = links.peek().is_some_and(|link| link.span.start <= at);
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let stands_free = before.is_none_or(char::is_whitespace);
            if !stands_free || in_link || covers(&walked.opaque, at) || covers(comments, at) {
                continue;
            }
            found.extend(name(text, at + 1).map(|name| Tag { name }));
        }
    }
    found
}

/// The name that begins at `start`, if it may be one.
fn name(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let name = rest.split(|sign: char| !is_part(sign)).next()?.trim_end_matches('/');
    let is_number = name.chars().all(|sign| sign.is_ascii_digit());
    (!name.is_empty() && !is_number).then(|| start..start + name.len())
}

/// Letters, digits, `_`, `-`, `/`, and every sign beyond ASCII that is no punctuation or blank.
fn is_part(sign: char) -> bool {
    let is_mark = matches!(sign, '\u{2000}'..='\u{200a}' | '\u{2010}'..='\u{2027}'
        | '\u{2028}'..='\u{202f}' | '\u{2030}'..='\u{206f}' | '\u{3000}'..='\u{3003}'
        | '\u{3008}'..='\u{3011}' | '\u{ff01}'..='\u{ff0f}' | '\u{a1}' | '\u{ab}' | '\u{bb}' | '\u{bf}');
    sign.is_alphanumeric()
        || matches!(sign, '_' | '-' | '/')
        || (!sign.is_ascii() && !sign.is_whitespace() && !sign.is_control() && !is_mark)
}
