//! Making a snapshot of all files, with as little reading as can be.
#![expect(clippy::disallowed_methods, reason = "its folder is one of the cache directory")]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use protocol::{NotePath, Privacy};
use vault::{Entry, Stamp};

use super::{Eye, Held, Now, Private, View};
use crate::parallel;
use crate::snapshot::{Looked, Part, Row, Snapshot, SnapshotWriter};

/// So many files are looked at before they are written: what is held in memory meanwhile.
const PORTION: usize = 512;

/// What goes into the snapshot of one file.
enum Kept<'a> {
    Row(&'a Snapshot, &'a Row, Option<Privacy>),
    Looked(Looked),
    Private(Private),
}

/// Writes a snapshot of `files`, which are all files sorted by path: what `before` knows by the same
/// stamp is copied, all others are looked at. `told` hears how many are done. `None` when `stop` was
/// set. Nothing of what is private is left in the other files of `dir`; `unrank` is called where the
/// ranking has something of it.
pub(crate) fn gather(
    dir: &Path,
    eye: &Eye<'_>,
    before: Option<&View>,
    files: &[(Entry, Stamp)],
    stop: &AtomicBool,
    told: impl Fn(usize),
    unrank: impl FnOnce() -> io::Result<()>,
) -> io::Result<Option<View>> {
    let mut writer = SnapshotWriter::begin(dir, Part::Whole)?;
    let same_rules = before.is_some_and(|before| before.snapshot().rules() == eye.rules_hash());
    // What other rules said of a text does not count.
    let judged = |held: &Held<'_>| match held.by_text() {
        by_text if same_rules => by_text,
        _ if !eye.may_hold(held.path()) => Some(Privacy::Never),
        _ => held.is_note().then(|| eye.judged(held.text())),
    };
    let mut private = BTreeMap::new();
    for (number, portion) in files.chunks(PORTION).enumerate() {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        told(number * PORTION);
        let looked = parallel::look(portion, None, |(entry, stamp)| {
            let same = before.filter(|before| before.stamp(&entry.path) == Some(*stamp));
            let hidden = || Private { entry: entry.clone(), stamp: Some(*stamp) };
            // The text of a canvas or a copy is not held, so it cannot be judged anew.
            let is_kept =
                |held: &Held<'_>| same_rules || held.is_note() || !eye.looks_into(held.path());
            let held = same.and_then(|before| before.get(&entry.path)).filter(is_kept);
            match held.map(|held| (held, judged(&held))) {
                Some((_, Some(Privacy::Never))) => Some(Kept::Private(hidden())),
                Some((Held::Stored(snapshot, row), by_text)) => {
                    Some(Kept::Row(snapshot, row, by_text))
                }
                Some((Held::Fresh(fresh), by_text)) => {
                    Some(Kept::Looked(Looked { by_text, ..fresh.looked.clone() }))
                }
                None if same_rules && same.is_some() => Some(Kept::Private(hidden())),
                None => match eye.look(entry, *stamp) {
                    Now::Held(looked) => Some(Kept::Looked(looked)),
                    Now::Private(private) => Some(Kept::Private(private)),
                    Now::Gone => None,
                },
            }
        });
        for kept in looked.found {
            match kept {
                Kept::Row(snapshot, row, by_text) => writer.keep(snapshot, row, by_text)?,
                Kept::Looked(looked) => writer.add(&looked)?,
                Kept::Private(one) => drop(private.insert(one.entry.path.clone(), one)),
            }
        }
    }
    let was_known =
        |path: &NotePath| before.is_some_and(|before| before.snapshot.find(path).is_some());
    if before.is_some() && (!same_rules || private.keys().any(was_known)) {
        unrank()?;
    }
    let snapshot = writer.finish(eye.rules_hash(), 0)?;
    match fs::remove_file(dir.join(Part::Later.name())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    eye.keep_withheld(dir, private.values())?;
    Ok(Some(View::new(Arc::new(snapshot)).hiding(private)))
}
