//! The destination of a Markdown link: where it stands, and its spelling with percent signs and
//! escapes. <https://spec.commonmark.org/0.31.2/#link-destination>

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::nesting::limit_nesting;

/// The bytes of the destination of an inline link, without `< >`; `from` is behind its words.
pub(super) fn inline_destination(text: &str, from: usize, end: usize) -> Option<Range<usize>> {
    let open = from + text.get(from..end)?.find("](")? + 2;
    destination_at(text, open, end - 1)
}

/// The bytes of the destination of a definition `[label]: destination "title"`.
pub(super) fn definition_destination(text: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let whole = text.get(span.clone())?;
    let mut escaped = false;
    let mut close = None;
    for (at, sign) in whole.char_indices() {
        match sign {
            ']' if !escaped => {
                close = whole.get(at..)?.starts_with("]:").then_some(at + 2);
                break;
            }
            _ => escaped = sign == '\\' && !escaped,
        }
    }
    destination_at(text, span.start + close?, span.end)
}

/// The destination behind blanks, a line break and the signs of a quote around it.
fn destination_at(text: &str, from: usize, end: usize) -> Option<Range<usize>> {
    let rest = text.get(from..end)?;
    let mut lead = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if rest.get(lead..)?.starts_with(['\n', '\r']) {
        let words = rest.get(lead..)?.trim_start_matches([' ', '\t', '\n', '\r', '>']);
        lead = rest.len() - words.len();
    }
    let start = from + lead;
    let rest = text.get(start..end)?;
    if let Some(inner) = rest.strip_prefix('<') {
        let length = find_unescaped(inner, |sign| sign == '>')?;
        return Some(start + 1..start + 1 + length);
    }
    let mut depth = 0_usize;
    let length = find_unescaped(rest, |sign| match sign {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth > 0 => {
            depth -= 1;
            false
        }
        sign => sign == ')' || sign.is_ascii_whitespace(),
    });
    Some(start..start + length.unwrap_or(rest.len()))
}

/// The offset of the first sign that `is_end` and has no backslash before it.
fn find_unescaped(text: &str, mut is_end: impl FnMut(char) -> bool) -> Option<usize> {
    let mut escaped = false;
    for (at, sign) in text.char_indices() {
        if !escaped && is_end(sign) {
            return Some(at);
        }
        escaped = sign == '\\' && !escaped;
    }
    None
}

/// Whether a destination is a place in the vault, and not on the web or in another program.
pub(super) fn is_local(raw: &str) -> bool {
    let scheme = raw.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme = scheme.is_some_and(|scheme| {
        scheme.len() > 1
            && scheme.starts_with(|sign: char| sign.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    });
    !raw.is_empty() && !raw.starts_with("//") && !has_scheme
}

/// The meaning of a destination: escapes, entities and percent signs decoded.
pub(super) fn decode(raw: &str) -> String {
    let plain = if raw.contains(['\\', '&']) { unescape(raw) } else { None };
    let plain = plain.as_deref().unwrap_or(raw);
    if !plain.contains('%') {
        return plain.to_owned();
    }
    let mut bytes = Vec::with_capacity(plain.len());
    let mut rest = plain.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| first == b'%');
        let byte = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { behind.get(2..).unwrap_or_default() } else { behind };
    }
    // Signs that are no text together are no percent signs.
    String::from_utf8(bytes).unwrap_or_else(|_| plain.to_owned())
}

/// The parser knows every entity.
fn unescape(raw: &str) -> Option<String> {
    let link = format!("[x](<{raw}>)");
    Parser::new(&limit_nesting(&link)).find_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    })
}

/// `path` as a destination in the manner of `like`: blanks stay where they stood between `< >`,
/// letters beyond ASCII are written as they are unless percent signs were used for them.
pub(super) fn encode_like(path: &str, like: &str) -> String {
    let keeps_blanks = like.contains(' ');
    let hides_letters = like.as_bytes().windows(2).any(|two| {
        matches!(two, [b'%', digit] if digit.to_ascii_lowercase() >= b'8' && digit.is_ascii_hexdigit())
    });
    let top = path.split('/').next().map_or(0, str::len);
    let mut out = String::with_capacity(path.len() + 8);
    for (at, sign) in path.char_indices() {
        let hides = match sign {
            ' ' => !keeps_blanks,
            '%' | '<' | '>' | '(' | ')' | '#' | '?' | '\\' | '|' | '`' | '$' | '"' | '[' | ']' => {
                true
            }
            '&' => path.contains(';'),
            ':' => at < top,
            sign => {
                sign.is_control() || sign.is_whitespace() || (hides_letters && !sign.is_ascii())
            }
        };
        if hides {
            let mut buffer = [0; 4];
            for byte in sign.encode_utf8(&mut buffer).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(sign);
        }
    }
    out
}
