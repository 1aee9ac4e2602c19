//! A note's bytes as text, and numbers of lines in it.

use protocol::NotePath;

const BOM: &str = "\u{feff}";

/// The text of a note without its byte order mark; the failure is a sentence for the model.
pub(crate) fn decode<'a>(path: &NotePath, bytes: &'a [u8]) -> Result<&'a str, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        format!(
            "`{path}` is not UTF-8 text (the first bad byte is at offset {}), so it cannot be read \
             or edited here.\nTell the user; do not overwrite it.",
            error.valid_up_to()
        )
    })?;
    Ok(text.strip_prefix(BOM).unwrap_or(text))
}

/// The 1-based line that the byte at `offset` stands in.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// "1 line", "2 lines".
pub(crate) fn pluralize(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_text() {
        let path = NotePath::parse("a.md").unwrap();
        assert_eq!(decode(&path, b"\xef\xbb\xbfhello"), Ok("hello"));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_a_reason() {
        let path = NotePath::parse("latin.md").unwrap();
        let words = decode(&path, b"caf\xe9").unwrap_err();
        assert!(words.starts_with("`latin.md` is not UTF-8 text"), "{words}");
    }
}
