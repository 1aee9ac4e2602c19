//! Making a snapshot of all files, with as little reading as can be.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use vault::{Entry, Stamp};

use super::{Eye, Held, View};
use crate::parallel;
use crate::snapshot::{Looked, Part, Row, Snapshot, SnapshotWriter};

/// So many files are looked at before they are written: what is held in memory meanwhile.
const PORTION: usize = 512;

/// What goes into the snapshot of one file.
enum Kept<'a> {
    Row(&'a Snapshot, &'a Row),
    Looked(Looked),
}

/// Writes a snapshot of `files`, which are all files sorted by path: what `before` knows by the same
/// stamp is copied, all others are looked at. `told` hears how many are done. `None` when `stop` was
/// set.
pub(crate) fn gather(
    dir: &Path,
    eye: &Eye<'_>,
    before: Option<&View>,
    files: &[(Entry, Stamp)],
    stop: &AtomicBool,
    told: impl Fn(usize),
) -> io::Result<Option<Snapshot>> {
    let mut writer = SnapshotWriter::begin(dir, Part::Whole)?;
    let same_rules = before.is_some_and(|before| before.snapshot().rules() == eye.rules_hash());
    let may_hold = |held: &Held<'_>| {
        same_rules || (eye.may_hold(held.path()) && eye.may_hold_text(held.text()))
    };
    for (number, portion) in files.chunks(PORTION).enumerate() {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        told(number * PORTION);
        let looked = parallel::look(portion, None, |(entry, stamp)| {
            let known = before.and_then(|before| before.get(&entry.path));
            match known.filter(|known| known.stamp() == Some(*stamp)) {
                Some(held) if !may_hold(&held) => None,
                Some(Held::Stored(snapshot, row)) => Some(Kept::Row(snapshot, row)),
                Some(Held::Fresh(fresh)) => Some(Kept::Looked(fresh.looked.clone())),
                None => eye.look(entry, *stamp).map(Kept::Looked),
            }
        });
        for kept in looked.found {
            match kept {
                Kept::Row(snapshot, row) => writer.keep(snapshot, row)?,
                Kept::Looked(looked) => writer.add(&looked)?,
            }
        }
    }
    writer.finish(eye.rules_hash(), 0).map(Some)
}
