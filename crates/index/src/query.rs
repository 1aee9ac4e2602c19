//! Parses a query: words, phrases and exclusions.

pub(crate) mod matcher;
pub(crate) mod prefix_bloom;

use regex::bytes::{Regex, RegexBuilder};

use crate::fulltext::tokenizer::{WordToken, WordTokens, fold_into, folded};

/// Only so many bytes at the beginning of a query are read; a longer one is no question.
const MAX_QUERY_BYTES: usize = 8 << 10;

/// At most this many words and phrases of a query count, and as many exclusions; more only blur it.
const MAX_TERMS: usize = 16;

/// Only the beginning of a longer phrase is searched: all of it may be compared with each word of a
/// note.
const MAX_PHRASE_LENGTH: usize = 64;

/// Words too common to tell notes apart. They count when a query has no others, and in phrases.
const STOP_WORDS: [&str; 32] = [
    "a", "about", "all", "an", "and", "are", "at", "by", "did", "do", "does", "for", "from",
    "have", "how", "i", "in", "is", "it", "me", "my", "of", "on", "or", "our", "the", "to", "was",
    "what", "where", "which", "with",
];

/// A parsed query: `tea garden "green tea" -mint -"black tea"`.
///
/// A note matches when it has every phrase, none of the exclusions and, if there are plain words,
/// one of them. A plain word also matches longer words that begin with it; in phrases and
/// exclusions words are whole. Adjacent signs of scripts without spaces are searched together.
#[derive(Debug, Clone)]
pub struct ParsedQuery {
    /// The terms to find, in the order of the query, without repetition.
    pub(crate) terms: Vec<QueryTerm>,
    /// The exclusions.
    pub(crate) excluded: Vec<TermPattern>,
    /// Finds the beginnings of all that begins with a letter of ASCII, if anything does.
    pub(crate) ascii: Option<Regex>,
}

/// One thing to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryTerm {
    /// The pattern to find.
    pub(crate) pattern: TermPattern,
    /// Whether a note without it is not found at all: it was in quotes.
    pub(crate) is_required: bool,
}

/// Folded words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TermPattern {
    /// A word and all longer ones that begin with it.
    Beginning(String),
    /// Whole words or signs, one after the other; at least one.
    Sequence(Vec<String>),
}

impl ParsedQuery {
    /// Takes a query apart; `None` when it names nothing to find.
    pub fn parse(query: &str) -> Option<Self> {
        let (mut plain, mut phrases, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
        let mut rest = query.get(..query.floor_char_boundary(MAX_QUERY_BYTES)).unwrap_or(query);
        while let Some(piece) = next_piece(&mut rest) {
            match piece {
                QueryPiece::Plain(text) => plain.extend(word_patterns(text)),
                QueryPiece::Phrase(text) => phrases.extend(phrase_pattern(text)),
                QueryPiece::Excluded(text) => excluded.extend(phrase_pattern(text)),
            }
        }
        let is_common = |word: &TermPattern| matches!(word, TermPattern::Beginning(word) if STOP_WORDS.contains(&word.as_str()));
        if !(phrases.is_empty() && plain.iter().all(is_common)) {
            plain.retain(|word| !is_common(word));
        }
        let required =
            phrases.into_iter().map(|spelled| QueryTerm { pattern: spelled, is_required: true });
        let plain = plain
            .into_iter()
            .map(|spelled| QueryTerm { pattern: strip_plural(spelled), is_required: false });
        let mut terms: Vec<QueryTerm> = Vec::new();
        for term in required.take(MAX_TERMS).chain(plain) {
            if terms.len() < MAX_TERMS && !terms.contains(&term) {
                terms.push(term);
            }
        }
        excluded.truncate(MAX_TERMS);
        (!terms.is_empty()).then(|| Self::from_terms(terms, excluded))
    }

    fn from_terms(terms: Vec<QueryTerm>, excluded: Vec<TermPattern>) -> Self {
        let spelled = terms.iter().map(|term| &term.pattern).chain(&excluded);
        let first = spelled.filter_map(TermPattern::first_word).filter(|word| word.is_ascii());
        // Folded words are letters and digits alone, which mean themselves.
        let pattern = first.collect::<Vec<_>>().join("|");
        let ascii = RegexBuilder::new(&pattern).case_insensitive(true).unicode(false).build();
        Self { terms, excluded, ascii: ascii.ok().filter(|_| !pattern.is_empty()) }
    }

    /// How many candidates to order by their texts so that `limit` of them are the best: more for
    /// several words, because only the text shows whether they are adjacent.
    #[must_use]
    pub fn candidates_for(&self, limit: usize) -> usize {
        if self.len() > 1 { (4 * limit).max(100) } else { 2 * limit + 10 }
    }

    /// How many things there are to find.
    pub(crate) const fn len(&self) -> usize {
        self.terms.len()
    }
}

impl TermPattern {
    fn first_word(&self) -> Option<&str> {
        match self {
            Self::Beginning(word) => Some(word),
            Self::Sequence(units) => units.first().map(String::as_str),
        }
    }

