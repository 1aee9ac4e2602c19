//! Characters that a person does not see in a text and a model does: where they stand, and the text
//! without them.

use std::borrow::Cow;
use std::ops::Range;

/// The byte ranges of characters in `text` that nobody sees: tags, controls of direction, zero-width
/// characters, in order and apart from each other. Those that writing needs are not among them:
/// joiners in emoji and between letters of scripts that have them, the style of an emoji, the three
/// flags that are spelled in tags.
#[must_use]
pub fn invisible_ranges(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    if text.is_ascii() {
        return found;
    }
    let mut around = CharContext::default();
    let mut flag_until = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        around.after = chars.peek().map(|(_, next)| *next);
        if at >= flag_until && is_invisible(c) && !around.needs_invisible(c) {
            match found.last_mut() {
                Some(last) if last.end == at => last.end = end,
                _ => found.push(at..end),
            }
        }
        if c == BLACK_FLAG {
            let rest = text.get(end..).unwrap_or_default();
            let spelled = FLAGS.iter().find(|flag| rest.starts_with(*flag));
            flag_until = end + spelled.map_or(0, |flag| flag.len());
        }
        around.advance(c);
    }
    found
}

/// The text without the characters that [`invisible_ranges`] finds. The same text gives the same.
#[must_use]
pub fn without_invisible(text: &str) -> Cow<'_, str> {
    let strays = invisible_ranges(text);
    if strays.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for stray in strays {
        out.push_str(text.get(kept..stray.start).unwrap_or_default());
        kept = stray.end;
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

/// The neighbors of a character.
#[derive(Debug, Default)]
struct CharContext {
    /// The sign before it, and the emoji before it without style and skin tone.
    before: Option<char>,
    base: Option<char>,
    after: Option<char>,
}

impl CharContext {
    /// Whether writing needs the invisible `c` here.
    fn needs_invisible(&self, c: char) -> bool {
        let before = |is: fn(char) -> bool| self.before.is_some_and(is);
        let after = |is: fn(char) -> bool| self.after.is_some_and(is);
        match c {
            JOINER if self.base.is_some_and(is_pictographic) && self.before != Some(JOINER) => {
                after(is_pictographic)
            }
            JOINER | NON_JOINER => before(is_joining_script) && after(is_joining_script),
            TEXT_STYLE | EMOJI_STYLE => before(is_pictographic) || before(is_keycap_base),
            '\u{180B}'..='\u{180D}' | '\u{180F}' => before(is_mongolian),
            // They part lines and paragraphs, as a person sees.
            '\u{2028}' | '\u{2029}' => true,
            _ => false,
        }
    }

    fn advance(&mut self, c: char) {
        self.before = Some(c);
        if c != EMOJI_STYLE && c != JOINER && !is_skin_tone(c) {
            self.base = Some(c);
        }
    }
}

pub(crate) const JOINER: char = '\u{200D}';
const NON_JOINER: char = '\u{200C}';
const TEXT_STYLE: char = '\u{FE0E}';
pub(crate) const EMOJI_STYLE: char = '\u{FE0F}';
pub(crate) const BLACK_FLAG: char = '\u{1F3F4}';

/// England, Scotland, Wales. Source: Unicode's `emoji-sequences.txt`, `RGI_Emoji_Tag_Sequence`.
const FLAGS: [&str; 3] = [
    "\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
];

/// Bidi controls, zero-width and other default-ignorable characters, tags, variation selectors.
/// After Unicode's `Default_Ignorable_Code_Point`, with the line and paragraph separators.
pub const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Blocks that hold the emoji; wider than the emoji themselves, which change every year.
pub(crate) fn is_pictographic(c: char) -> bool {
    matches!(c,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{24C2}' | '\u{25A0}'..='\u{27BF}'
        | '\u{2900}'..='\u{297F}' | '\u{2B00}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}'
        | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

pub(crate) fn is_keycap_base(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*')
}

pub(crate) const fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1F3FB}'..='\u{1F3FF}')
}

/// Letters and marks of scripts whose spelling has joiners: Arabic, Syriac, N'Ko and their like, those
/// of India, Myanmar and Khmer, Mongolian. Source: the Unicode Standard, chapter 23.2, “Cursive
/// Connection and Ligatures”.
fn is_joining_script(c: char) -> bool {
    let letter = matches!(c,
        '\u{0620}'..='\u{08FF}' | '\u{0900}'..='\u{0DFF}' | '\u{0F00}'..='\u{109F}'
        | '\u{1780}'..='\u{17D3}' | '\u{1820}'..='\u{18AA}' | '\u{A840}'..='\u{A8FF}'
        | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{11000}'..='\u{11FFF}');
    letter && !is_invisible(c)
}

fn is_mongolian(c: char) -> bool {
    matches!(c, '\u{1820}'..='\u{18AA}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    /// The window reads the same table: both must agree.
    const TABLE: &str = include_str!("invisible/cases.json");

    #[derive(Deserialize)]
    struct InvisibleCase {
        name: String,
        text: String,
        visible: String,
    }

    #[test]
    fn what_nobody_sees_goes_and_what_writing_needs_stays() {
        let cases: Vec<InvisibleCase> = serde_json::from_str(TABLE).expect("a table");
        for InvisibleCase { name, text, visible: expected } in cases {
            assert_eq!(without_invisible(&text), expected, "{name}");
        }
    }

    fn odd() -> impl Strategy<Value = String> {
        let sign = prop_oneof![
            proptest::char::any(),
            proptest::sample::select(&['a', '\u{200B}', '\u{200D}', '\u{200C}', '\u{FE0F}'][..]),
            proptest::sample::select(&['\u{202E}', '\u{E0041}', '\u{1F3F4}', '👩', 'ب', '🏽'][..]),
        ];
        proptest::collection::vec(sign, 0..24).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn only_invisible_characters_go_and_no_tag_or_direction_is_left(text in odd()) {
            let left = without_invisible(&text).into_owned();
            let shown = |text: &str| text.chars().filter(|&c| !is_invisible(c)).collect::<String>();
            prop_assert_eq!(shown(&left), shown(&text));
            let bare = FLAGS.iter().fold(left.clone(), |text, flag| text.replace(flag, ""));
            let never = |c: char| matches!(c, '\u{200E}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}' | '\u{200B}' | '\u{E0000}'..='\u{E0FFF}');
            prop_assert!(!bare.contains(never), "{left:?}");
            for run in ["\u{200D}\u{200D}", "\u{200C}\u{200C}", "\u{FE0F}\u{FE0F}"] {
                prop_assert!(!left.contains(run) || text.contains(run), "{left:?}");
            }
        }

        #[test]
        fn strays_are_in_order_and_apart(text in odd()) {
            let found = invisible_ranges(&text);
            for pair in found.windows(2) {
                prop_assert!(pair[0].end < pair[1].start, "{found:?}");
            }
            prop_assert!(found.iter().all(|stray| text.get(stray.clone()).is_some()));
        }
    }
}
