//! Which characters of a name a person cannot see, and where emoji make them welcome.

use unicode_normalization::UnicodeNormalization;

/// The name as a careless system may see it: compatibility forms replaced, invisible characters
/// gone. An ellipsis stays one character, because names begin with it and no system splits it.
pub(super) fn visible(name: &str) -> String {
    if name.is_ascii() {
        return name.to_owned();
    }
    let pieces = name.split_inclusive('…').flat_map(|piece| {
        let (plain, ellipsis) = piece.strip_suffix('…').map_or((piece, ""), |plain| (plain, "…"));
        plain.nfkc().chain(ellipsis.chars())
    });
    pieces.filter(|&c| !is_invisible(c)).collect()
}

/// The first invisible character that is not part of an emoji sequence.
pub(super) fn stray_invisible(name: &str) -> Option<char> {
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

const JOINER: char = '\u{200D}';
const EMOJI_STYLE: char = '\u{FE0F}';
const BLACK_FLAG: char = '\u{1F3F4}';
const TAG_FIRST: char = '\u{E0020}';
const TAG_LAST: char = '\u{E007F}';

/// Bidi controls, zero-width and other default-ignorable characters, tags, variation selectors.
/// After Unicode's `Default_Ignorable_Code_Point`, with the line and paragraph separators.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Blocks that hold the emoji; wider than the emoji themselves, which change every year.
fn is_pictographic(c: char) -> bool {
    matches!(c,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{24C2}' | '\u{25A0}'..='\u{27BF}'
        | '\u{2900}'..='\u{297F}' | '\u{2B00}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}'
        | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

const fn is_keycap_base(c: char) -> bool {
    matches!(c, '0'..='9' | '#')
}

const fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1F3FB}'..='\u{1F3FF}')
}