    /// The end of a match that begins with a unit, spelled `folded`, before `rest`; and the share
    /// of the found words that the query names, which is less than 1 for longer words.
    pub(crate) fn match_end(
        &self,
        text: &str,
        token: WordToken,
        folded: &str,
        rest: &WordTokens<'_>,
    ) -> Option<(usize, f64)> {
        match self {
            Self::Beginning(word) => {
                folded.starts_with(word.as_str()).then(|| (token.end, matched_share(word, folded)))
            }
            Self::Sequence(units) => {
                let mut wanted = units.iter();
                if wanted.next()? != folded {
                    return None;
                }
                let (mut last, mut buffer) = (token, String::new());
                let mut rest = rest.clone();
                for wanted in wanted {
                    let next = rest.next().filter(|next| next.position == last.position + 1)?;
                    fold_into(text.get(next.start..next.end)?, &mut buffer);
                    if *wanted != buffer {
                        return None;
                    }
                    last = next;
                }
                Some((last.end, 1.0))
            }
        }
    }
}

/// The share of a longer word that was asked for.
pub(crate) fn matched_share(asked: &str, found: &str) -> f64 {
    let letters = |text: &str| u32::try_from(text.len()).map_or(f64::MAX, f64::from);
    letters(asked) / letters(found).max(1.0)
}

enum QueryPiece<'a> {
    Plain(&'a str),
    Phrase(&'a str),
    Excluded(&'a str),
}

/// Takes the next piece off; a quote that is never closed is not one.
fn next_piece<'a>(rest: &mut &'a str) -> Option<QueryPiece<'a>> {
    let text = rest.trim_start();
    let (bare, is_excluded) = match text.strip_prefix('-') {
        Some(bare) if bare.starts_with(|c: char| c != '-' && !c.is_whitespace()) => (bare, true),
        _ => (text, false),
    };
    let quoted = bare.strip_prefix(['"', '“', '”', '„']);
    let (piece, after) = match quoted.and_then(|inside| inside.split_once(['"', '“', '”'])) {
        Some((inside, after)) if is_excluded => (QueryPiece::Excluded(inside), after),
        Some((inside, after)) => (QueryPiece::Phrase(inside), after),
        None => {
            let inside = |c: char| c.is_whitespace() || (!is_excluded && is_quote(c));
            let end = bare.char_indices().skip(1).find(|(_, c)| inside(*c));
            let (piece, after) = bare.split_at(end.map_or(bare.len(), |(end, _)| end));
            (
                if is_excluded { QueryPiece::Excluded(piece) } else { QueryPiece::Plain(piece) },
                after,
            )
        }
    };
    *rest = after;
    (!text.is_empty()).then_some(piece)
}

const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

/// The words of a piece, one by one; adjacent signs stay together.
fn word_patterns(text: &str) -> Vec<TermPattern> {
    let mut words: Vec<TermPattern> = Vec::new();
    let mut last = None;
    for unit in WordTokens::new(text) {
        let word = folded(text.get(unit.start..unit.end).unwrap_or_default());
        match words.last_mut() {
            Some(TermPattern::Sequence(signs)) if unit.is_sign && last == Some(unit.start) => {
                if signs.len() < MAX_PHRASE_LENGTH {
                    signs.push(word);
                }
            }
            _ if unit.is_sign => words.push(TermPattern::Sequence(vec![word])),
            _ => words.push(TermPattern::Beginning(word)),
        }
        last = Some(unit.end);
    }
    words
}

/// The units of a piece as one sequence, if it has any.
fn phrase_pattern(text: &str) -> Option<TermPattern> {
    let unit = |unit: WordToken| folded(text.get(unit.start..unit.end).unwrap_or_default());
    let units: Vec<String> = WordTokens::new(text).take(MAX_PHRASE_LENGTH).map(unit).collect();
    (!units.is_empty()).then_some(TermPattern::Sequence(units))
}

/// Without a plural's `s`, so that "recipes" finds "recipe"; the rest still begins the word.
fn strip_plural(spelled: TermPattern) -> TermPattern {
    match spelled {
        TermPattern::Beginning(word) if word.len() > 3 && !word.ends_with("ss") => {
            TermPattern::Beginning(word.strip_suffix('s').unwrap_or(&word).to_owned())
        }
        other => other,
    }
}
