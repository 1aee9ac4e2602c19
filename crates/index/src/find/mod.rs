//! Ranked finding: the notes that match words best, each with its best passage.

mod narrow;
mod scan;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use protocol::{ChangeSet, NotePath, Passage};
use vault::Vault;

pub use narrow::Narrow;

use crate::asked::Asked;
use crate::known::Shown;
use crate::live::{Held, View};
use crate::ranked::{Candidates, rank};
use crate::ranking::Fitting;
use crate::reading::{NoteText, first_passage};
use crate::{Cut, Index, SearchError};

/// Passages, best first, at most one a note.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranked {
    /// The best ones, at most `limit`.
    pub passages: Vec<Passage>,
    /// How many notes match.
    pub notes: u32,
    /// Why `passages` does not show every note.
    pub cut: Option<Cut>,
}

impl Index {
    /// Finds the notes that match `query` best, of those that `vault` shows and that `narrow` lets
    /// in. A word also finds longer words that begin with it; a `"phrase"` has to be there as it
    /// stands, and what is `-excluded` must not. Case and diacritics do not matter. Notes with all
    /// words come before notes with some; then a title counts more than a heading, a heading more
    /// than text; a rare word more than a common one; neighbours more than words apart; a short
    /// note more than a long one.
    ///
    /// Without a query all notes that `narrow` lets in are found, in the order of their paths, each
    /// with its first paragraph.
    ///
    /// Until the index stands the notes themselves are read, which takes longer; other names of
    /// notes are not known then, and a `narrow` that asks for more than a folder finds nothing.
    /// Nor does one without a query.
    pub fn find(
        &self,
        vault: &Vault,
        plan: &ChangeSet,
        query: &str,
        narrow: &Narrow,
        limit: u16,
        deadline: Duration,
    ) -> Result<Ranked, SearchError> {
        let deadline = Instant::now() + deadline;
        if query.trim().is_empty() && *narrow != Narrow::default() {
            return Ok(self.having_all(vault, plan, narrow, limit));
        }
        let asked =
            Asked::parse(query).ok_or_else(|| SearchError::NoWords { query: query.to_owned() })?;
        let Some(view) = self.view() else {
            return scan::files(vault, plan, &asked, narrow, limit, deadline);
        };
        let view = view.planned(plan, vault);
        let shown = Shown { view: &view, vault };
        let found = Found { shown: &shown, allowed: narrow.allowed(&shown) };
        match view.ranking().filter(|ranking| ranking.covers_most()) {
            Some(ranking) => found.by(ranking, &asked, limit),
            None => Ok(found.by_reading(&asked, limit, deadline)),
        }
    }

    /// The notes that `narrow` lets in, whatever their words.
    fn having_all(&self, vault: &Vault, plan: &ChangeSet, narrow: &Narrow, limit: u16) -> Ranked {
        let Some(view) = self.view() else {
            return Ranked { cut: Some(Cut::Time), ..Ranked::default() };
        };
        let view = view.planned(plan, vault);
        let shown = Shown { view: &view, vault };
        Found { shown: &shown, allowed: narrow.allowed(&shown) }.by_path(limit)
    }
}

/// The notes that may be found.
struct Found<'a> {
    shown: &'a Shown<'a>,
    /// All that `narrow` asks for beside the folder; all notes with `None`.
    allowed: Option<BTreeSet<NotePath>>,
}

/// A note and what its text is read with.
struct Read<'a> {
    held: Held<'a>,
    key: u64,
    aliases: Vec<String>,
}

impl<'a> Read<'a> {
    fn of(held: Held<'a>, key: u64) -> Self {
        let aliases = held.aliases();
        Self { held, key, aliases }
    }

    fn text(&self) -> NoteText<'_> {
        NoteText {
            key: self.key,
            path: self.held.path(),
            aliases: self.aliases.as_slice().into(),
            text: String::from_utf8_lossy(self.held.text()),
        }
    }
}

impl<'a> Found<'a> {
    fn may_be(&self, held: &Held<'_>) -> bool {
        let is_allowed = self.allowed.as_ref().is_none_or(|all| all.contains(held.path()));
        is_allowed && held.is_note() && self.shown.shows(held)
    }

    /// The best of those in the ranking, and of what it does not hold.
    fn by(&self, fitting: &Fitting, asked: &Asked, limit: u16) -> Result<Ranked, SearchError> {
        let view: &View = self.shown.view;
        let at = |row: usize| view.row(row).filter(|held| self.may_be(held));
        // Only notes are in the ranking. Where none is kept back they need not be looked at one by
        // one; those that are read are in any case.
        let is_open = self.allowed.is_none() && self.shown.vault.shows_all();
        let place = |key: u64| {
            let row = fitting.row(key)?;
            let stored = usize::try_from(row).ok()?;
            let may_be = if is_open { view.counts(stored) } else { at(stored).is_some() };
            may_be.then_some(u64::from(row))
        };
        let most = asked.candidates_for(usize::from(limit));
        let candidates = fitting
            .ranking()
            .candidates(asked, most, &place)
            .map_err(|error| SearchError::Ranking { why: error.to_string() })?;
        let worth = candidates.worth_reading(usize::from(limit)).iter();
        let known = worth.filter_map(|row| Some(Read::of(at(usize::try_from(*row).ok()?)?, *row)));
        let known: Vec<Read<'_>> = known.collect();
        let unranked = fitting.unranked().iter().filter_map(|row| at(*row));
        let fresh = unranked.chain(view.fresh().filter(|held| self.may_be(held)));
        let (fresh, lacking): (Vec<_>, Vec<_>) = fresh.partition(|held| held.may_be_found(asked));
        let candidates = Candidates { notes: candidates.notes + lacking.len(), ..candidates };
        let fresh: Vec<Read<'_>> = fresh.into_iter().map(|held| Read::of(held, u64::MAX)).collect();
        let texts: Vec<NoteText<'_>> = known.iter().map(Read::text).collect();
        let new: Vec<NoteText<'_>> = fresh.iter().map(Read::text).collect();
        let (passages, matching) = rank(asked, &candidates, &texts, &new, usize::from(limit));
        let notes = u32::try_from(candidates.found + matching).unwrap_or(u32::MAX);
        Ok(Ranked { cut: cut_by_limit(&passages, notes), passages, notes })
    }

    /// The same with no ranking: all texts are read.
    fn by_reading(&self, asked: &Asked, limit: u16, deadline: Instant) -> Ranked {
        let notes = self.shown.view.all().filter(|held| self.may_be(held));
        let notes: Vec<Held<'a>> = notes.collect();
        scan::texts(&notes, asked, limit, deadline, |held, look| look(&Read::of(*held, 0).text()))
    }

    /// All of them, in the order of their paths.
    fn by_path(&self, limit: u16) -> Ranked {
        let mut held: Vec<Held<'a>> =
            self.shown.view.all().filter(|held| self.may_be(held)).collect();
        held.sort_by(|a, b| a.path().cmp(b.path()));
        let notes = u32::try_from(held.len()).unwrap_or(u32::MAX);
        held.truncate(usize::from(limit));
        let passages: Vec<Passage> =
            held.into_iter().map(|held| first_passage(&Read::of(held, 0).text())).collect();
        Ranked { cut: cut_by_limit(&passages, notes), passages, notes }
    }
}

fn cut_by_limit(passages: &[Passage], notes: u32) -> Option<Cut> {
    let is_all = u32::try_from(passages.len()).is_ok_and(|shown| shown >= notes);
    (!is_all).then_some(Cut::Results)
}
