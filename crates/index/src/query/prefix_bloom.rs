//! The prefixes of a note's words, in few bits: most notes that lack a word are detected without a
//! look at their text.

use crate::fulltext::tokenizer::{WordTokens, fold_into};
use crate::query::{ParsedQuery, TermPattern};

const BITS: usize = 4096;

/// The number of bytes of a folded word that are known.
const MAX_PREFIX_LENGTH: usize = 8;

/// A Bloom filter with one hash. A prefix that it lacks is in none of its texts.
#[derive(Debug, Clone)]
pub(crate) struct PrefixBloom(Box<[u64; BITS / 64]>);

impl PrefixBloom {
    /// Built from all words of these texts.
    pub(crate) fn from_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut beginnings = Self(Box::new([0; BITS / 64]));
        let mut folded = String::new();
        for text in texts {
            for unit in WordTokens::new(text) {
                let unit = text.get(unit.start..unit.end).unwrap_or_default();
                if unit.is_ascii() {
                    // Folding such a word changes nothing but its case.
                    let known = unit.as_bytes().iter().take(MAX_PREFIX_LENGTH);
                    beginnings.add(known.map(u8::to_ascii_lowercase));
                } else {
                    fold_into(unit, &mut folded);
                    beginnings.add(folded.bytes().take(MAX_PREFIX_LENGTH));
                }
            }
        }
        beginnings
    }

    /// Whether the query may find a note with these words and no others; `false` is certain.
    pub(crate) fn may_match(&self, query: &ParsedQuery) -> bool {
        let may_have = |spelled: &TermPattern| match spelled {
            TermPattern::Beginning(word) => self.may_contain(word),
            TermPattern::Sequence(units) => units.iter().all(|unit| self.may_contain(unit)),
        };
        let mut required = query.terms.iter().filter(|term| term.is_required);
        required.all(|term| may_have(&term.pattern))
            && query.terms.iter().any(|term| may_have(&term.pattern))
    }

    /// Every beginning of a word is known, so that shorter words are found in it too.
    fn add(&mut self, word: impl Iterator<Item = u8>) {
        let mut hash = Fnv1a::default();
        for byte in word {
            let (word, bit) = hash.push(byte);
            if let Some(word) = self.0.get_mut(word) {
                *word |= bit;
            }
        }
    }

    fn may_contain(&self, folded: &str) -> bool {
        let mut hash = Fnv1a::default();
        let mut places = folded.bytes().take(MAX_PREFIX_LENGTH).map(|byte| hash.push(byte));
        places.all(|(word, bit)| self.0.get(word).is_some_and(|word| word & bit != 0))
    }
}

/// FNV-1a, in 32 bits.
struct Fnv1a(u32);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl Fnv1a {
    /// The place of all bytes so far: which number, and its bit.
    fn push(&mut self, byte: u8) -> (usize, u64) {
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
    use crate::fulltext::note_matches::{NoteMatches, SearchableNote};

    fn may_be_found(query: &str, text: &str) -> bool {
        PrefixBloom::from_texts([text]).may_match(&ParsedQuery::parse(query).expect("a query"))
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
        let asked = ParsedQuery::parse("zebra").expect("a query");
        let may = notes.filter(|text| PrefixBloom::from_texts([text.as_str()]).may_match(&asked));
        assert!(may.count() < 50);
    }

    proptest! {
        /// The filter never excludes a match that the text contains.
        #[test]
        fn no_note_that_is_found_is_passed_over(
            text in "([a-cA-Cäéß茶のK̈ṠΣς]{1,5}[ .\n]{0,2}){0,12}",
            query in "([\"-]?[a-cäésß茶のΣ]{1,4}[\" ]{0,2}){1,4}",
        ) {
            let Some(asked) = ParsedQuery::parse(&query) else { return Ok(()) };
            let path = NotePath::parse("x.md").expect("a path");
            let note = SearchableNote { key: 0, path: &path, aliases: (&[]).into(), text: text.as_str().into() };
            if NoteMatches::find(&asked, &note).is_some() {
                prop_assert!(PrefixBloom::from_texts([text.as_str(), "x"]).may_match(&asked));
            }
        }
    }
}
