//! What the words of a note begin with, in few bits: most notes that lack a word are told by them
//! without a look at their text.

use crate::asked::{Asked, Spelled};
use crate::units::{Units, fold};

const BITS: usize = 4096;

/// So many bytes of a folded word are known.
const KNOWN: usize = 8;

/// A Bloom filter with one hash. What it does not know is in none of its texts.
#[derive(Debug, Clone)]
pub(crate) struct Beginnings(Box<[u64; BITS / 64]>);

impl Beginnings {
    /// Of all words of these texts.
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut beginnings = Self(Box::new([0; BITS / 64]));
        let mut folded = String::new();
        for text in texts {
            for unit in Units::of(text) {
                let unit = text.get(unit.start..unit.end).unwrap_or_default();
                if unit.is_ascii() {
                    // Folding such a word changes nothing but its case.
                    let known = unit.as_bytes().iter().take(KNOWN);
                    beginnings.add(known.map(u8::to_ascii_lowercase));
                } else {
                    fold(unit, &mut folded);
                    beginnings.add(folded.bytes().take(KNOWN));
                }
            }
        }
        beginnings
    }

    /// Whether the query may find a note with these words and no others; `false` is certain.
    pub(crate) fn may_be_found(&self, asked: &Asked) -> bool {
        let may_have = |spelled: &Spelled| match spelled {
            Spelled::Beginning(word) => self.may_have(word),
            Spelled::Sequence(units) => units.iter().all(|unit| self.may_have(unit)),
        };
        let mut required = asked.terms.iter().filter(|term| term.is_required);
        required.all(|term| may_have(&term.spelled))
            && asked.terms.iter().any(|term| may_have(&term.spelled))
    }

    /// Every beginning of a word is known, so that shorter words are found in it too.
    fn add(&mut self, word: impl Iterator<Item = u8>) {
        let mut hash = Hash::default();
        for byte in word {
            let (word, bit) = hash.with(byte);
            if let Some(word) = self.0.get_mut(word) {
                *word |= bit;
            }
        }
    }

    fn may_have(&self, folded: &str) -> bool {
        let mut hash = Hash::default();
        let mut places = folded.bytes().take(KNOWN).map(|byte| hash.with(byte));
        places.all(|(word, bit)| self.0.get(word).is_some_and(|word| word & bit != 0))
    }
}

/// FNV-1a, in 32 bits.
struct Hash(u32);

impl Default for Hash {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl Hash {
    /// The place of all bytes so far: which number, and its bit.
    fn with(&mut self, byte: u8) -> (usize, u64) {
        self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let place = usize::try_from(self.0 ^ (self.0 >> 15)).unwrap_or_default() % BITS;
        (place / 64, 1 << (place % 64))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::NotePath;

    use super::*;
    use crate::reading::{NoteText, Reading};

    fn may_be_found(query: &str, text: &str) -> bool {
        Beginnings::of([text]).may_be_found(&Asked::parse(query).expect("a query"))
    }

    #[test]
    fn a_note_that_lacks_what_is_asked_for_is_told() {
        let text = "Grüne Teeblätter, im Garten. 茶の湯";
        for query in ["tee", "garten", "g", "GRÜN mint", "\"grune teeblatter\"", "茶", "im mint"]
        {
            assert!(may_be_found(query, text), "{query}");
        }
        for query in ["mint", "\"grüne minze\"", "湯婆", "xq", "zebra quark"] {
            assert!(!may_be_found(query, text), "{query}");
        }
    }

    #[test]
    fn most_of_many_notes_without_a_word_are_told() {
        let words =
            |note: usize| (0..200).map(move |at| format!("{:x}", note * 7919 + at * 104_729));
        let notes = (0..500).map(|note| words(note).collect::<Vec<_>>().join(" "));
        let asked = Asked::parse("zebra").expect("a query");
        let may = notes.filter(|text| Beginnings::of([text.as_str()]).may_be_found(&asked));
        assert!(may.count() < 50);
    }

    proptest! {
        /// Whatever a reading finds is never told to be missing.
        #[test]
        fn no_note_that_is_found_is_passed_over(
            text in "([a-cA-Cäéß茶のK̈ṠΣς]{1,5}[ .\n]{0,2}){0,12}",
            query in "([\"-]?[a-cäésß茶のΣ]{1,4}[\" ]{0,2}){1,4}",
        ) {
            let Some(asked) = Asked::parse(&query) else { return Ok(()) };
            let path = NotePath::parse("x.md").expect("a path");
            let note = NoteText { key: 0, path: &path, aliases: (&[]).into(), text: text.as_str().into() };
            if Reading::of(&asked, &note).is_some() {
                prop_assert!(Beginnings::of([text.as_str(), "x"]).may_be_found(&asked));
            }
        }
    }
}
