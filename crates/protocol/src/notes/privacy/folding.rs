//! When two spellings of a tag, a name or a value are one.

use unicode_normalization::UnicodeNormalization;

use crate::notes::invisible::is_invisible;

/// Equal for names that a person takes for the same: whatever their case, Unicode form, width and
/// blanks, and whatever invisible characters they contain. Folding a folded name does not change
/// it.
#[must_use]
pub fn fold_name(text: &str) -> String {
    if text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_control() || byte == b' ') {
        return text.to_ascii_lowercase();
    }
    // One step may give rise to another: a capital `ẞ` becomes `ß`, and that `ss`.
    let mut folded = fold_once(text);
    for _ in 0..MAX_FOLD_STEPS {
        let again = fold_once(&folded);
        if again == folded {
            break;
        }
        folded = again;
    }
    folded
}

/// No sign takes more steps until it stays as it is.
const MAX_FOLD_STEPS: usize = 4;

fn fold_once(text: &str) -> String {
    // Twice: a sign may be composed of others only once what stood between them is gone.
    let seen: String = visible_chars(text.chars()).nfkc().collect();
    // Upper case first: some small letters have another small form, such as `ς`, or are two, as `ß`.
    let one_case = seen.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    let folded: String = self::visible_chars(one_case).nfkc().collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether one of `values` is `wanted`, which is folded; also as part of a list with commas, and as
/// the same number.
pub(super) fn has_value(values: &[String], wanted: &str) -> bool {
    let wanted_number = number_bits(wanted);
    let is_wanted = |text: &str| {
        let folded = fold_name(text);
        folded == wanted || (wanted_number.is_some() && number_bits(&folded) == wanted_number)
    };
    values.iter().any(|value| is_wanted(value) || value.split(',').any(is_wanted))
}

/// The characters of a tag, as in Obsidian: letters, digits, `_`, `-`, `/`, and every non-ASCII
/// character
/// that is no punctuation or blank.
#[must_use]
pub fn is_tag_char(sign: char) -> bool {
    let is_mark = matches!(sign, '\u{2000}'..='\u{200a}' | '\u{2010}'..='\u{2027}'
        | '\u{2028}'..='\u{202f}' | '\u{2030}'..='\u{206f}' | '\u{3000}'..='\u{3003}'
        | '\u{3008}'..='\u{3011}' | '\u{ff01}'..='\u{ff0f}' | '\u{a1}' | '\u{ab}' | '\u{bb}' | '\u{bf}');
    sign.is_alphanumeric()
        || matches!(sign, '_' | '-' | '/')
        || (!sign.is_ascii() && !sign.is_whitespace() && !sign.is_control() && !is_mark)
}

fn visible_chars(text: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    text.filter(|sign| sign.is_whitespace() || !(is_invisible(*sign) || sign.is_control()))
}

/// The bits of the number that a scalar of YAML is.
fn number_bits(text: &str) -> Option<u64> {
    let based = |prefix, base| {
        let digits = text.strip_prefix(prefix)?;
        u32::from_str_radix(digits, base).ok().map(f64::from)
    };
    let is_decimal = text.starts_with(|sign: char| sign.is_ascii_digit() || "+-.".contains(sign));
    let decimal = || text.parse().ok().filter(|_| is_decimal);
    let number: f64 = based("0x", 16).or_else(|| based("0o", 8)).or_else(decimal)?;
    // Nought has a sign that nobody means.
    Some((number + 0.0).to_bits())
}
