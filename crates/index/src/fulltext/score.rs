//! How well a note matches a query, as a number.

use std::cmp::Ordering;

use crate::fulltext::blocks::PassageBlockKind;
use crate::fulltext::note_matches::{NoteMatches, SearchableNote};
use crate::query::ParsedQuery;
use crate::query::matcher::count_adjacent_terms;

/// The length in bytes of a note that is neither long nor short.
const MEDIUM_LENGTH: usize = 2_000;

/// The occurrences of the query's terms in one note.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NoteMatch {
    /// How many of its passages matched, the title among them.
    pub(crate) passages: u32,
    /// One entry for each term of the query, in its order.
    tallies: Vec<TermTally>,
    /// Places where two terms stand side by side in the query's order.
    pairs: u32,
    /// The note's length, as a share of a middling one's.
    length: f64,
}

/// One term's findings in one note. A longer word counts by the share of it that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct TermTally {
    /// How much of the best name it is; 0 when it is in none.
    pub(crate) in_name: f64,
    /// Whether it is in a heading.
    pub(crate) in_heading: bool,
    /// How often it is in the text.
    pub(crate) in_text: f64,
}

/// A note's place among others: notes with all terms come before those with some.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NoteScore {
    /// Whether the note has all terms.
    pub(crate) has_all: bool,
    value: f64,
}

impl TermTally {
    pub(crate) fn is_found(self) -> bool {
        self.in_name > 0.0 || self.in_text > 0.0
    }

    /// The score in a note of `length`: a name counts more than a heading, a heading more than
    /// text, the first occurrence more than the next, and a long note less.
    pub(crate) fn value(self, length: f64) -> f64 {
        let title = if self.in_name > 0.0 { 2.0 + 5.0 * self.in_name.powi(2) } else { 0.0 };
        let heading = if self.in_heading { 1.5 } else { 0.0 };
        title + heading + self.in_text / (self.in_text + 1.5 * (0.7 + 0.3 * length))
    }
}

impl NoteScore {
    /// Of `terms` terms `found` were found, worth `value` together.
    pub(crate) fn new(found: usize, terms: usize, value: f64) -> Self {
        let coverage = ratio(found, terms);
        Self { has_all: found == terms, value: value * coverage * coverage }
    }

    /// Orders scores so that the higher one comes first.
    pub(crate) fn best_first(&self, other: &Self) -> Ordering {
        other.has_all.cmp(&self.has_all).then_with(|| other.value.total_cmp(&self.value))
    }
}

impl NoteMatch {
    /// Reads a note; `None` when the query does not find it.
    pub(crate) fn match_note(query: &ParsedQuery, note: &SearchableNote<'_>) -> Option<Self> {
        let reading = NoteMatches::find(query, note)?;
        let mut tallies = vec![TermTally::default(); query.len()];
        let (mut passages, mut pairs_in_names) = (0, 0);
        for (name, marks) in &reading.names {
            passages |= u32::from(!marks.is_empty());
            pairs_in_names = count_adjacent_terms(name, marks).max(pairs_in_names);
            let asked_for = marks.iter().map(|mark| byte_count(mark.end - mark.start) * mark.share);
            let of_name = (asked_for.sum::<f64>() / byte_count(name.len())).min(1.0);
            for mark in marks {
                if let Some(tally) = tallies.get_mut(mark.term) {
                    tally.in_name = tally.in_name.max(of_name);
                }
            }
        }
        for block in &reading.blocks {
            let marks = reading.marks_in(&block.span);
            passages += u32::from(!marks.is_empty());
            for mark in marks {
                if let Some(tally) = tallies.get_mut(mark.term) {
                    tally.in_text += mark.share;
                    tally.in_heading |= block.kind == PassageBlockKind::Heading;
                }
            }
        }
        let pairs = 2 * pairs_in_names + count_adjacent_terms(&note.text, &reading.marks);
        Some(Self { passages, tallies, pairs, length: ratio(note.text.len(), MEDIUM_LENGTH) })
    }

    /// Whether the note has the term.
    pub(crate) fn has_term(&self, term: usize) -> bool {
        self.tallies.get(term).is_some_and(|tally| tally.is_found())
    }

    /// The note's place. `weights` has one weight for each term.
    pub(crate) fn score(&self, weights: &[f64]) -> NoteScore {
        let found = self.tallies.iter().filter(|tally| tally.is_found()).count();
        let pairs = f64::from(self.pairs);
        let neighbours = 1.0 + pairs / (pairs + 2.0);
        let values = self.tallies.iter().zip(weights);
        let value = values.map(|(tally, weight)| weight * tally.value(self.length)).sum::<f64>();
        NoteScore::new(found, self.tallies.len(), value * neighbours)
    }
}

/// A term's weight: rarer ones weigh more. The inverse document frequency,
/// `ln(1 + notes / notes with the term)`.
pub(crate) fn inverse_document_frequency(notes: usize, having: usize) -> f64 {
    ratio(notes, having).ln_1p()
}

fn byte_count(count: usize) -> f64 {
    ratio(count, 1)
}

#[expect(clippy::cast_precision_loss, reason = "counts of notes and letters are far below 2^52")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
