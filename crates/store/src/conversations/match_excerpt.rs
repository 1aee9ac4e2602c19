//! The text around the words that a search found, cut from a message of any length.
//!
//! SQLite's own functions for it, `snippet` and `highlight`, take the square of the number of matches.

use std::collections::VecDeque;
use std::ops::Range;

use unicode_normalization::char::decompose_canonical;

/// How many words an excerpt has, the matches included.
const EXCERPT_WORDS: usize = 24;
/// A place with more of the query is looked for in so many words from the first match on.
const MAX_SEARCHED_WORDS: usize = 4_000;
/// Bytes of an excerpt before its first match, and from there on: a word may be long.
const MAX_BYTES_BEFORE: usize = 400;
const MAX_BYTES_AFTER: usize = 1_200;

/// The part of `text` in which most of the query stands, with each match between two marks. `terms` are words of the query as
/// the full-text index is asked for them: quoted, with a `*` after one that may go on. The cost grows with the text.
pub(crate) fn excerpt_of_matches(text: &str, terms: &[String], marks: [char; 2]) -> String {
    let phrases: Vec<QueryPhrase> = terms.iter().map(|term| QueryPhrase::from_term(term)).collect();
    let found = MatchedWords::from_first_match(text, &phrases);
    let shown = found.shown_bytes(text);
    let (mut excerpt, mut at) = (String::new(), shown.start);
    if shown.start > 0 {
        excerpt.push('…');
    }
    for matched in found.marked_bytes() {
        let (from, to) = (matched.start.max(at), matched.end.min(shown.end));
        if from < to {
            excerpt.push_str(text.get(at..from).unwrap_or_default());
            excerpt.push(marks[0]);
            excerpt.push_str(text.get(from..to).unwrap_or_default());
            excerpt.push(marks[1]);
            at = to;
        }
    }
    excerpt.push_str(text.get(at..shown.end).unwrap_or_default());
    if shown.end < text.len() {
        excerpt.push('…');
    }
    excerpt
}

/// A word of a query. It may be several for the index, one after the other: “e-mail” is two.
struct QueryPhrase {
    words: Vec<String>,
    /// Whether the last of them may be the beginning of a word.
    is_prefix: bool,
}

impl QueryPhrase {
    fn from_term(term: &str) -> Self {
        let words = TextWords { text: term, at: 0 }.map(|word| word.folded).collect();
        Self { words, is_prefix: term.ends_with('*') }
    }

    /// The place of the first of its words if it stands at the end of `words`.
    fn match_at_end(&self, words: &VecDeque<TextWord>) -> Option<usize> {
        let last = self.words.len().checked_sub(1)?;
        let first = words.len().checked_sub(self.words.len())?;
        let fits = words.range(first..).zip(&self.words).enumerate().all(|(at, (word, asked))| {
            let may_go_on = self.is_prefix && at == last;
            word.folded == *asked || may_go_on && word.folded.starts_with(asked.as_str())
        });
        fits.then_some(first)
    }
}

/// A word as it stands in a text, in bytes, and as it is compared.
struct TextWord {
    bytes: Range<usize>,
    folded: String,
}

/// The words of a text as the tokenizer of the index tells them apart: `unicode61` without diacritics.
struct TextWords<'t> {
    text: &'t str,
    at: usize,
}

impl Iterator for TextWords<'_> {
    type Item = TextWord;

    fn next(&mut self) -> Option<TextWord> {
        let rest = self.text.get(self.at..)?;
        let (before, rest) = rest.split_at_checked(rest.find(char::is_alphanumeric)?)?;
        let is_part = |letter: char| letter.is_alphanumeric() || is_diacritic(letter);
        let length = rest.find(|letter: char| !is_part(letter)).unwrap_or(rest.len());
        let start = self.at + before.len();
        self.at = start + length;
        let word = rest.get(..length).unwrap_or_default();
        Some(TextWord { bytes: start..self.at, folded: word.chars().filter_map(fold).collect() })
    }
}

/// The diacritics that the tokenizer takes as part of a word.
const fn is_diacritic(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{331}')
}

