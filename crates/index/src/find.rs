//! Ranked finding: the notes that match words best, each with its best passage.

use std::time::{Duration, Instant};

use protocol::{ChangeSet, NotePath, Passage};
use vault::Vault;

use crate::asked::Asked;
use crate::notes::Notes;
use crate::reading::{NoteText, Reading};
use crate::score::{Match, Score, weight};
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

/// Finds the notes that match `query` best. A word also finds longer words that begin with it; a
/// `"phrase"` has to be there as it stands, and what is `-excluded` must not. Case and diacritics do
/// not matter. Notes with all words come before notes with some; then a title counts more than a
/// heading, a heading more than text; a rare word more than a common one; neighbours more than words
/// apart; a short note more than a long one.
pub fn find(
    vault: &Vault,
    overlay: &ChangeSet,
    query: &str,
    limit: u16,
    deadline: Duration,
) -> Result<Ranked, SearchError> {
    let deadline = Instant::now() + deadline;
    let asked =
        Asked::parse(query).ok_or_else(|| SearchError::NoWords { query: query.to_owned() })?;
    let notes = Notes::list(vault, overlay, |_| true)?;
    let looked = notes.look(deadline, |path, bytes| {
        let found = Match::of(&asked, &note(path, bytes))?;
        Some((path.clone(), found))
    });
    let having = |term: usize| looked.found.iter().filter(|(_, found)| found.has(term)).count();
    let weights: Vec<f64> =
        (0..asked.len()).map(|term| weight(notes.len(), having(term))).collect();
    let total =
        looked.found.iter().fold(0_u32, |sum, (_, found)| sum.saturating_add(found.passages));
    let count = u32::try_from(looked.found.len()).unwrap_or(u32::MAX);
    let mut scored: Vec<(Score, NotePath)> =
        looked.found.into_iter().map(|(path, found)| (found.score(&weights), path)).collect();
    // The sort is stable: equals stay in the order of their paths.
    scored.sort_by(|(a, _), (b, _)| a.best_first(b));
    let cut = match (looked.timed_out, scored.len() > usize::from(limit)) {
        (true, _) => Some(Cut::Time),
        (false, true) => Some(Cut::Results),
        (false, false) => None,
    };
    let best = scored.iter().take(usize::from(limit)).filter_map(|(_, path)| {
        notes.look_at(path, |path, bytes| {
            Some(Reading::of(&asked, &note(path, bytes))?.best_passage(&weights))
        })
    });
    Ok(Ranked { passages: best.collect(), total, notes: count, cut })
}

fn note<'a>(path: &'a NotePath, bytes: &'a [u8]) -> NoteText<'a> {
    NoteText { key: 0, path, aliases: &[], text: String::from_utf8_lossy(bytes) }
}
