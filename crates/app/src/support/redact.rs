//! Text as it may be written down: without text that looks like a key, and without the login in a
//! URL.

use std::borrow::Cow;

/// The prefixes of providers' keys.
const KEY_PREFIXES: [&str; 7] = ["sk-", "AIza", "gsk_", "xai-", "hf_", "ghp_", "github_pat_"];

/// The number of characters that the rest of a key has at least, a digit among them.
const MIN_KEY_LENGTH: usize = 8;

/// The same text with `[key]` for each key and `[login]` for each login.
pub(crate) fn redact(text: &str) -> Cow<'_, str> {
    let mut clean = String::new();
    let mut rest = text;
    while let Some((before, after, stands_for)) = next_secret(rest) {
        clean.push_str(before);
        clean.push_str(stands_for);
        rest = after;
    }
    if clean.is_empty() && rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

/// The text before the first secret, the text after it, and its replacement.
fn next_secret(text: &str) -> Option<(&str, &str, &'static str)> {
    let key = KEY_PREFIXES.iter().filter_map(|beginning| first_key(text, beginning)).min();
    let login = first_login(text);
    let (start, end, stands_for) = match (key, login) {
        (Some((start, end)), Some(login)) if start < login.0 => (start, end, "[key]"),
        (_, Some((start, end))) => (start, end, "[login]"),
        (Some((start, end)), None) => (start, end, "[key]"),
        (None, None) => return None,
    };
    Some((text.get(..start)?, text.get(end..)?, stands_for))
}

/// Where the first key that begins so stands.
fn first_key(text: &str, beginning: &str) -> Option<(usize, usize)> {
    text.match_indices(beginning).find_map(|(start, _)| {
        let before = text.get(..start)?.chars().next_back();
        let inside = text.get(start + beginning.len()..)?;
        let of_a_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let body = inside.get(..inside.find(|c| !of_a_key(c)).unwrap_or(inside.len()))?;
        let is_key = body.len() >= MIN_KEY_LENGTH && body.bytes().any(|c| c.is_ascii_digit());
        let stands_alone = !before.is_some_and(char::is_alphanumeric);
        (is_key && stands_alone).then(|| (start, start + beginning.len() + body.len()))
    })
}

/// Where `user:password` of the first URL with one stands.
fn first_login(text: &str) -> Option<(usize, usize)> {
    text.match_indices("://").find_map(|(at, mark)| {
        let start = at + mark.len();
        let host = text.get(start..)?;
        let over = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '<' | '>');
        let host = host.get(..host.find(over).unwrap_or(host.len()))?;
        let login = host.rfind('@').filter(|length| *length > 0)?;
        Some((start, start + login))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_logins_are_masked_wherever_they_stand() {
        for (text, clean) in [
            ("key sk-CANARY-7f3a9c is bad", "key [key] is bad"),
            ("Bearer sk-ant-api03-x_Y9-zzzz\n", "Bearer [key]\n"),
            ("\"AIzaSyA1234567890\"", "\"[key]\""),
            ("?key=gsk_0123456789&a=1 and ghp_a1b2c3d4e5", "?key=[key]&a=1 and [key]"),
            ("via http://ann:pa:s@s@proxy:80/x", "via http://[login]@proxy:80/x"),
            ("https://sk-CANARY-7f3a@host", "https://[login]@host"),
            ("öä sk-12345678", "öä [key]"),
        ] {
            assert_eq!(redact(text), clean);
            assert_eq!(redact(&redact(text)), clean, "twice is as once");
        }
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in [
            "task-12345678",
            "sk-short1",
            "sk-learn-without-digits",
            "mail ann@example.com",
            "https://example.com/a@b",
            "http://@host",
            "",
        ] {
            assert!(matches!(redact(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
