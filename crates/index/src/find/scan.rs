//! Finding by reading every text: where there is no ranking yet.

use std::borrow::Cow;
use std::time::Instant;

use protocol::ChangeSet;
use vault::Vault;

use super::{Narrow, Ranked};
use crate::asked::Asked;
use crate::notes::Notes;
use crate::parallel;
use crate::reading::{NoteText, Reading};
use crate::score::{Match, Score, weight};
use crate::snapshot::unmarked;
use crate::{Cut, SearchError};

/// Among the notes themselves.
pub(super) fn files(
    vault: &Vault,
    plan: &ChangeSet,
    asked: &Asked,
    narrow: &Narrow,
    limit: u16,
    deadline: Instant,
) -> Result<Ranked, SearchError> {
    if narrow.needs_index() {
        return Ok(Ranked { cut: Some(Cut::Time), ..Ranked::default() });
    }
    let notes = Notes::list(vault, plan, |path| narrow.takes(path), deadline)?;
    let found = texts(notes.paths(), asked, limit, deadline, |path, look| {
        notes.look_at(path, |path, bytes| {
            let bytes = unmarked(bytes);
            let text = String::from_utf8_lossy(&bytes);
            look(&NoteText { key: 0, path, aliases: Cow::Borrowed(&[]), text });
            Some(())
        });
    });
    let cut = if notes.is_cut() { Some(Cut::Time) } else { found.cut };
    Ok(Ranked { cut, ..found })
}

/// Among `notes`; `read` shows the text of one, if it can be read.
pub(super) fn texts<N: Sync>(
    notes: &[N],
    asked: &Asked,
    limit: u16,
    deadline: Instant,
    read: impl Fn(&N, &mut dyn FnMut(&NoteText<'_>)) + Sync,
) -> Ranked {
    let numbered: Vec<(usize, &N)> = notes.iter().enumerate().collect();
    let looked = parallel::look(&numbered, Some(deadline), |(at, note)| {
        let mut found = None;
        read(note, &mut |text| found = Match::of(asked, text));
        Some((*at, found?))
    });
    let having = |term: usize| looked.found.iter().filter(|(_, found)| found.has(term)).count();
    let weights: Vec<f64> =
        (0..asked.len()).map(|term| weight(notes.len(), having(term))).collect();
    let count = u32::try_from(looked.found.len()).unwrap_or(u32::MAX);
    let mut scored: Vec<(Score, usize)> =
        looked.found.into_iter().map(|(at, found)| (found.score(&weights), at)).collect();
    // The sort is stable: equals stay in the order of their paths.
    scored.sort_by(|(a, _), (b, _)| a.best_first(b));
    let cut = match (looked.timed_out, scored.len() > usize::from(limit)) {
        (true, _) => Some(Cut::Time),
        (false, true) => Some(Cut::Results),
        (false, false) => None,
    };
    let best = scored.iter().take(usize::from(limit));
    let best = best.filter_map(|(_, at)| {
        let mut passage = None;
        read(notes.get(*at)?, &mut |text| {
            passage = Reading::of(asked, text).map(|reading| reading.best_passage(&weights));
        });
        passage
    });
    Ranked { passages: best.collect(), notes: count, cut }
}
