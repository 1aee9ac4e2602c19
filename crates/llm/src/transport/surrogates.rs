//! Signs beyond U+FFFF that a server cut in two: a JSON escape has one half of a surrogate pair, the
//! next string the other.
//!
//! A Rust string cannot hold half a sign, so each lone half becomes four noncharacters while a string is
//! read, and [`SurrogateJoiner`] puts them together again. Noncharacters are not for interchange (The Unicode
//! Standard, 23.7), so honest text has none of them.

use std::ops::RangeInclusive;

use serde::de::DeserializeOwned;

use crate::transport::decoder::DecodeError;

const HIGH: RangeInclusive<u16> = 0xD800..=0xDBFF;
const LOW: RangeInclusive<u16> = 0xDC00..=0xDFFF;

/// Begins a half: three digits to the base 16 follow, the most significant first.
const HALF_MARK: char = '\u{FFFF}';
const DIGIT_ZERO: u32 = 0xFDD0;
const DIGITS: usize = 3;

/// Reads JSON in which a string may end or begin within a sign. [`SurrogateJoiner`] has to see each such string.
pub(crate) fn from_json<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    serde_json::from_str(json).or_else(|error| match mark_lone_halves(json) {
        Some(marked) => serde_json::from_str(&marked),
        None => Err(error),
    })
}

/// Whether the text has a lone half of a pair.
pub(crate) fn has_lone_half(text: &str) -> bool {
    text.contains(HALF_MARK)
}

/// Puts strings together that follow one another.
#[derive(Debug, Default)]
pub(crate) struct SurrogateJoiner(Option<u16>);

impl SurrogateJoiner {
    /// The next string, with a sign whose first half ended the one before. A half without the other
    /// is an error.
    pub(crate) fn join(&mut self, text: String) -> Result<String, DecodeError> {
        if text.is_empty() || (self.0.is_none() && !text.contains(HALF_MARK)) {
            return Ok(text);
        }
        let mut joined = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(sign) = rest.chars().next() {
            let half = match sign {
                HALF_MARK => {
                    let (half, after) = leading_half(rest).ok_or(LONE_HALF)?;
                    rest = after;
                    Some(half)
                }
                _ => None,
            };
            match (self.0.take(), half) {
                (None, None) => {
                    let (plain, marked) = rest.split_at(rest.find(HALF_MARK).unwrap_or(rest.len()));
                    joined.push_str(plain);
                    rest = marked;
                }
                (None, Some(half)) if HIGH.contains(&half) => self.0 = Some(half),
                (Some(high), Some(low)) if LOW.contains(&low) => {
                    let mut signs = char::decode_utf16([high, low]);
                    joined.push(signs.next().and_then(Result::ok).ok_or(LONE_HALF)?);
                }
                _ => return Err(LONE_HALF),
            }
        }
        Ok(joined)
    }

    /// Nothing follows: an error if a sign is still open.
    pub(crate) const fn end(&self) -> Result<(), DecodeError> {
        match self.0 {
            None => Ok(()),
            Some(_) => Err(LONE_HALF),
        }
    }
}

const LONE_HALF: DecodeError =
    DecodeError::Unreadable("a character in it is cut in two, and one half is missing");

/// The half at the beginning of `text`, and what follows.
fn leading_half(text: &str) -> Option<(u16, &str)> {
    let mut signs = text.chars();
    signs.next().filter(|sign| *sign == HALF_MARK)?;
    let mut half: u32 = 0;
    for _ in 0..DIGITS {
        let digit = u32::from(signs.next()?).checked_sub(DIGIT_ZERO).filter(|digit| *digit < 16)?;
        half = half * 16 + digit;
    }
    // A half has 11 bits of its own.
    let half = u16::try_from(half).ok().filter(|half| *half < 0x800)?;
    Some((HIGH.start() | half, signs.as_str()))
}

