//! Searching a view: long runs of text at a time, no file opened.

use std::ops::Range;
use std::time::Instant;

use protocol::NotePath;
use vault::{EntryKind, Vault};

use super::lines::{LINES_A_NOTE, OneByOne, Place, Places};
use super::{Hit, Lines, Matching, Query, hits};
use crate::breaks::breaks;
use crate::live::{Held, View};
use crate::parallel;
use crate::snapshot::{Row, unmarked};

/// How much text is searched at a time: between two runs the clock is looked at.
const RUN: usize = 1 << 20;

/// So many notes are searched one by one between two looks at the clock.
const FEW: usize = 16;

/// One piece of work.
enum Piece<'p, 'a> {
    /// Neighbouring notes of plain text.
    Run(Range<usize>),
    /// Notes that are searched one by one.
    Notes(&'p [Held<'a>]),
}

/// A note with lines that match.
struct Matched<'a> {
    held: Held<'a>,
    places: Places,
    hits: Hits,
}

/// Where the hits of a note are.
enum Hits {
    /// To be made; the places do not tell their lines.
    InRun,
    /// To be made.
    InNote,
    /// Made while its text was there.
    Made(Vec<Hit>),
}

/// What is looked for, and by whom.
pub(super) struct Asked<'a> {
    pub(super) view: &'a View,
    pub(super) vault: &'a Vault,
    pub(super) lines: &'a Lines,
    pub(super) query: &'a Query,
}

impl<'a> Asked<'a> {
    /// Looks at every note whose path is `wanted`. All lines that match are counted; of those that
    /// are shown alone hits are made.
    pub(super) fn sweep(&self, wanted: impl Fn(&NotePath) -> bool, deadline: Instant) -> Matching {
        let (runs, singles) = if self.lines.spans_notes() {
            (self.view.runs(RUN, &wanted), self.view.singles(&wanted))
        } else {
            let notes = self.view.all().filter(|held| held.kind() == EntryKind::Note);
            (Vec::new(), notes.filter(|held| wanted(held.path())).collect())
        };
        let singles = singles.chunks(FEW).map(Piece::Notes);
        let pieces: Vec<Piece<'_, 'a>> = runs.into_iter().map(Piece::Run).chain(singles).collect();
        let looked =
            parallel::look_by(1, &pieces, Some(deadline), |piece| Some(self.look(piece, deadline)));
        let mut notes: Vec<Matched<'a>> = looked.found.into_iter().flatten().collect();
        notes.sort_by(|a, b| a.held.path().cmp(b.held.path()));
        let (files, total) = (notes.len(), notes.iter().map(|note| note.places.total));
        let total = total.fold(0, u32::saturating_add);
        notes.truncate(self.shown(&notes));
        let hits = parallel::look(&notes, None, |note| Some(self.hits(note))).found;
        let hits = hits.into_iter().flatten().collect();
        Matching { hits, total, files, timed_out: looked.timed_out }
    }

    fn look(&self, piece: &Piece<'_, 'a>, deadline: Instant) -> Vec<Matched<'a>> {
        match piece {
            Piece::Run(rows) => self.in_run(rows.clone(), deadline),
            Piece::Notes(notes) => {
                let mut searcher = self.lines.one_by_one();
                let notes = notes.iter().filter_map(|held| self.in_note(*held, &mut searcher));
                notes.filter(|note| note.places.total > 0).collect()
            }
        }
    }

    fn in_note(&self, held: Held<'a>, searcher: &mut OneByOne<'_>) -> Option<Matched<'a>> {
        if held.is_unread() {
            // It may be gone by now.
            let bytes = self.vault.bytes(held.path()).ok()?;
            let text = unmarked(&bytes);
            let places = searcher.places(&text);
            let hits = hits(held.path(), &text, &places.first, self.lines, self.query);
            return Some(Matched { held, places, hits: Hits::Made(hits) });
        }
        self.view.is_shown(self.vault, &held).then(|| {
            let places = searcher.places(&unmarked(held.text()));
            Matched { held, places, hits: Hits::InNote }
        })
    }

    /// The notes with hits in neighbouring ones: each line that matches is put to the note it
    /// stands in.
    fn in_run(&self, rows: Range<usize>, deadline: Instant) -> Vec<Matched<'a>> {
        let snapshot = self.view.snapshot();
        let mut rest = snapshot.rows().get(rows.clone()).unwrap_or_default().iter();
        let mut found: Vec<(&Row, Places)> = Vec::new();
        let (mut row, mut start, mut end) = (None, 0, 0);
        self.lines.scan(snapshot.run(rows), deadline, |line| {
            while line.start >= end {
                let Some(next) = rest.next() else { return };
                (row, start, end) = (Some(next), end, end + next.length());
            }
            let Some(row) = row else { return };
            if found.last().is_none_or(|(last, _)| !std::ptr::eq(*last, row)) {
                found.push((row, Places::default()));
            }
            if let Some((_, places)) = found.last_mut() {
                places.total = places.total.saturating_add(1);
                if places.first.len() < LINES_A_NOTE {
                    let span = line.start - start..line.end - start;
                    places.first.push(Place { line: 0, span });
                }
            }
        });
        found.retain(|(row, _)| self.view.is_shown(self.vault, &Held::Stored(snapshot, row)));
        let held = |row| Held::Stored(snapshot, row);
        let matched = found.into_iter().map(|(row, places)| (held(row), places));
        matched.map(|(held, places)| Matched { held, places, hits: Hits::InRun }).collect()
    }

    /// How many of these notes have the hits that are shown.
    fn shown(&self, notes: &[Matched<'_>]) -> usize {
        let mut lines = 0;
        let shown = notes.iter().take_while(|note| {
            let is_shown = lines < usize::from(self.query.max_results);
            lines += note.places.first.len();
            is_shown
        });
        shown.count()
    }

    fn hits(&self, note: &Matched<'_>) -> Vec<Hit> {
        let (path, text) = (note.held.path(), note.held.text());
        match &note.hits {
            Hits::Made(hits) => return hits.clone(),
            Hits::InNote => {
                return hits(path, &unmarked(text), &note.places.first, self.lines, self.query);
            }
            Hits::InRun => {}
        }
        let (mut places, mut at, mut line) = (note.places.first.clone(), 0, 1);
        for place in &mut places {
            line += breaks(text.get(at..place.span.start).unwrap_or_default()) as u64;
            (at, place.line) = (place.span.start, line);
            // The line end that was lent to the text is not its own.
            place.span.end = place.span.end.min(text.len());
        }
        hits(path, text, &places, self.lines, self.query)
    }
}
