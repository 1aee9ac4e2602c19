//! The words of a query and where a text has them: case, diacritics and endings do not matter.

use std::collections::BTreeMap;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// At most this many words of a query count; more only blur it.
const MOST: usize = 16;

/// Words too common to tell notes apart. They count when a query has no others.
const COMMON: [&str; 32] = [
    "a", "about", "all", "an", "and", "are", "at", "by", "did", "do", "does", "for", "from",
    "have", "how", "i", "in", "is", "it", "me", "my", "of", "on", "or", "our", "the", "to", "was",
    "what", "where", "which", "with",
];

/// What to look for.
#[derive(Debug)]
pub(crate) struct Words {
    /// Folded, in the order of the query, without repetition.
    terms: Vec<String>,
    any: Regex,
}

/// A word found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The first byte.
    pub(crate) start: usize,
    /// The byte after the word's last.
    pub(crate) end: usize,
    /// Which word of the query it begins with.
    pub(crate) term: usize,
    /// How many bytes of it are that word.
    pub(crate) matched: usize,
}

impl Words {
    /// Takes the words of `query`; `None` when it has none.
    pub(crate) fn parse(query: &str) -> Option<Self> {
        let folded = folded(query);
        let all = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let (common, rare): (Vec<&str>, Vec<&str>) = all.partition(|word| COMMON.contains(word));
        let mut terms: Vec<String> = Vec::new();
        for word in if rare.is_empty() { common } else { rare } {
            let term = singular(word).to_owned();
            if terms.len() < MOST && !terms.contains(&term) {
                terms.push(term);
            }
        }
        // The longest first: the engine takes the first alternative that matches.
        let mut longest_first = terms.clone();
        longest_first.sort_by_key(|term| std::cmp::Reverse(term.len()));
        let mut spellings = Spellings::default();
        let patterns: Vec<String> =
            longest_first.iter().map(|term| spellings.pattern(term)).collect();
        let any = Regex::new(&format!("(?i){}", patterns.join("|"))).ok()?;
        (!terms.is_empty()).then_some(Self { terms, any })
    }

    /// How many different words there are.
    pub(crate) const fn len(&self) -> usize {
        self.terms.len()
    }

    /// Where `text` has words that begin with one of these, in order.
    pub(crate) fn marks(&self, text: &str) -> Vec<Mark> {
        self.any.find_iter(text).filter_map(|found| self.mark(text, &found)).collect()
    }

    fn mark(&self, text: &str, found: &regex::Match<'_>) -> Option<Mark> {
        let before = text.get(..found.start())?.chars().next_back();
        let first = found.as_str().chars().next()?;
        if is_spaced(first) && before.is_some_and(is_spaced) {
            return None;
        }
        let matched = folded(found.as_str());
        let term = self.terms.iter().position(|term| *term == matched)?;
        let rest = text.get(found.end()..)?;
        let tail =
            if is_spaced(first) { rest.find(|c| !is_spaced(c)).unwrap_or(rest.len()) } else { 0 };
        Some(Mark { start: found.start(), end: found.end() + tail, term, matched: found.len() })
    }
}

/// How often two words of the query stand side by side in its order.
pub(crate) fn pairs(text: &str, marks: &[Mark]) -> u32 {
    let beside = |(a, b): &(&Mark, &Mark)| {
        let between = text.get(a.end..b.start).unwrap_or("x");
        b.term == a.term + 1 && !between.contains(char::is_alphanumeric)
    };
    let count = marks.iter().zip(marks.iter().skip(1)).filter(beside).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The letters of the Latin script with diacritics, by the letter they are built on.
#[derive(Debug, Default)]
struct Spellings(BTreeMap<char, String>);

impl Spellings {
    fn pattern(&mut self, term: &str) -> String {
        if self.0.is_empty() {
            self.fill();
        }
        term.chars().map(|letter| self.letter(letter)).collect()
    }

    fn letter(&self, letter: char) -> String {
        const COMBINING: &str = r"[\u{300}-\u{36f}]*";
        match self.0.get(&letter) {
            Some(variants) => format!("[{letter}{variants}]{COMBINING}"),
            None => regex::escape(&letter.to_string()),
        }
    }

    fn fill(&mut self) {
        for variant in ('\u{C0}'..='\u{24F}').chain('\u{1E00}'..='\u{1EFF}') {
            let mut base = None;
            decompose_canonical(variant, |part| base = base.or(Some(part)));
            if let Some(base) = base.filter(char::is_ascii_alphabetic) {
                self.0.entry(base.to_ascii_lowercase()).or_default().push(variant);
            }
        }
    }
}

/// Lower case, without diacritics.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfd().filter(|c| !is_combining_mark(*c)).collect::<String>().to_lowercase().nfc().collect()
}

/// Without a plural's `s`, so that "recipes" finds "recipe"; what is left still begins the word.
fn singular(word: &str) -> &str {
    if word.len() > 3 && !word.ends_with("ss") {
        word.strip_suffix('s').unwrap_or(word)
    } else {
        word
    }
}

/// Whether the letter belongs to a script that parts words with spaces.
fn is_spaced(c: char) -> bool {
    let unspaced = matches!(c, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}'
        | '\u{1780}'..='\u{17FF}' | '\u{2E80}'..='\u{A4CF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}');
    !unspaced && (c.is_alphanumeric() || is_combining_mark(c))
}
