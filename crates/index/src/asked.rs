//! What a query asks for: words, phrases and what must not be there.

use regex::bytes::{Regex, RegexBuilder};

use crate::units::{Unit, Units, fold, folded};

/// At most this many words and phrases of a query count, and as many exclusions; more only blur it.
const MOST: usize = 16;

/// Of a longer phrase its beginning is looked for: all of it may be held against each word of a note.
const LONGEST: usize = 64;

/// Words too common to tell notes apart. They count when a query has no others, and in phrases.
const COMMON: [&str; 32] = [
    "a", "about", "all", "an", "and", "are", "at", "by", "did", "do", "does", "for", "from",
    "have", "how", "i", "in", "is", "it", "me", "my", "of", "on", "or", "our", "the", "to", "was",
    "what", "where", "which", "with",
];

/// A query taken apart: `tea garden "green tea" -mint -"black tea"`.
///
/// A note is found when it has every phrase, none of what is excluded and, if there are plain words,
/// one of them. A plain word also finds longer words that begin with it; in phrases and exclusions
/// words are whole. Signs of scripts without spaces that stand together are looked for together.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What to find, in the order of the query, without repetition.
    pub(crate) terms: Vec<Term>,
    /// What must not be there.
    pub(crate) excluded: Vec<Spelled>,
    /// Finds the beginnings of all that begins with a letter of ASCII, if anything does.
    pub(crate) ascii: Option<Regex>,
}

/// One thing to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    /// What it is.
    pub(crate) spelled: Spelled,
    /// Whether a note without it is not found at all: it was in quotes.
    pub(crate) is_required: bool,
}

/// Folded words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Spelled {
    /// A word and all longer ones that begin with it.
    Beginning(String),
    /// Whole words or signs, one after the other; at least one.
    Sequence(Vec<String>),
}

impl Asked {
    /// Takes a query apart; `None` when it names nothing to find.
    pub fn parse(query: &str) -> Option<Self> {
        let (mut plain, mut phrases, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
        let mut rest = query;
        while let Some(piece) = piece(&mut rest) {
            match piece {
                Piece::Plain(text) => plain.extend(words(text)),
                Piece::Phrase(text) => phrases.extend(sequence(text)),
                Piece::Excluded(text) => excluded.extend(sequence(text)),
            }
        }
        let is_common = |word: &Spelled| matches!(word, Spelled::Beginning(word) if COMMON.contains(&word.as_str()));
        if !(phrases.is_empty() && plain.iter().all(is_common)) {
            plain.retain(|word| !is_common(word));
        }
        let required = phrases.into_iter().map(|spelled| Term { spelled, is_required: true });
        let plain = plain
            .into_iter()
            .map(|spelled| Term { spelled: singular(spelled), is_required: false });
        let mut terms: Vec<Term> = Vec::new();
        for term in required.take(MOST).chain(plain) {
            if terms.len() < MOST && !terms.contains(&term) {
                terms.push(term);
            }
        }
        excluded.truncate(MOST);
        (!terms.is_empty()).then(|| Self::of(terms, excluded))
    }

    fn of(terms: Vec<Term>, excluded: Vec<Spelled>) -> Self {
        let spelled = terms.iter().map(|term| &term.spelled).chain(&excluded);
        let first = spelled.filter_map(Spelled::first).filter(|word| word.is_ascii());
        // Folded words are letters and digits alone, which mean themselves.
        let pattern = first.collect::<Vec<_>>().join("|");
        let ascii = RegexBuilder::new(&pattern).case_insensitive(true).unicode(false).build();
        Self { terms, excluded, ascii: ascii.ok().filter(|_| !pattern.is_empty()) }
    }

    /// How many candidates to order by their texts so that `limit` of them are the best: of words
    /// that may stand side by side more, because only a text tells.
    #[must_use]
    pub fn candidates_for(&self, limit: usize) -> usize {
        if self.len() > 1 { (4 * limit).max(100) } else { 2 * limit + 10 }
    }

    /// How many things there are to find.
    pub(crate) const fn len(&self) -> usize {
        self.terms.len()
    }
}

impl Spelled {
    fn first(&self) -> Option<&str> {
        match self {
            Self::Beginning(word) => Some(word),
            Self::Sequence(units) => units.first().map(String::as_str),
        }
    }