/// A letter without its case and, if it is a Latin one, without its diacritics.
fn fold(letter: char) -> Option<char> {
    if letter.is_ascii() {
        return Some(letter.to_ascii_lowercase());
    }
    if is_diacritic(letter) {
        return None;
    }
    let mut base = None;
    decompose_canonical(letter, |part| base = base.or(Some(part)));
    let letter = base.filter(char::is_ascii).unwrap_or(letter);
    let small = letter.to_lowercase().next().unwrap_or(letter);
    // A sigma has another small letter at the end of a word.
    Some(if small == 'ς' { 'σ' } else { small })
}

struct WordMatch {
    /// A bit of its own for each word of the query.
    phrase: u32,
    /// By their places in the list of words.
    words: Range<usize>,
}

/// Words of a text from a little before the first match on, and the matches in them in order.
struct MatchedWords {
    words: Vec<TextWord>,
    matches: Vec<WordMatch>,
    /// Whether no words of the text stand before and after these.
    is_start: bool,
    is_end: bool,
}

impl MatchedWords {
    /// Without a match the first words of the text: the index folds some rare letters in another way.
    fn from_first_match(text: &str, phrases: &[QueryPhrase]) -> Self {
        let longest = phrases.iter().map(|phrase| phrase.words.len()).max().unwrap_or(0);
        let mut words = VecDeque::new();
        let mut matches: Vec<WordMatch> = Vec::new();
        let (mut is_start, mut left) = (true, MAX_SEARCHED_WORDS);
        let mut coming = TextWords { text, at: 0 }.peekable();
        while let Some(word) = coming.next_if(|_| left > 0) {
            words.push_back(word);
            matches.extend((0_u32..).zip(phrases).filter_map(|(number, phrase)| {
                let first = phrase.match_at_end(&words)?;
                let bit = 1_u32.checked_shl(number).unwrap_or(0);
                Some(WordMatch { phrase: bit, words: first..words.len() })
            }));
            if !matches.is_empty() {
                left -= 1;
            } else if words.len() > longest + EXCERPT_WORDS {
                words.pop_front();
                is_start = false;
            }
        }
        if matches.is_empty() {
            let words: Vec<TextWord> = TextWords { text, at: 0 }.take(EXCERPT_WORDS + 1).collect();
            let is_end = words.len() <= EXCERPT_WORDS;
            return Self { words, matches, is_start: true, is_end };
        }
        matches.sort_by_key(|one| (one.words.start, one.words.end));
        Self { words: words.into(), matches, is_start, is_end: coming.peek().is_none() }
    }

    /// The matches that stand near each other and in which most of the query stands, as one range of words; of several such
    /// ranges the first.
    fn best_range(&self) -> Range<usize> {
        let most = self.matches.iter().fold(0_u32, |all, one| all | one.phrase).count_ones();
        let (mut best, mut range) = (0_u32, 0..0);
        for (at, first) in self.matches.iter().enumerate() {
            let end = (first.words.start + EXCERPT_WORDS).max(first.words.end);
            let near = self.matches.iter().skip(at).take_while(|one| one.words.start < end);
            let (phrases, last) = near
                .filter(|one| one.words.end <= end)
                .fold((0_u32, 0_usize), |(all, last), one| {
                    (all | one.phrase, last.max(one.words.end))
                });
            if phrases.count_ones() > best {
                (best, range) = (phrases.count_ones(), first.words.start..last);
            }
            if best == most {
                break;
            }
        }
        range
    }

    /// The bytes of the text that are shown: the best range in the middle of other words.
    fn shown_bytes(&self, text: &str) -> Range<usize> {
        let best = self.best_range();
        let spare = EXCERPT_WORDS.saturating_sub(best.len());
        let latest = self.words.len().saturating_sub(EXCERPT_WORDS);
        let first = best.start.saturating_sub(spare / 2).min(latest);
        let end = (first + EXCERPT_WORDS).max(best.end).min(self.words.len());
        let start_of = |at: usize| self.words.get(at).map_or(0, |word| word.bytes.start);
        let from = if first == 0 && self.is_start { 0 } else { start_of(first) };
        let last = end.checked_sub(1).and_then(|at| self.words.get(at));
        let to = match last {
            Some(last) if end < self.words.len() || !self.is_end => last.bytes.end,
            _ => text.len(),
        };
        let matched = if self.matches.is_empty() { from } else { start_of(best.start) };
        let earliest = text.floor_char_boundary(matched.saturating_sub(MAX_BYTES_BEFORE));
        from.max(earliest)..to.min(text.floor_char_boundary(matched + MAX_BYTES_AFTER))
    }

