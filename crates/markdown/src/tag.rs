//! Names of tags.

use std::ops::Range;

use protocol::notes::privacy::is_tag_char;

/// The name of the tag whose `#` stands right before `start`, if one may be there: not of digits
/// alone, and without a `/` at its end.
#[must_use]
pub fn tag_name(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let name = rest.split(|sign: char| !is_tag_char(sign)).next()?.trim_end_matches('/');
    let is_number = name.chars().all(|sign| sign.is_ascii_digit());
    (!name.is_empty() && !is_number).then(|| start..start + name.len())
}

/// Every name behind a `#` in `text`, each in all readings that another program or a person may have
/// of it. Code and comments are not told apart: who is careful takes one too many.
pub(crate) fn tag_candidates(text: &str, mut found: impl FnMut(&str)) {
    for (at, _) in text.match_indices('#') {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        if before.is_some_and(char::is_alphanumeric) {
            continue;
        }
        if let Some(name) = tag_name(text, at + 1) {
            let name = text.get(name).unwrap_or_default();
            found(name);
            // Signs that nobody sees end a tag in some programs, and in others belong to it.
            let is_hidden = |sign: char| protocol::notes::invisible::is_invisible(sign);
            if let Some((seen, _)) = name.split_once(is_hidden).filter(|(seen, _)| !seen.is_empty())
            {
                found(seen);
            }
        }
        if let Some(joined) = without_invisible(text.get(at + 1..).unwrap_or_default()) {
            found(&joined);
        }
    }
}

/// The name as a person sees it, if signs that end a tag and that nobody sees stand in it.
fn without_invisible(rest: &str) -> Option<String> {
    let belongs = |sign: char| is_tag_char(sign) || is_invisible(sign);
    let end = rest.find(|sign| !belongs(sign)).unwrap_or(rest.len());
    let name = rest.get(..end)?;
    name.contains(|sign| !is_tag_char(sign))
        .then(|| name.chars().filter(|sign| !is_invisible(*sign)).collect())
}

fn is_invisible(sign: char) -> bool {
    protocol::notes::invisible::is_invisible(sign) && !matches!(sign, '\u{2028}' | '\u{2029}')
}
