//! Ranked finding: the notes that match words best, each with its best passage.

use std::time::{Duration, Instant};

use protocol::{ChangeSet, Passage};
use vault::Vault;

use crate::notes::Notes;
use crate::reading::Reading;
use crate::score::{Match, weights};
use crate::words::Words;
use crate::{Cut, SearchError};

/// Passages, best first, at most one a note.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranked {
    /// The best ones, at most `limit`.
    pub passages: Vec<Passage>,
    /// How many passages (titles, headings, paragraphs) matched at all.
    pub total: u32,
    /// How many notes they are in.
    pub notes: u32,
    /// Why `passages` does not show every note.
    pub cut: Option<Cut>,
}

/// Finds the notes that match the words of `query` best. A word also finds longer words that begin
/// with it; case and diacritics do not matter. A title counts more than a heading, a heading more
/// than text; a rare word more than a common one; all words more than some; neighbours more than
/// words apart.
pub fn find(
    vault: &Vault,
    overlay: &ChangeSet,
    query: &str,
    limit: u16,
    deadline: Duration,
) -> Result<Ranked, SearchError> {
    let deadline = Instant::now() + deadline;
    let words =
        Words::parse(query).ok_or_else(|| SearchError::NoWords { query: query.to_owned() })?;
    let notes = Notes::list(vault, overlay, |_| true)?;
    let looked = notes.look(deadline, |path, bytes| Match::of(&words, path, bytes));
    let weights = weights(&words, &looked.found, notes.len());
    let total = looked.found.iter().fold(0_u32, |sum, found| sum.saturating_add(found.passages));
    let count = u32::try_from(looked.found.len()).unwrap_or(u32::MAX);
    let mut scored: Vec<(f64, Match)> =
        looked.found.into_iter().map(|found| (found.score(&weights), found)).collect();
    // The sort is stable: equals stay in the order of their paths.
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let cut = match (looked.timed_out, scored.len() > usize::from(limit)) {
        (true, _) => Some(Cut::Time),
        (false, true) => Some(Cut::Results),
        (false, false) => None,
    };
    let best = scored.iter().take(usize::from(limit)).filter_map(|(_, found)| {
        notes.look_at(&found.path, |path, bytes| {
            Some(Reading::of(&words, path, bytes).best_passage(path, &weights))
        })
    });
    Ok(Ranked { passages: best.collect(), total, notes: count, cut })
}
