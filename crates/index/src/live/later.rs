//! What has changed since a snapshot, kept over a restart without writing all of it anew.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{Eye, Held, Now, View};
use crate::snapshot::{Looked, Part, Snapshot, SnapshotWriter};

/// The last view that was kept in `dir`; `None` when there is none.
pub(crate) fn kept(dir: &Path) -> Option<View> {
    let whole = Arc::new(Snapshot::open(dir, Part::Whole)?);
    let view = View::new(Arc::clone(&whole));
    let later = Snapshot::open(dir, Part::Later);
    let fits =
        |later: &Snapshot| later.added_to() == whole.generation() && later.rules() == whole.rules();
    let Some(later) = later.filter(fits) else { return Some(view) };
    let changes = later.rows().iter().map(|row| {
        let held = Held::Stored(&later, row);
        if row.is_gone {
            return (row.path.clone(), Now::Gone);
        }
        let (text, facts) = (held.text().to_vec(), later.encoded_facts(row).to_vec());
        let (entry, stamp, by_text) = (held.entry(), row.stamp, row.by_text);
        let looked = Looked { entry, stamp, text, facts, by_text };
        (row.path.clone(), Now::Held(looked))
    });
    Some(view.with(changes))
}

/// Keeps what is not as in the view's snapshot; nothing of what is private but how to know it again.
pub(crate) fn keep(dir: &Path, eye: &Eye<'_>, view: &View) -> io::Result<()> {
    eye.keep_withheld(dir, view.private.values())?;
    let mut writer = SnapshotWriter::begin(dir, Part::Later)?;
    // Sorted by path, as every snapshot: what is gone and what is fresh.
    let rows = view.snapshot.rows().iter().enumerate();
    let dead = rows.filter(|(at, _)| view.dead.contains(*at)).map(|(_, row)| &row.path);
    let mut gone = dead.filter(|path| !view.fresh.contains(*path)).peekable();
    for fresh in view.each_fresh() {
        let path = &fresh.looked.entry.path;
        while let Some(before) = gone.next_if(|gone| *gone < path) {
            writer.add_gone(before);
        }
        writer.add(&fresh.looked)?;
    }
    gone.for_each(|path| writer.add_gone(path));
    writer.finish(view.snapshot.rules(), view.snapshot.generation()).map(drop)
}
