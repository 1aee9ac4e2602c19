//! The order of the best notes, told by their texts, and the passage of each.

use protocol::Passage;

use super::Candidates;
use crate::asked::Asked;
use crate::parallel;
use crate::reading::{NoteText, Reading};
use crate::score::{Match, Score, weight};

/// So many bytes are read on one thread before others would have begun.
const ALONE: usize = 1_000_000;

/// Passages of at most `limit` notes, best first, from the texts of `candidates` and from `fresh`
/// notes that no ranking holds yet, both by one rule; and how many of the fresh ones match.
pub fn rank(
    asked: &Asked,
    candidates: &Candidates,
    texts: &[NoteText<'_>],
    fresh: &[NoteText<'_>],
    limit: usize,
) -> (Vec<Passage>, usize) {
    let (found, new) = (matches(asked, texts), matches(asked, fresh));
    let notes = candidates.notes + fresh.len();
    let having = |(term, having): (usize, &usize)| {
        having + new.iter().filter(|(_, found)| found.has(term)).count()
    };
    let weights: Vec<f64> =
        candidates.having.iter().enumerate().map(|term| weight(notes, having(term))).collect();
    let mut scored: Vec<(Score, &NoteText<'_>)> =
        found.iter().chain(&new).map(|(note, found)| (found.score(&weights), *note)).collect();
    scored.sort_by(|(a, one), (b, other)| a.best_first(b).then_with(|| one.path.cmp(other.path)));
    let passage =
        |(_, note): &(Score, &NoteText<'_>)| Some(Reading::of(asked, note)?.best_passage(&weights));
    (scored.iter().take(limit).filter_map(passage).collect(), new.len())
}

fn matches<'a>(asked: &Asked, notes: &'a [NoteText<'a>]) -> Vec<(&'a NoteText<'a>, Match)> {
    let find = |note: &&'a NoteText<'a>| Some((*note, Match::of(asked, note)?));
    let notes: Vec<&NoteText<'_>> = notes.iter().collect();
    if notes.iter().map(|note| note.text.len()).sum::<usize>() < ALONE {
        return notes.iter().filter_map(find).collect();
    }
    parallel::look(&notes, None, find).found
}