    /// The bytes of the matches, in order; those with words in common are one.
    fn marked_bytes(&self) -> impl Iterator<Item = Range<usize>> {
        let mut merged: Vec<Range<usize>> = Vec::new();
        for one in &self.matches {
            match merged.last_mut() {
                Some(last) if one.words.start < last.end => last.end = last.end.max(one.words.end),
                _ => merged.push(one.words.clone()),
            }
        }
        merged.into_iter().filter_map(move |words| {
            let last = words.end.checked_sub(1)?;
            Some(self.words.get(words.start)?.bytes.start..self.words.get(last)?.bytes.end)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, terms: &[&str], expected: &str) {
        let terms: Vec<String> = terms.iter().map(|term| (*term).to_owned()).collect();
        assert_eq!(excerpt_of_matches(text, &terms, ['<', '>']), expected);
    }

    fn words(word: &str, count: usize) -> String {
        vec![word; count].join(" ")
    }

    #[test]
    fn a_short_text_is_whole_and_all_matches_are_marked() {
        check("- Buy milk. MILK!", &["\"milk\""], "- Buy <milk>. <MILK>!");
        check("Crème brûlée", &["\"CREME\"", "\"bru\"*"], "<Crème> <brûlée>");
        check("Cre\u{300}me", &["\"crème\""], "<Cre\u{300}me>");
        check("Ở đâu ΟΔΟΣ", &["\"o\"", "\"οδος\""], "<Ở> đâu <ΟΔΟΣ>");
        check("milky milk", &["\"milk\""], "milky <milk>");
        check("milky milk", &["\"milk\"*"], "<milky> <milk>");
    }

    #[test]
    fn a_word_of_the_query_may_be_several_of_the_index() {
        check("mail by e-mail", &["\"e-mail\""], "mail by <e-mail>");
        check("e-mailing a mail", &["\"e-mail\"*"], "<e-mailing> a mail");
        check("a b c", &["\"a.b\"", "\"b.c\""], "<a b c>");
    }

    #[test]
    fn a_long_text_is_cut_around_the_first_match() {
        let text = format!("{} milk {}", words("x", 50), words("y", 50));
        let expected = format!("…{} <milk> {}…", words("x", 11), words("y", 12));
        check(&text, &["\"milk\""], &expected);
        let text = format!("milk {}.", words("y", 50));
        check(&text, &["\"milk\""], &format!("<milk> {}…", words("y", 23)));
        let text = format!("({} milk.)", words("x", 50_000));
        check(&text, &["\"milk\""], &format!("…{} <milk>.)", words("x", 23)));
        check(&words("x", 24), &["\"milk\""], &words("x", 24));
        check(&words("x", 25), &["\"milk\""], &format!("{}…", words("x", 24)));
    }

    #[test]
    fn a_place_with_more_of_the_query_is_shown_instead_of_the_first_match() {
        let text = format!("milk {0} bread {0} milk and bread {0}", words("x", 100));
        let terms = ["\"milk\"", "\"bread\""];
        let expected = format!("…{} <milk> and <bread> {}…", words("x", 10), words("x", 11));
        check(&text, &terms, &expected);
        let apart = format!("milk {} bread", words("x", 100));
        check(&apart, &terms, &format!("<milk> {}…", words("x", 23)));
    }

    #[test]
    fn a_long_word_is_cut_at_whole_letters() {
        let text = "é".repeat(100_000);
        let shown = excerpt_of_matches(&text, &["\"eee\"*".to_owned()], ['<', '>']);
        assert_eq!(shown, format!("<{}>…", "é".repeat(MAX_BYTES_AFTER / 2)));
        let text = format!("{} milk", "é".repeat(100_000));
        let shown = excerpt_of_matches(&text, &["\"milk\"".to_owned()], ['<', '>']);
        assert_eq!(shown, format!("…{} <milk>", "é".repeat(MAX_BYTES_BEFORE / 2)));
    }
}
