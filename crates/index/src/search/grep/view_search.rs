//! Searching a view: long runs of text at a time, no file opened.

use std::ops::Range;
use std::time::Instant;

use markdown::count_line_breaks;
use protocol::NotePath;
use vault::{EntryKind, Vault};

use super::hits::{GrepMatches, hits};
use super::line_matcher::{LineMatcher, MatchedLine, MatchedLines, NoteSearcher};
use super::query::{GrepHit, GrepQuery};
use crate::snapshot::{SnapshotRow, to_utf8};
use crate::vault_scan::parallel;
use crate::view::{IndexView, ViewEntry};

/// How much text is searched at a time: between two runs the clock is looked at.
const RUN_BYTES: usize = 1 << 20;

/// The number of notes that are searched one by one between two looks at the clock.
const NOTES_PER_CLOCK_CHECK: usize = 16;

/// One piece of work.
enum ViewPiece<'p, 'a> {
    /// Neighbouring notes of plain text.
    Run(Range<usize>),
    /// Notes that are searched one by one.
    Notes(&'p [ViewEntry<'a>]),
}

/// A note with lines that match.
struct ViewMatch<'a> {
    held: ViewEntry<'a>,
    places: MatchedLines,
    hits: HitsLocation,
}

/// Where the hits of a note are.
enum HitsLocation {
    /// To be made; the places do not tell their lines.
    InRun,
    /// To be made.
    InNote,
    /// Made while its text was there.
    Made(Vec<GrepHit>),
}

/// A search over one view.
pub(super) struct ViewSearch<'a> {
    pub(super) view: &'a IndexView,
    pub(super) vault: &'a Vault,
    pub(super) lines: &'a LineMatcher,
    pub(super) query: &'a GrepQuery,
}

impl<'a> ViewSearch<'a> {
    /// Looks at every note whose path is `wanted`. All lines that match are counted; of those that
    /// are shown alone hits are made.
    pub(super) fn search_view(
        &self,
        wanted: impl Fn(&NotePath) -> bool,
        deadline: Instant,
    ) -> GrepMatches {
        let (runs, singles) = if self.lines.can_span_notes() {
            (self.view.runs(RUN_BYTES, &wanted), self.view.single_notes(&wanted))
        } else {
            let notes = self.view.all().filter(|held| held.kind() == EntryKind::Note);
            (Vec::new(), notes.filter(|held| wanted(held.path())).collect())
        };
        let singles = singles.chunks(NOTES_PER_CLOCK_CHECK).map(ViewPiece::Notes);
        let pieces: Vec<ViewPiece<'_, 'a>> =
            runs.into_iter().map(ViewPiece::Run).chain(singles).collect();
        let looked = parallel::map_parallel_in_batches(1, &pieces, Some(deadline), |piece| {
            Some(self.search_piece(piece, deadline))
        });
        let mut notes: Vec<ViewMatch<'a>> = looked.found.into_iter().flatten().collect();
        notes.sort_by(|a, b| a.held.path().cmp(b.held.path()));
        let (files, total) = (notes.len(), notes.iter().map(|note| note.places.total));
        let total = total.fold(0, u32::saturating_add);
        notes.truncate(self.count_shown_notes(&notes));
        let hits = parallel::map_parallel(&notes, None, |note| Some(self.make_hits(note))).found;
        let hits = hits.into_iter().flatten().collect();
        GrepMatches { hits, total, files, timed_out: looked.timed_out }
    }

    fn search_piece(&self, piece: &ViewPiece<'_, 'a>, deadline: Instant) -> Vec<ViewMatch<'a>> {
        match piece {
            ViewPiece::Run(rows) => self.search_run(rows.clone(), deadline),
            ViewPiece::Notes(notes) => {
                let mut searcher = self.lines.note_searcher();
                let notes = notes.iter().filter_map(|held| self.search_note(*held, &mut searcher));
                notes.filter(|note| note.places.total > 0).collect()
            }
        }
    }

    fn search_note(
        &self,
        entry: ViewEntry<'a>,
        searcher: &mut NoteSearcher<'_>,
    ) -> Option<ViewMatch<'a>> {
        if entry.is_unread() {
            // It may be gone by now.
            let bytes = self.vault.read_bytes(entry.path()).ok()?;
            let text = to_utf8(&bytes);
            let places = searcher.find_lines(&text);
            let hits = hits(entry.path(), &text, &places.first, self.lines, self.query);
            return Some(ViewMatch { held: entry, places, hits: HitsLocation::Made(hits) });
        }
        self.view.is_shown(self.vault, &entry).then(|| {
            let places = searcher.find_lines(&to_utf8(entry.text()));
            ViewMatch { held: entry, places, hits: HitsLocation::InNote }
        })
    }

    /// The notes with hits in neighbouring ones: each line that matches is put to the note it
    /// stands in.
    fn search_run(&self, rows: Range<usize>, deadline: Instant) -> Vec<ViewMatch<'a>> {
        let snapshot = self.view.snapshot();
        let mut rest = snapshot.rows().get(rows.clone()).unwrap_or_default().iter();
        let limit = usize::from(self.query.max_per_note);
        let mut found: Vec<(&SnapshotRow, MatchedLines)> = Vec::new();
        let (mut row, mut start, mut end) = (None, 0, 0);
        self.lines.scan_run(snapshot.run_text(rows), deadline, |line| {
            while line.start >= end {
                let Some(next) = rest.next() else { return };
                (row, start, end) = (Some(next), end, end + next.text_length());
            }
            let Some(row) = row else { return };
            if found.last().is_none_or(|(last, _)| !std::ptr::eq(*last, row)) {
                found.push((row, MatchedLines::with_limit(limit)));
            }
            if let Some((_, places)) = found.last_mut() {
                places.add(MatchedLine { line: 0, span: line.start - start..line.end - start });
            }
        });
        found.retain(|(row, _)| self.view.is_shown(self.vault, &ViewEntry::Stored(snapshot, row)));
        let held = |row| ViewEntry::Stored(snapshot, row);
        let matched = found.into_iter().map(|(row, places)| (held(row), places));
        matched
            .map(|(held, places)| ViewMatch { held, places, hits: HitsLocation::InRun })
            .collect()
    }

    /// How many of these notes have the hits that are shown.
    fn count_shown_notes(&self, notes: &[ViewMatch<'_>]) -> usize {
        let mut lines = 0;
        let shown = notes.iter().take_while(|note| {
            let is_shown = lines < usize::from(self.query.max_results);
            lines += note.places.first.len();
            is_shown
        });
        shown.count()
    }

    fn make_hits(&self, note: &ViewMatch<'_>) -> Vec<GrepHit> {
        let (path, text) = (note.held.path(), note.held.text());
        match &note.hits {
            HitsLocation::Made(hits) => return hits.clone(),
            HitsLocation::InNote => {
                return hits(path, &to_utf8(text), &note.places.first, self.lines, self.query);
            }
            HitsLocation::InRun => {}
        }
        let (mut places, mut at, mut line) = (note.places.first.clone(), 0, 1);
        for place in &mut places {
            line += count_line_breaks(text.get(at..place.span.start).unwrap_or_default()) as u64;
            (at, place.line) = (place.span.start, line);
            // The line end that was lent to the text is not its own.
            place.span.end = place.span.end.min(text.len());
        }
        hits(path, text, &places, self.lines, self.query)
    }
}
