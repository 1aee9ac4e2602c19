//! Ranked finding: the notes that match words best, each with its best passage.

mod fallback;
mod filter;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use protocol::{ChangeSet, NotePath, Passage};
use vault::Vault;

pub use filter::NoteFilter;

use crate::error::shorten_pattern;
use crate::fulltext::note_matches::{SearchableNote, first_passage};
use crate::fulltext::state::FulltextState;
use crate::fulltext::{RankedCandidates, rerank};
use crate::metadata::queries::VisibleView;
use crate::query::ParsedQuery;
use crate::view::{IndexView, ViewEntry};
use crate::{CutReason, Index, SearchError};

/// Passages, best first, at most one a note.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankedPassages {
    /// The best ones, at most `limit`.
    pub passages: Vec<Passage>,
    /// How many notes match.
    pub notes: u32,
    /// Why `passages` does not show every note.
    pub cut: Option<CutReason>,
}

impl Index {
    /// Finds the notes that match `query` best, of those that `vault` shows and that `narrow`
    /// accepts. A word also finds longer words that begin with it; a `"phrase"` has to be there
    /// literally, and `-excluded` words must not. Case and diacritics do not matter. Notes with all
    /// words come before notes with some; then a title counts more than a heading, a heading more
    /// than text; a rare word more than a common one; adjacent words more than words apart; a short
    /// note more than a long one.
    ///
    /// Without a query all notes that `narrow` accepts are found, in the order of their paths, each
    /// with its first paragraph.
    ///
    /// Until the index is ready the notes themselves are read, which takes longer; aliases are not
    /// known then, and a `narrow` with more than a folder finds nothing. Nor does one without a
    /// query.
    pub fn find(
        &self,
        vault: &Vault,
        plan: &ChangeSet,
        query: &str,
        filter: &NoteFilter,
        limit: u16,
        deadline: Duration,
    ) -> Result<RankedPassages, SearchError> {
        let deadline = Instant::now() + deadline;
        if query.trim().is_empty() && *filter != NoteFilter::default() {
            return Ok(self.list_filtered(vault, plan, filter, limit));
        }
        let asked = ParsedQuery::parse(query)
            .ok_or_else(|| SearchError::NoWords { query: shorten_pattern(query) })?;
        let Some(view) = self.view() else {
            return fallback::search_vault(vault, plan, &asked, filter, limit, deadline);
        };
        let view = view.planned(plan, vault);
        let shown = VisibleView { view: &view, vault };
        let found = SearchScope { shown: &shown, allowed: filter.matching_notes(&shown) };
        match view.fulltext().filter(|ranking| ranking.covers_most()) {
            Some(ranking) => found.by_fulltext(ranking, &asked, limit),
            None => Ok(found.by_reading(&asked, limit, deadline)),
        }
    }

    /// The notes that `narrow` lets in, whatever their words.
    fn list_filtered(
        &self,
        vault: &Vault,
        plan: &ChangeSet,
        filter: &NoteFilter,
        limit: u16,
    ) -> RankedPassages {
        let Some(view) = self.view() else {
            return RankedPassages { cut: Some(CutReason::Time), ..RankedPassages::default() };
        };
        let view = view.planned(plan, vault);
        let shown = VisibleView { view: &view, vault };
        SearchScope { shown: &shown, allowed: filter.matching_notes(&shown) }.by_path(limit)
    }
}

/// The notes that may be found.
struct SearchScope<'a> {
    shown: &'a VisibleView<'a>,
    /// The notes that pass the filters other than the folder; all notes with `None`.
    allowed: Option<BTreeSet<NotePath>>,
}

/// A note and the data to read its text with.
struct EntryWithAliases<'a> {
    held: ViewEntry<'a>,
    key: u64,
    aliases: Vec<String>,
}

impl<'a> EntryWithAliases<'a> {
    fn new(entry: ViewEntry<'a>, key: u64) -> Self {
        let aliases = entry.aliases();
        Self { held: entry, key, aliases }
    }

    fn searchable_note(&self) -> SearchableNote<'_> {
        SearchableNote {
            key: self.key,
            path: self.held.path(),
            aliases: self.aliases.as_slice().into(),
            text: String::from_utf8_lossy(self.held.text()),
        }
    }
}