/// The same JSON with marks for escapes of lone halves; `None` where there is none.
fn mark_lone_halves(json: &str) -> Option<String> {
    let mut marked = String::with_capacity(json.len());
    let mut is_marked = false;
    let mut rest = json;
    while let Some((before, escape)) = rest.split_once('\\') {
        marked.push_str(before);
        let pair = (
            parse_escape(escape),
            escape.get(5..).and_then(|next| parse_escape(next.strip_prefix('\\')?)),
        );
        let length = match pair {
            (Some(high), Some(low)) if HIGH.contains(&high) && LOW.contains(&low) => 11,
            (Some(half), _) if HIGH.contains(&half) || LOW.contains(&half) => {
                push_mark(&mut marked, half);
                is_marked = true;
                rest = escape.get(5..)?;
                continue;
            }
            (Some(_), _) => 5,
            // `\\` and the like.
            (None, _) => escape.chars().next().map_or(0, char::len_utf8),
        };
        marked.push('\\');
        marked.push_str(escape.get(..length)?);
        rest = escape.get(length..)?;
    }
    marked.push_str(rest);
    is_marked.then_some(marked)
}

fn push_mark(json: &mut String, half: u16) {
    let half = u32::from(half - HIGH.start());
    json.push(HALF_MARK);
    for shift in [8, 4, 0] {
        json.extend(char::from_u32(DIGIT_ZERO + (half >> shift & 0xF)));
    }
}

/// The unit that an escape spells, which is given without its `\`.
fn parse_escape(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix('u')?.get(..4)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn read(strings: &[&str]) -> Result<String, DecodeError> {
        let mut joiner = SurrogateJoiner::default();
        let mut read = String::new();
        for string in strings {
            let string: String = from_json(&format!("\"{string}\"")).expect("a string");
            read.push_str(&joiner.join(string)?);
        }
        joiner.end().map(|()| read)
    }

    #[test]
    fn halves_in_two_strings_are_one_sign() {
        for strings in [
            &[r"cake \ud83c", r"\udf82 for \ud83e", r"\udd73!"] as &[&str],
            &[r"cake \ud83c", "", r"\udf82 for \ud83e\udd73!"],
            &[r"cake \uD83C", r"\uDF82 for 🥳!"],
        ] {
            assert_eq!(read(strings).as_deref(), Ok("cake 🎂 for 🥳!"), "{strings:?}");
        }
        assert_eq!(read(&[r"\\ud83c", r"\\\ud83c", r"\udf82"]).as_deref(), Ok("\\ud83c\\🎂"));
    }

    #[test]
    fn a_half_without_the_other_is_an_error() {
        for strings in [
            &[r"\ud83c"] as &[&str],
            &[r"\udf82"],
            &[r"\ud83c", "a"],
            &[r"\ud83c", r"\ud83c\udf82"],
            &[r"\ud83ca", r"\udf82"],
            &[r"a\udf82"],
            &["\u{FFFF}a"],
            &["\u{FFFF}\u{FDDF}\u{FDDF}\u{FDDF}"],
        ] {
            assert_eq!(read(strings), Err(LONE_HALF), "{strings:?}");
        }
    }

    #[test]
    fn what_is_no_json_stays_so() {
        for json in ["", "{", "\"\\ud83c", "\"\\", "\"\\u", "\"\\ud8é\"", "\"\\ud83c\\\""] {
            assert!(from_json::<String>(json).is_err(), "{json}");
        }
    }

    proptest! {
        #[test]
        fn any_text_cut_between_any_units_is_read_whole(text in ".{0,20}", sizes in prop::collection::vec(1_usize..5, 0..40)) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let mut rest = units.as_slice();
            let mut strings = Vec::new();
            for size in sizes.into_iter().chain(std::iter::repeat(7)) {
                let (piece, after) = rest.split_at(size.min(rest.len()));
                strings.push(piece.iter().fold(String::new(), |mut string, unit| {
                    let _ = write!(string, "\\u{unit:04x}");
                    string
                }));
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            let strings: Vec<&str> = strings.iter().map(String::as_str).collect();
            prop_assert_eq!(read(&strings), Ok(text));
        }
    }
}
