//! Finding by reading every text: where there is no ranking yet.

use std::borrow::Cow;
use std::time::Instant;

use protocol::ChangeSet;
use vault::Vault;

use super::{NoteFilter, RankedPassages};
use crate::fulltext::note_matches::{NoteMatches, SearchableNote};
use crate::fulltext::score::{NoteMatch, NoteScore, inverse_document_frequency};
use crate::query::ParsedQuery;
use crate::snapshot::to_utf8;
use crate::vault_scan::all_notes::AllNotes;
use crate::vault_scan::parallel;
use crate::{CutReason, SearchError};

/// Among the notes themselves.
pub(super) fn search_vault(
    vault: &Vault,
    plan: &ChangeSet,
    query: &ParsedQuery,
    filter: &NoteFilter,
    limit: u16,
    deadline: Instant,
) -> Result<RankedPassages, SearchError> {
    if filter.needs_index() {
        return Ok(RankedPassages { cut: Some(CutReason::Time), ..RankedPassages::default() });
    }
    let notes = AllNotes::list(vault, plan, |path| filter.includes_path(path), deadline)?;
    let found = search_texts(notes.paths(), query, limit, deadline, |path, look| {
        notes.read_one(path, |path, bytes| {
            let bytes = to_utf8(bytes);
            let text = String::from_utf8_lossy(&bytes);
            look(&SearchableNote { key: 0, path, aliases: Cow::Borrowed(&[]), text });
            Some(())
        });
    });
    let cut = if notes.is_cut() { Some(CutReason::Time) } else { found.cut };
    Ok(RankedPassages { cut, ..found })
}

/// Among `notes`; `read` shows the text of one, if it can be read.
pub(super) fn search_texts<N: Sync>(
    notes: &[N],
    query: &ParsedQuery,
    limit: u16,
    deadline: Instant,
    read: impl Fn(&N, &mut dyn FnMut(&SearchableNote<'_>)) + Sync,
) -> RankedPassages {
    let numbered: Vec<(usize, &N)> = notes.iter().enumerate().collect();
    let looked = parallel::map_parallel(&numbered, Some(deadline), |(at, note)| {
        let mut found = None;
        read(note, &mut |text| found = NoteMatch::match_note(query, text));
        Some((*at, found?))
    });
    let having =
        |term: usize| looked.found.iter().filter(|(_, found)| found.has_term(term)).count();
    let weights: Vec<f64> = (0..query.len())
        .map(|term| inverse_document_frequency(notes.len(), having(term)))
        .collect();
    let count = u32::try_from(looked.found.len()).unwrap_or(u32::MAX);
    let mut scored: Vec<(NoteScore, usize)> =
        looked.found.into_iter().map(|(at, found)| (found.score(&weights), at)).collect();
    // The sort is stable: equals stay in the order of their paths.
    scored.sort_by(|(a, _), (b, _)| a.best_first(b));
    let cut = match (looked.timed_out, scored.len() > usize::from(limit)) {
        (true, _) => Some(CutReason::Time),
        (false, true) => Some(CutReason::Results),
        (false, false) => None,
    };
    let best = scored.iter().take(usize::from(limit));
    let best = best.filter_map(|(_, at)| {
        let mut passage = None;
        read(notes.get(*at)?, &mut |text| {
            passage = NoteMatches::find(query, text).map(|reading| reading.best_passage(&weights));
        });
        passage
    });
    RankedPassages { passages: best.collect(), notes: count, cut }
}