impl<'a> SearchScope<'a> {
    fn includes(&self, entry: &ViewEntry<'_>) -> bool {
        let is_allowed = self.allowed.as_ref().is_none_or(|all| all.contains(entry.path()));
        is_allowed && entry.is_note() && self.shown.shows(entry)
    }

    /// The best notes of the ranking, and of those that it does not hold.
    fn by_fulltext(
        &self,
        fitting: &FulltextState,
        query: &ParsedQuery,
        limit: u16,
    ) -> Result<RankedPassages, SearchError> {
        let view: &IndexView = self.shown.view;
        let at = |row: usize| view.entry_at(row).filter(|held| self.includes(held));
        // Only notes are in the ranking. Where none is kept back they need not be looked at one by
        // one; those that are read are in any case.
        let is_open = self.allowed.is_none() && self.shown.vault.shows_all();
        let place = |key: u64| {
            let row = fitting.row(key)?;
            let stored = usize::try_from(row).ok()?;
            let may_be = if is_open { view.is_current_row(stored) } else { at(stored).is_some() };
            may_be.then_some(u64::from(row))
        };
        let most = query.candidates_for(usize::from(limit));
        let candidates = fitting
            .fulltext()
            .candidates(query, most, &place)
            .map_err(|error| SearchError::Ranking { why: error.to_string() })?;
        let worth = candidates.worth_reading(usize::from(limit)).iter();
        let known = worth
            .filter_map(|row| Some(EntryWithAliases::new(at(usize::try_from(*row).ok()?)?, *row)));
        let known: Vec<EntryWithAliases<'_>> = known.collect();
        let unranked = fitting.unindexed().iter().filter_map(|row| at(*row));
        let fresh = unranked.chain(view.fresh().filter(|held| self.includes(held)));
        let (fresh, lacking): (Vec<_>, Vec<_>) = fresh.partition(|held| held.may_match(query));
        let candidates = RankedCandidates { notes: candidates.notes + lacking.len(), ..candidates };
        let fresh: Vec<EntryWithAliases<'_>> =
            fresh.into_iter().map(|held| EntryWithAliases::new(held, u64::MAX)).collect();
        let texts: Vec<SearchableNote<'_>> =
            known.iter().map(EntryWithAliases::searchable_note).collect();
        let new: Vec<SearchableNote<'_>> =
            fresh.iter().map(EntryWithAliases::searchable_note).collect();
        let (passages, matching) = rerank(query, &candidates, &texts, &new, usize::from(limit));
        let notes = u32::try_from(candidates.found + matching).unwrap_or(u32::MAX);
        Ok(RankedPassages { cut: cut_by_limit(&passages, notes), passages, notes })
    }

    /// The same with no ranking: all texts are read.
    fn by_reading(&self, query: &ParsedQuery, limit: u16, deadline: Instant) -> RankedPassages {
        let notes = self.shown.view.all().filter(|held| self.includes(held));
        let notes: Vec<ViewEntry<'a>> = notes.collect();
        fallback::search_texts(&notes, query, limit, deadline, |held, look| {
            look(&EntryWithAliases::new(*held, 0).searchable_note())
        })
    }

    /// All of them, in the order of their paths.
    fn by_path(&self, limit: u16) -> RankedPassages {
        let mut held: Vec<ViewEntry<'a>> =
            self.shown.view.all().filter(|held| self.includes(held)).collect();
        held.sort_by(|a, b| a.path().cmp(b.path()));
        let notes = u32::try_from(held.len()).unwrap_or(u32::MAX);
        held.truncate(usize::from(limit));
        let passages: Vec<Passage> = held
            .into_iter()
            .map(|held| first_passage(&EntryWithAliases::new(held, 0).searchable_note()))
            .collect();
        RankedPassages { cut: cut_by_limit(&passages, notes), passages, notes }
    }
}

fn cut_by_limit(passages: &[Passage], notes: u32) -> Option<CutReason> {
    let is_all = u32::try_from(passages.len()).is_ok_and(|shown| shown >= notes);
    (!is_all).then_some(CutReason::Results)
}
