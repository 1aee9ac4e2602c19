//! The words of a text, one after the other, each folded: case and diacritics are removed. In
//! scripts without spaces between words each sign is a word.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Of a longer word only the first bytes count; nobody types the rest of an endless one.
const MAX_WORD_BYTES: usize = 120;

/// A word, or a sign of a script without spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordToken {
    /// The first byte.
    pub(crate) start: usize,
    /// The byte after the last.
    pub(crate) end: usize,
    /// One more than that of the unit before, unless an empty line parts them: no phrase reaches
    /// over one.
    pub(crate) position: usize,
    /// Whether it is a sign.
    pub(crate) is_sign: bool,
}

/// The units of a text, in order.
#[derive(Debug, Clone)]
pub(crate) struct WordTokens<'a> {
    text: &'a str,
    at: usize,
    position: usize,
}

/// The effect of a letter on a unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// It is part of a word.
    Spaced,
    /// It is part of one where another letter is, too.
    Mark,
    /// It is a unit of its own.
    Sign,
    /// It parts units.
    Other,
    /// It parts units and ends a line.
    LineEnd,
    /// A byte whose class depends on more bytes.
    Wide,
}

/// The class of each byte: the class of most text follows from its bytes alone.
static BYTE_CLASSES: [CharClass; 256] = byte_classes();

const fn byte_classes() -> [CharClass; 256] {
    let mut letters = [CharClass::Wide; 256];
    let mut byte = 0;
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which would say so")]
    while byte < 128_u8 {
        letters[byte as usize] = match byte {
            b'\n' => CharClass::LineEnd,
            _ if byte.is_ascii_alphanumeric() => CharClass::Spaced,
            _ => CharClass::Other,
        };
        byte += 1;
    }
    letters
}

impl<'a> WordTokens<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self::starting_at(text, 0)
    }

    /// Those from a byte on, where a unit or what parts units begins.
    pub(crate) const fn starting_at(text: &'a str, at: usize) -> Self {
        Self { text, at, position: 0 }
    }

    /// The letter at the place and how many bytes it has.
    #[inline]
    fn class_at(&self, at: usize) -> Option<(CharClass, usize)> {
        let byte = *self.text.as_bytes().get(at)?;
        match BYTE_CLASSES.get(usize::from(byte)) {
            Some(CharClass::Wide) | None => self.non_ascii_class(at),
            Some(letter) => Some((*letter, 1)),
        }
    }

    #[cold]
    fn non_ascii_class(&self, at: usize) -> Option<(CharClass, usize)> {
        let c = self.text.get(at..)?.chars().next()?;
        Some((char_class(c), c.len_utf8()))
    }

    /// Where the word that begins here ends, if a letter other than marks is in it.
    #[inline]
    fn word_end(&self, start: usize) -> Result<usize, usize> {
        let (mut end, mut is_word) = (start, false);
        while let Some((letter @ (CharClass::Spaced | CharClass::Mark), length)) =
            self.class_at(end)
        {
            is_word |= letter == CharClass::Spaced;
            end += length;
        }
        if is_word { Ok(end) } else { Err(end) }
    }

    #[inline]
    fn make_token(&mut self, end: usize, line_ends: usize, is_sign: bool) -> WordToken {
        self.position += if line_ends > 1 { 2 } else { 1 };
        let start = std::mem::replace(&mut self.at, end);
        WordToken { start, end, position: self.position, is_sign }
    }
}

impl Iterator for WordTokens<'_> {
    type Item = WordToken;

    #[inline]
    fn next(&mut self) -> Option<WordToken> {
        let mut line_ends = 0;
        loop {
            let (letter, length) = self.class_at(self.at)?;
            match letter {
                CharClass::Sign => return Some(self.make_token(self.at + length, line_ends, true)),
                CharClass::Spaced | CharClass::Mark => match self.word_end(self.at) {
                    Ok(end) => return Some(self.make_token(end, line_ends, false)),
                    Err(end) => self.at = end,
                },
                CharClass::LineEnd => {
                    line_ends += 1;
                    self.at += 1;
                }
                CharClass::Other | CharClass::Wide => self.at += length,
            }
        }
    }
}

/// Spells a unit in lower case and without diacritics, into a buffer that is emptied first.
pub(crate) fn fold_into(unit: &str, into: &mut String) {
    into.clear();
    if unit.is_ascii() {
        into.push_str(unit.get(..MAX_WORD_BYTES).unwrap_or(unit));
        into.make_ascii_lowercase();
        return;
    }
    let letters = unit.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
    // A sigma at the end of a word is the same letter; only Korean is composed again.
    for letter in letters.map(|letter| if letter == 'ς' { 'σ' } else { letter }).nfc() {
        if into.len() + letter.len_utf8() > MAX_WORD_BYTES {
            return;
        }
        into.push(letter);
    }
}

/// The folded spelling of a unit.
pub(crate) fn folded(unit: &str) -> String {
    let mut into = String::new();
    fold_into(unit, &mut into);
    into
}

/// Whether a folded unit is a sign.
pub(crate) fn is_sign(folded: &str) -> bool {
    folded.chars().next().is_some_and(is_unspaced)
}

fn char_class(c: char) -> CharClass {
    if is_combining_mark(c) {
        return if is_unspaced(c) { CharClass::Other } else { CharClass::Mark };
    }
    match (c.is_alphanumeric(), is_unspaced(c)) {
        (false, _) => CharClass::Other,
        (true, false) => CharClass::Spaced,
        (true, true) => CharClass::Sign,
    }
}

/// Whether the letter belongs to a script that does not part words with spaces.
const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}'
        | '\u{1780}'..='\u{17FF}' | '\u{2E80}'..='\u{A4CF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}
