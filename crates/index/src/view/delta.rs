//! The changes since a snapshot, kept over a restart without rewriting all of it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{FileScanner, IndexView, ScanOutcome, ViewEntry};
use crate::snapshot::{NoteSnapshot, ScannedFile, SnapshotPart, SnapshotWriter};

/// The last view that was kept in `dir`; `None` when there is none.
pub(crate) fn load_delta(dir: &Path) -> Option<IndexView> {
    let whole = Arc::new(NoteSnapshot::open(dir, SnapshotPart::Whole)?);
    let view = IndexView::new(Arc::clone(&whole));
    let later = NoteSnapshot::open(dir, SnapshotPart::Later);
    let fits = |later: &NoteSnapshot| {
        later.base_generation() == whole.generation() && later.rules() == whole.rules()
    };
    let Some(later) = later.filter(fits) else { return Some(view) };
    let changes = later.rows().iter().map(|row| {
        let held = ViewEntry::Stored(&later, row);
        if row.is_gone {
            return (row.path.clone(), ScanOutcome::Gone);
        }
        let (text, facts) = (held.text().to_vec(), later.encoded_metadata(row).to_vec());
        let (entry, stamp, by_text) = (held.entry(), row.stamp, row.text_privacy);
        let looked = ScannedFile { entry, stamp, text, metadata: facts, text_privacy: by_text };
        (row.path.clone(), ScanOutcome::Held(looked))
    });
    Some(view.with_changes(changes))
}

/// Stores the differences from the view's snapshot; of private notes only the hashes that identify
/// them.
pub(crate) fn save_delta(
    dir: &Path,
    scanner: &FileScanner<'_>,
    view: &IndexView,
) -> io::Result<()> {
    scanner.save_private_cache(dir, view.private.values())?;
    let mut writer = SnapshotWriter::begin(dir, SnapshotPart::Later)?;
    // Sorted by path, as every snapshot: removed and fresh files.
    let rows = view.snapshot.rows().iter().enumerate();
    let removed = rows.filter(|(at, _)| view.excluded_rows.contains(*at)).map(|(_, row)| &row.path);
    let mut gone = removed.filter(|path| !view.fresh.contains(*path)).peekable();
    for fresh in view.each_fresh() {
        let path = &fresh.scanned.entry.path;
        while let Some(before) = gone.next_if(|gone| *gone < path) {
            writer.add_gone(before);
        }
        writer.add(&fresh.scanned)?;
    }
    gone.for_each(|path| writer.add_gone(path));
    writer.finish(view.snapshot.rules(), view.snapshot.generation()).map(drop)
}
