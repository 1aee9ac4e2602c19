//! Searching a view: long runs of text at a time, no file opened.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use protocol::{ChangeSet, NotePath, Seen};
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
    /// A note, and where it is seen.
    Note(Held<'a>, NotePath),
    /// A note as a plan makes it.
    Planned(NotePath, &'a [u8]),
}

/// What is looked for, and by whom.
struct Asked<'a> {
    view: &'a View,
    vault: &'a Vault,
    lines: &'a Lines,
    query: &'a Query,
}

/// Looks at every note whose path is `wanted`, as it would be if the plan were carried out.
pub(super) fn sweep(
    view: &View,
    vault: &Vault,
    overlay: &ChangeSet,
    wanted: impl Fn(&NotePath) -> bool,
    lines: &Lines,
    deadline: Instant,
    query: &Query,
) -> Looked<NoteHits> {
    // A note that the plan touches is looked at by itself.
    let is_touched = |path: &NotePath| match overlay.seen_from(path) {
        Some(seen) => seen != *path || matches!(overlay.seen_at(path), Seen::Planned(_)),
        None => true,
    };
    let in_run = |path: &NotePath| wanted(path) && (overlay.is_empty() || !is_touched(path));
    let mut pieces = Vec::new();
    if lines.spans_notes() {
        pieces.extend(view.runs(RUN, in_run).into_iter().map(Piece::Run));
        let singles = view.singles(in_run).into_iter();
        pieces.extend(singles.map(|held| Piece::Note(held, held.path().clone())));
    } else {
        let notes = view.all().filter(|held| held.kind() == EntryKind::Note && in_run(held.path()));
        pieces.extend(notes.map(|held| Piece::Note(held, held.path().clone())));
    }
    pieces.extend(planned(view, overlay, wanted));
    let asked = Asked { view, vault, lines, query };
    let batch = if lines.spans_notes() { 1 } else { 64 };
    let looked = parallel::look_by(batch, &pieces, Some(deadline), |piece| Some(asked.look(piece)));
    Looked { found: looked.found.into_iter().flatten().collect(), timed_out: looked.timed_out }
}

/// The notes that the plan makes, rewrites or moves.
fn planned<'a>(
    view: &'a View,
    overlay: &'a ChangeSet,
    wanted: impl Fn(&NotePath) -> bool,
) -> Vec<Piece<'a>> {
    if overlay.is_empty() {
        return Vec::new();
    }
    let written: BTreeMap<NotePath, &[u8]> = overlay.written().into_iter().collect();
    let moved = view.all().filter(|held| held.kind() == EntryKind::Note).filter_map(|held| {
        let seen = overlay.seen_from(held.path())?;
        let is_written = written.contains_key(&seen);
        (seen != *held.path() && !is_written).then_some(Piece::Note(held, seen))
    });
    let mut pieces: Vec<Piece<'a>> = moved.collect();
    pieces.extend(written.into_iter().map(|(path, bytes)| Piece::Planned(path, bytes)));
    pieces.retain(|piece| match piece {
        Piece::Run(_) => true,
        Piece::Note(_, path) | Piece::Planned(path, _) => path.is_markdown() && wanted(path),
    });
    pieces
}

impl Asked<'_> {
    fn look(&self, piece: &Piece<'_>) -> Vec<NoteHits> {
        match piece {
            Piece::Run(rows) => self.in_run(rows.clone()),
            Piece::Note(held, seen) => {
                let is_shown = self.vault.shows(held.path(), held.text());
                let found = is_shown
                    .then(|| walk::in_note(seen, held.text(), self.lines, self.query))
                    .flatten();
                found.into_iter().collect()
            }
            Piece::Planned(path, bytes) => {
                walk::in_note(path, bytes, self.lines, self.query).into_iter().collect()
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
        hits(&row.path, text, &places, self.query)
    }
}

fn breaks(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}