    /// Where this ends that begins with a unit, spelled `folded`, before `rest`; and the share of
    /// the words found that was asked for, which is less than 1 for longer words.
    pub(crate) fn ends_at(
        &self,
        text: &str,
        unit: Unit,
        folded: &str,
        rest: &Units<'_>,
    ) -> Option<(usize, f64)> {
        match self {
            Self::Beginning(word) => {
                folded.starts_with(word.as_str()).then(|| (unit.end, share(word, folded)))
            }
            Self::Sequence(units) => {
                let mut wanted = units.iter();
                if wanted.next()? != folded {
                    return None;
                }
                let (mut last, mut buffer) = (unit, String::new());
                let mut rest = rest.clone();
                for wanted in wanted {
                    let next = rest.next().filter(|next| next.position == last.position + 1)?;
                    fold(text.get(next.start..next.end)?, &mut buffer);
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
pub(crate) fn share(asked: &str, found: &str) -> f64 {
    let letters = |text: &str| u32::try_from(text.len()).map_or(f64::MAX, f64::from);
    letters(asked) / letters(found).max(1.0)
}

/// A piece of a query.
enum Piece<'a> {
    Plain(&'a str),
    Phrase(&'a str),
    Excluded(&'a str),
}

/// Takes the next piece off; a quote that is never closed is not one.
fn piece<'a>(rest: &mut &'a str) -> Option<Piece<'a>> {
    let text = rest.trim_start();
    let (bare, is_excluded) = match text.strip_prefix('-') {
        Some(bare) if bare.starts_with(|c: char| c != '-' && !c.is_whitespace()) => (bare, true),
        _ => (text, false),
    };
    let quoted = bare.strip_prefix(['"', '“', '”', '„']);
    let (piece, after) = match quoted.and_then(|inside| inside.split_once(['"', '“', '”'])) {
        Some((inside, after)) if is_excluded => (Piece::Excluded(inside), after),
        Some((inside, after)) => (Piece::Phrase(inside), after),
        None => {
            let inside = |c: char| c.is_whitespace() || (!is_excluded && is_quote(c));
            let end = bare.char_indices().skip(1).find(|(_, c)| inside(*c));
            let (piece, after) = bare.split_at(end.map_or(bare.len(), |(end, _)| end));
            (if is_excluded { Piece::Excluded(piece) } else { Piece::Plain(piece) }, after)
        }
    };
    *rest = after;
    (!text.is_empty()).then_some(piece)
}

const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

/// The words of a piece, each for itself; signs that stand together stay together.
fn words(text: &str) -> Vec<Spelled> {
    let mut words: Vec<Spelled> = Vec::new();
    let mut last = None;
    for unit in Units::of(text) {
        let word = folded(text.get(unit.start..unit.end).unwrap_or_default());
        match words.last_mut() {
            Some(Spelled::Sequence(signs)) if unit.is_sign && last == Some(unit.start) => {
                if signs.len() < LONGEST {
                    signs.push(word);
                }
            }
            _ if unit.is_sign => words.push(Spelled::Sequence(vec![word])),
            _ => words.push(Spelled::Beginning(word)),
        }
        last = Some(unit.end);
    }
    words
}

/// The units of a piece as one sequence, if it has any.
fn sequence(text: &str) -> Option<Spelled> {
    let unit = |unit: Unit| folded(text.get(unit.start..unit.end).unwrap_or_default());
    let units: Vec<String> = Units::of(text).take(LONGEST).map(unit).collect();
    (!units.is_empty()).then_some(Spelled::Sequence(units))
}

/// Without a plural's `s`, so that "recipes" finds "recipe"; what is left still begins the word.
fn singular(spelled: Spelled) -> Spelled {
    match spelled {
        Spelled::Beginning(word) if word.len() > 3 && !word.ends_with("ss") => {
            Spelled::Beginning(word.strip_suffix('s').unwrap_or(&word).to_owned())
        }
        other => other,
    }
}
