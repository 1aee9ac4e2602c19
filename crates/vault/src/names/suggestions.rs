//! Which notes a name that is not there may have meant.

use std::collections::BTreeSet;

use protocol::NotePath;

use crate::names::name_key::name_key;
use crate::{EntryKind, Listing};

/// How many notes are offered.
const MAX_SUGGESTIONS: usize = 3;

/// Below this share of common letter pairs two names have nothing to do with each other.
const MIN_SIMILARITY: f64 = 0.4;

/// The notes whose titles are most like the asked one, most similar first.
pub(crate) fn suggest_notes(listing: &Listing, asked: &NotePath) -> Vec<NotePath> {
    let wanted = letter_bigrams(asked.title());
    let notes = listing.entries.iter().filter(|entry| entry.kind == EntryKind::Note);
    let mut scored: Vec<(f64, &NotePath)> = notes
        .map(|entry| (dice_coefficient(&wanted, &letter_bigrams(entry.path.title())), &entry.path))
        .filter(|(score, _)| *score >= MIN_SIMILARITY)
        .collect();
    scored.sort_by(|(a, at), (b, bt)| b.total_cmp(a).then_with(|| at.cmp(bt)));
    scored.into_iter().take(MAX_SUGGESTIONS).map(|(_, path)| path.clone()).collect()
}

/// Pairs of neighbouring letters, with the ends marked so that first letters count.
fn letter_bigrams(title: &str) -> BTreeSet<(char, char)> {
    let letters: Vec<char> = format!(" {} ", name_key(title)).chars().collect();
    letters.iter().copied().zip(letters.iter().copied().skip(1)).collect()
}

/// The Sørensen–Dice coefficient: 1 for the same pairs, 0 for none in common.
#[expect(clippy::cast_precision_loss, reason = "a name has at most some hundred letters")]
fn dice_coefficient(a: &BTreeSet<(char, char)>, b: &BTreeSet<(char, char)>) -> f64 {
    let common = a.intersection(b).count();
    2.0 * common as f64 / (a.len() + b.len()).max(1) as f64
}
