//! Escapes of JSON that stand for one half of a surrogate pair without the other.

/// The frame with U+FFFD in the place of each `\ud800` to `\udfff` that has no partner. JavaScript writes such
/// escapes (`JSON.stringify("🎂"[0])`), and JSON as RFC 8259 has it cannot mean anything by them (section 8.2).
pub(super) fn replace_lone_surrogates(frame: &str) -> String {
    let mut mended = String::with_capacity(frame.len());
    let mut rest = frame;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let (kept, length) = match (escaped_unit(escape), escape.get(6..).and_then(escaped_unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (escape.get(..12), 12),
            (Some(0xd800..=0xdfff), _) => (Some("\\ufffd"), 6),
            (Some(_), _) => (escape.get(..6), 6),
            // A backslash and the escaped character.
            (None, _) => {
                let length = 1 + escape.chars().nth(1).map_or(0, char::len_utf8);
                (escape.get(..length), length)
            }
        };
        mended.push_str(kept.unwrap_or_default());
        rest = escape.get(length..).unwrap_or_default();
    }
    mended + rest
}

/// The code unit of the escape `\uXXXX` at the beginning.
fn escaped_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .chars()
        .all(|sign| sign.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_half_becomes_a_replacement_character_and_a_pair_stays() {
        for (frame, expected) in [
            (r#""a \ud83c b""#, "a \u{fffd} b"),
            (r#""\udf82""#, "\u{fffd}"),
            (r#""\ud83c\ud83c\udf82""#, "\u{fffd}🎂"),
            (r#""\ud83c\udf82""#, "🎂"),
            (r#""\ud83c\n""#, "\u{fffd}\n"),
            (r#""\\ud83c""#, r"\ud83c"),
            (r#""\\\ud83c""#, "\\\u{fffd}"),
            (r#""\u00e9""#, "é"),
        ] {
            let read: Result<String, _> = serde_json::from_str(&replace_lone_surrogates(frame));
            assert_eq!(read.unwrap(), expected, "{frame}");
        }
        assert!(serde_json::from_str::<String>(r#""\ud83c""#).is_err(), "the control");
    }

    proptest! {
        #[test]
        fn whatever_is_json_stays_as_it_is(text in any::<String>()) {
            let frame = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(replace_lone_surrogates(&frame), frame);
        }

        #[test]
        fn any_text_is_mended_without_a_panic(text in r#"[\\ud8cf"0-9é🎂]{0,40}"#) {
            replace_lone_surrogates(&text);
        }
    }
}
