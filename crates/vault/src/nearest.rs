//! Which notes a name that is not there may have meant.

use std::collections::BTreeSet;

use protocol::NotePath;

use crate::fold::fold;
use crate::{EntryKind, Listing};

/// How many notes are offered.
const OFFERED: usize = 3;

/// Below this share of common letter pairs two names have nothing to do with each other.
const SIMILAR: f64 = 0.4;

/// The notes whose titles are most like the asked one, most similar first.
pub(crate) fn nearest(listing: &Listing, asked: &NotePath) -> Vec<NotePath> {
    let wanted = pairs(asked.title());
    let notes = listing.entries.iter().filter(|entry| entry.kind == EntryKind::Note);
    let mut scored: Vec<(f64, &NotePath)> = notes
        .map(|entry| (similarity(&wanted, &pairs(entry.path.title())), &entry.path))
        .filter(|(score, _)| *score >= SIMILAR)
        .collect();
    scored.sort_by(|(a, at), (b, bt)| b.total_cmp(a).then_with(|| at.cmp(bt)));
    scored.into_iter().take(OFFERED).map(|(_, path)| path.clone()).collect()
}

/// Pairs of neighbouring letters, with the ends marked so that first letters count.
fn pairs(title: &str) -> BTreeSet<(char, char)> {
    let letters: Vec<char> = format!(" {} ", fold(title)).chars().collect();
    letters.iter().copied().zip(letters.iter().copied().skip(1)).collect()
}

/// The Sørensen–Dice coefficient: 1 for the same pairs, 0 for none in common.
#[expect(clippy::cast_precision_loss, reason = "a name has at most some hundred letters")]
fn similarity(a: &BTreeSet<(char, char)>, b: &BTreeSet<(char, char)>) -> f64 {
    let common = a.intersection(b).count();
    2.0 * common as f64 / (a.len() + b.len()).max(1) as f64
}
