//! The order of the best notes, told by their texts, and the passage of each.

use protocol::Passage;

use super::candidates::RankedCandidates;
use crate::fulltext::note_matches::{NoteMatches, SearchableNote};
use crate::fulltext::score::{NoteMatch, NoteScore, inverse_document_frequency};
use crate::query::ParsedQuery;
use crate::vault_scan::parallel;

/// The number of bytes that are read on one thread before others would have begun.
const SINGLE_THREAD_BYTES: usize = 1_000_000;

/// Passages of at most `limit` notes, best first, from the texts of `candidates` and from `fresh`
/// notes that no ranking holds yet, both by one rule; and how many of the fresh ones match.
pub fn rerank(
    query: &ParsedQuery,
    candidates: &RankedCandidates,
    texts: &[SearchableNote<'_>],
    fresh: &[SearchableNote<'_>],
    limit: usize,
) -> (Vec<Passage>, usize) {
    let (found, new) = (match_notes(query, texts), match_notes(query, fresh));
    let notes = candidates.notes + fresh.len();
    let having = |(term, having): (usize, &usize)| {
        having + new.iter().filter(|(_, found)| found.has_term(term)).count()
    };
    let weights: Vec<f64> = candidates
        .document_frequencies
        .iter()
        .enumerate()
        .map(|term| inverse_document_frequency(notes, having(term)))
        .collect();
    let mut scored: Vec<(NoteScore, &SearchableNote<'_>)> =
        found.iter().chain(&new).map(|(note, found)| (found.score(&weights), *note)).collect();
    scored.sort_by(|(a, one), (b, other)| a.best_first(b).then_with(|| one.path.cmp(other.path)));
    let passage = |(_, note): &(NoteScore, &SearchableNote<'_>)| {
        Some(NoteMatches::find(query, note)?.best_passage(&weights))
    };
    (scored.iter().take(limit).filter_map(passage).collect(), new.len())
}

fn match_notes<'a>(
    query: &ParsedQuery,
    notes: &'a [SearchableNote<'a>],
) -> Vec<(&'a SearchableNote<'a>, NoteMatch)> {
    let find = |note: &&'a SearchableNote<'a>| Some((*note, NoteMatch::match_note(query, note)?));
    let notes: Vec<&SearchableNote<'_>> = notes.iter().collect();
    if notes.iter().map(|note| note.text.len()).sum::<usize>() < SINGLE_THREAD_BYTES {
        return notes.iter().filter_map(find).collect();
    }
    parallel::map_parallel(&notes, None, find).found
}
