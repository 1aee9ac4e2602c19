//! Which characters of a name a person cannot see, and where emoji make them welcome.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::notes::invisible::{
    BLACK_FLAG, EMOJI_STYLE, JOINER, is_invisible, is_keycap_base, is_pictographic, is_skin_tone,
};

/// The name as a careless system may see it: compatibility forms replaced, invisible characters
/// gone. An ellipsis stays one character, because names begin with it and no system splits it.
pub(super) fn visible_form(name: &str) -> String {
    if name.is_ascii() {
        return name.to_owned();
    }
    let pieces = name.split_inclusive('…').flat_map(|piece| {
        let (plain, ellipsis) = piece.strip_suffix('…').map_or((piece, ""), |plain| (plain, "…"));
        plain.nfkc().chain(ellipsis.chars())
    });
    pieces.filter(|&c| !is_invisible(c)).collect()
}

/// The most combining marks that follow one character.
pub(super) fn longest_stack(name: &str) -> usize {
    let mut longest = 0;
    let mut stack = 0;
    for c in name.chars() {
        stack = if is_combining_mark(c) { stack + 1 } else { 0 };
        longest = longest.max(stack);
    }
    longest
}

/// The first invisible character that is not part of an emoji sequence.
pub(super) fn first_invisible(name: &str) -> Option<char> {
    let mut flag = false;
    let mut before = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let welcome = match c {
            JOINER => {
                before.is_some_and(is_pictographic)
                    && chars.peek().copied().is_some_and(is_pictographic)
            }
            EMOJI_STYLE => before.is_some_and(|base| is_pictographic(base) || is_keycap_base(base)),
            TAG_FIRST..=TAG_LAST => flag,
            _ => !is_invisible(c),
        };
        if !welcome {
            return Some(c);
        }
        flag = c == BLACK_FLAG || (flag && (TAG_FIRST..TAG_LAST).contains(&c));
        // Style and skin tone belong to the emoji before them.
        if c != EMOJI_STYLE && !is_skin_tone(c) {
            before = Some(c);
        }
    }
    None
}

const TAG_FIRST: char = '\u{E0020}';
const TAG_LAST: char = '\u{E007F}';
