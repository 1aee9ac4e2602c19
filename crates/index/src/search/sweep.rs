//! Searching a view: long runs of text at a time, no file opened.

use std::ops::Range;
use std::time::Instant;

use protocol::NotePath;
use vault::{EntryKind, Vault};

use super::lines::{LINES_A_NOTE, Place, Places};
use super::{Lines, NoteHits, Query, hits, walk};
use crate::live::{Held, View};
use crate::parallel::{self, Looked};
use crate::snapshot::{Row, Snapshot};

/// How much text is searched at a time: between two runs the clock is looked at.
const RUN: usize = 1 << 20;

/// One piece of work.
enum Piece<'a> {
    /// Neighbouring notes of plain text.
    Run(Range<usize>),
    Note(Held<'a>),
    /// A note whose text has to be read first.
    Unread(&'a NotePath),
}

impl<'a> Piece<'a> {
    fn of(held: Held<'a>) -> Self {
        match held {
            Held::Fresh(fresh) if held.is_unread() => Self::Unread(&fresh.looked.entry.path),
            held => Self::Note(held),
        }
    }
}

/// What is looked for, and by whom.
pub(super) struct Asked<'a> {
    pub(super) view: &'a View,
    pub(super) vault: &'a Vault,
    pub(super) lines: &'a Lines,
    pub(super) query: &'a Query,
}

impl Asked<'_> {
    /// Looks at every note whose path is `wanted`.
    pub(super) fn sweep(
        &self,
        wanted: impl Fn(&NotePath) -> bool,
        deadline: Instant,
    ) -> Looked<NoteHits> {
        let (pieces, batch): (Vec<Piece<'_>>, usize) = if self.lines.spans_notes() {
            let runs = self.view.runs(RUN, &wanted).into_iter().map(Piece::Run);
            (runs.chain(self.view.singles(&wanted).into_iter().map(Piece::of)).collect(), 1)
        } else {
            let notes = self.view.all().filter(|held| held.kind() == EntryKind::Note);
            (notes.filter(|held| wanted(held.path())).map(Piece::of).collect(), 64)
        };
        let looked =
            parallel::look_by(batch, &pieces, Some(deadline), |piece| Some(self.look(piece)));
        Looked { found: looked.found.into_iter().flatten().collect(), timed_out: looked.timed_out }
    }

    fn look(&self, piece: &Piece<'_>) -> Vec<NoteHits> {
        match piece {
            Piece::Run(rows) => self.in_run(rows.clone()),
            Piece::Note(held) if self.vault.shows(held.path(), held.text()) => {
                let found = walk::in_note(held.path(), held.text(), self.lines, self.query);
                found.into_iter().collect()
            }
            Piece::Note(_) => Vec::new(),
            // It may be gone by now.
            Piece::Unread(path) => {
                let bytes = self.vault.bytes(path).ok();
                let found =
                    bytes.and_then(|bytes| walk::in_note(path, &bytes, self.lines, self.query));
                found.into_iter().collect()
            }
        }
    }

    /// The hits in neighbouring notes: each line that matches is put to the note it stands in.
    fn in_run(&self, rows: Range<usize>) -> Vec<NoteHits> {
        let snapshot = self.view.snapshot();
        let mut rest = snapshot.rows().get(rows.clone()).unwrap_or_default().iter();
        let mut found: Vec<(&Row, usize, Places)> = Vec::new();
        let (mut row, mut start, mut end) = (None, 0, 0);
        self.lines.scan(snapshot.run(rows), |line| {
            while line.start >= end {
                let Some(next) = rest.next() else { return };
                (row, start, end) = (Some(next), end, end + next.length());
            }
            let Some(row) = row else { return };
            if found.last().is_none_or(|(last, ..)| !std::ptr::eq(*last, row)) {
                found.push((row, start, Places::default()));
            }
            if let Some((.., places)) = found.last_mut() {
                places.total = places.total.saturating_add(1);
                if places.first.len() < LINES_A_NOTE {
                    let span = line.start - start..line.end - start;
                    places.first.push(Place { line: 0, span });
                }
            }
        });
        let found = found.into_iter();
        found.filter_map(|(row, _, places)| self.of_row(snapshot, row, places)).collect()
    }

    fn of_row(&self, snapshot: &Snapshot, row: &Row, mut places: Places) -> Option<NoteHits> {
        let text = snapshot.text(row);
        if !self.vault.shows(&row.path, text) {
            return None;
        }
        let (mut at, mut line) = (0, 1);
        for place in &mut places.first {
            line += breaks(text.get(at..place.span.start).unwrap_or_default());
            (at, place.line) = (place.span.start, line);
            // The line end that was lent to the text is not its own.
            place.span.end = place.span.end.min(text.len());
        }
        hits(&row.path, text, &places, self.lines, self.query)
    }
}

fn breaks(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}
