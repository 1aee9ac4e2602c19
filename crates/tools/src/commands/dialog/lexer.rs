//! Taking a typed line apart: the first word, the separators, the quotes.

/// The first word and the rest, both trimmed.
pub(in crate::commands) fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (text, ""),
    }
}

/// Both sides of the first `separator` outside of quotes; `None` when a side is empty.
pub(in crate::commands) fn split_at_first<'a>(
    text: &'a str,
    separator: &str,
) -> Option<(&'a str, &'a str)> {
    separators_outside_quotes(text, separator).find_map(|at| both_sides(text, at, separator))
}

/// Both sides of the last `separator` outside of quotes; `None` when a side is empty.
pub(in crate::commands) fn split_at_last<'a>(
    text: &'a str,
    separator: &str,
) -> Option<(&'a str, &'a str)> {
    separators_outside_quotes(text, separator)
        .filter_map(|at| both_sides(text, at, separator))
        .last()
}

/// The text inside of one pair of quotes around all of it, else the text.
pub(in crate::commands) fn strip_quotes(text: &str) -> &str {
    let text = text.trim();
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .or_else(|| text.strip_prefix('“').and_then(|text| text.strip_suffix('”')));
    inner.filter(|inner| !inner.contains(['"', '“', '”'])).unwrap_or(text)
}

/// The offsets of `separator`, in any case, that stand outside of quotes.
fn separators_outside_quotes<'a>(
    text: &'a str,
    separator: &'a str,
) -> impl Iterator<Item = usize> + 'a {
    let mut quote = None;
    let closed_later = |at: usize, closing: char| {
        text.get(at..).is_some_and(|rest| rest.chars().skip(1).any(|sign| sign == closing))
    };
    text.char_indices().filter_map(move |(at, sign)| {
        match (quote, sign) {
            // A quote that is never closed is an inch sign, not a quote.
            (None, '"') if closed_later(at, '"') => quote = Some('"'),
            (None, '“') if closed_later(at, '”') => quote = Some('”'),
            (Some(closing), sign) if sign == closing => quote = None,
            _ => {}
        }
        let here = text.get(at..at + separator.len())?;
        (quote.is_none() && here.eq_ignore_ascii_case(separator)).then_some(at)
    })
}

fn both_sides<'a>(text: &'a str, at: usize, separator: &str) -> Option<(&'a str, &'a str)> {
    let (left, right) = (text.get(..at)?.trim(), text.get(at + separator.len()..)?.trim());
    (!left.is_empty() && !right.is_empty()).then_some((left, right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_found_outside_of_quotes_only() {
        assert_eq!(split_at_last("bread to Groceries", " to "), Some(("bread", "Groceries")));
        assert_eq!(split_at_last("eggs to my list to G", " to "), Some(("eggs to my list", "G")));
        assert_eq!(split_at_last("tea TO G", " to "), Some(("tea", "G")));
        assert_eq!(
            split_at_last("a to \"Letters to Ann\"", " to "),
            Some(("a", "\"Letters to Ann\""))
        );
        assert_eq!(split_at_last("a to “Letters to Ann”", " to "), Some(("a", "“Letters to Ann”")));
        assert_eq!(split_at_last("a 5\" pipe to House", " to "), Some(("a 5\" pipe", "House")));
        assert_eq!(split_at_last("bread to ", " to "), None);
        assert_eq!(split_at_last("bread", " to "), None);
        assert_eq!(split_at_first("a with b with c", " with "), Some(("a", "b with c")));
        assert_eq!(split_at_first("\"a with b\" with c", " with "), Some(("\"a with b\"", "c")));
        assert_eq!(split_at_first("é to ü", " to "), Some(("é", "ü")));
    }

    #[test]
    fn quotes_around_the_whole_are_taken_off() {
        assert_eq!(strip_quotes(" \"a b\" "), "a b");
        assert_eq!(strip_quotes("“a b”"), "a b");
        assert_eq!(strip_quotes("\"a\" and \"b\""), "\"a\" and \"b\"");
        assert_eq!(strip_quotes("\""), "\"");
        assert_eq!(strip_quotes("plain"), "plain");
    }
}
