//! How well a note matches the words of a query, as a number.

use protocol::NotePath;

use crate::passage::Kind;
use crate::reading::Reading;
use crate::words::{Words, pairs};

/// What one note has of the query.
#[derive(Debug)]
pub(crate) struct Match {
    /// The note.
    pub(crate) path: NotePath,
    /// How many of its passages matched, the title among them.
    pub(crate) passages: u32,
    /// One for each word.
    tallies: Vec<Tally>,
    /// The share of the title that is words of the query.
    title_share: f64,
    /// Places where two words of the query stand side by side in its order.
    pairs: u32,
}

/// One word's findings in one note.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    in_title: bool,
    in_heading: bool,
    in_text: u32,
}

impl Tally {
    const fn is_found(self) -> bool {
        self.in_title || self.in_text > 0
    }
}

impl Match {
    /// Reads a note; `None` when it has none of the words.
    pub(crate) fn of(words: &Words, path: &NotePath, bytes: &[u8]) -> Option<Self> {
        let reading = Reading::of(words, path, bytes);
        if reading.title.is_empty() && reading.marks.is_empty() {
            return None;
        }
        let mut tallies = vec![Tally::default(); words.len()];
        let mut tally = |term: usize, found: fn(&mut Tally)| {
            if let Some(tally) = tallies.get_mut(term) {
                found(tally);
            }
        };
        for mark in &reading.title {
            tally(mark.term, |tally| tally.in_title = true);
        }
        let mut passages = u32::from(!reading.title.is_empty());
        for block in &reading.blocks {
            let marks = reading.within(&block.span);
            passages += u32::from(!marks.is_empty());
            for mark in marks {
                tally(mark.term, |tally| tally.in_text += 1);
                if block.kind == Kind::Heading {
                    tally(mark.term, |tally| tally.in_heading = true);
                }
            }
        }
        let marked: usize = reading.title.iter().map(|mark| mark.matched).sum();
        Some(Self {
            path: path.clone(),
            passages,
            tallies,
            title_share: share(marked, path.title().len()),
            pairs: 2 * pairs(path.title(), &reading.title) + pairs(&reading.text, &reading.marks),
        })
    }

    /// Higher is better. `weights` has one weight for each word.
    pub(crate) fn score(&self, weights: &[f64]) -> f64 {
        let word = |(tally, weight): (&Tally, &f64)| {
            let title = if tally.in_title { 2.0 + 5.0 * self.title_share.powi(2) } else { 0.0 };
            let heading = if tally.in_heading { 1.5 } else { 0.0 };
            let often = f64::from(tally.in_text);
            weight * (title + heading + often / (often + 1.5))
        };
        let found = self.tallies.iter().filter(|tally| tally.is_found()).count();
        let coverage = share(found, self.tallies.len());
        let pairs = f64::from(self.pairs);
        let neighbours = 1.0 + pairs / (pairs + 2.0);
        self.tallies.iter().zip(weights).map(word).sum::<f64>() * coverage * coverage * neighbours
    }
}

/// A weight for each word: rarer ones weigh more. The inverse document frequency,
/// `ln(1 + notes / notes with the word)`.
pub(crate) fn weights(words: &Words, found: &[Match], notes: usize) -> Vec<f64> {
    let having = |term: usize| {
        let tallies = found.iter().filter_map(|found| found.tallies.get(term));
        tallies.filter(|tally| tally.is_found()).count()
    };
    (0..words.len()).map(|term| share(notes, having(term)).ln_1p()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of notes and letters are far below 2^52")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
