//! Making a snapshot of all files, with as little reading as can be.
#![expect(clippy::disallowed_methods, reason = "its folder is one of the cache directory")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io};

use protocol::{NotePath, Privacy};
use vault::{Fingerprint, VaultEntry};

use super::{FileScanner, IndexView, PrivateFile, ScanOutcome, ViewEntry};
use crate::snapshot::{NoteSnapshot, ScannedFile, SnapshotPart, SnapshotRow, SnapshotWriter};
use crate::vault_scan::parallel;

/// The number of files that are looked at before they are written: what is held in memory
/// meanwhile.
const FILES_PER_BATCH: usize = 512;

/// The source of one file's row in the snapshot.
enum SnapshotSource<'a> {
    Row(&'a NoteSnapshot, &'a SnapshotRow, Option<Privacy>),
    Looked(ScannedFile),
    Private(PrivateFile),
}

/// Writes a snapshot of `files`, which are all files sorted by path: files that `before` has with
/// the same fingerprint are copied, all others are read. `told` hears how many are done. `None`
/// when `stop` was set. No private text is left in the other files of `dir`; `unrank` is called
/// where the ranking has some of it.
pub(crate) fn build_snapshot(
    dir: &Path,
    scanner: &FileScanner<'_>,
    before: Option<&IndexView>,
    files: &[(VaultEntry, Fingerprint)],
    stop: &AtomicBool,
    told: impl Fn(usize),
    unrank: impl FnOnce() -> io::Result<()>,
) -> io::Result<Option<IndexView>> {
    let mut writer = SnapshotWriter::begin(dir, SnapshotPart::Whole)?;
    let same_rules = before.is_some_and(|before| before.snapshot().rules() == scanner.rules_hash());
    // The privacy of a text by other rules does not count.
    let judged = |held: &ViewEntry<'_>| match held.text_privacy() {
        by_text if same_rules => by_text,
        _ if !scanner.may_hold(held.path()) => Some(Privacy::Never),
        _ => held.is_note().then(|| scanner.judge_text(held.text())),
    };
    let mut private = BTreeMap::new();
    for (number, portion) in files.chunks(FILES_PER_BATCH).enumerate() {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        told(number * FILES_PER_BATCH);
        let looked = parallel::map_parallel(portion, None, |(entry, stamp)| {
            let same = before.filter(|before| before.stamp(&entry.path) == Some(*stamp));
            let hidden = || PrivateFile { entry: entry.clone(), stamp: Some(*stamp) };
            // The text of a canvas or a copy is not held, so it cannot be judged again.
            let is_kept = |held: &ViewEntry<'_>| {
                same_rules || held.is_note() || !scanner.depends_on_text(held.path())
            };
            let held = same.and_then(|before| before.get(&entry.path)).filter(is_kept);
            match held.map(|held| (held, judged(&held))) {
                Some((_, Some(Privacy::Never))) => Some(SnapshotSource::Private(hidden())),
                Some((ViewEntry::Stored(snapshot, row), by_text)) => {
                    Some(SnapshotSource::Row(snapshot, row, by_text))
                }
                Some((ViewEntry::Fresh(fresh), by_text)) => {
                    let text_privacy = by_text;
                    let scanned = ScannedFile { text_privacy, ..fresh.scanned.clone() };
                    Some(SnapshotSource::Looked(scanned))
                }
                None if same_rules && same.is_some() => Some(SnapshotSource::Private(hidden())),
                None => match scanner.scan(entry, *stamp) {
                    ScanOutcome::Held(looked) => Some(SnapshotSource::Looked(looked)),
                    ScanOutcome::Private(private) => Some(SnapshotSource::Private(private)),
                    ScanOutcome::Gone => None,
                },
            }
        });
        for kept in looked.found {
            match kept {
                SnapshotSource::Row(snapshot, row, by_text) => {
                    writer.copy_row(snapshot, row, by_text)?
                }
                SnapshotSource::Looked(looked) => writer.add(&looked)?,
                SnapshotSource::Private(one) => drop(private.insert(one.entry.path.clone(), one)),
            }
        }
    }
    let was_known =
        |path: &NotePath| before.is_some_and(|before| before.snapshot.find(path).is_some());
    if before.is_some() && (!same_rules || private.keys().any(was_known)) {
        unrank()?;
    }
    let snapshot = writer.finish(scanner.rules_hash(), 0)?;
    match fs::remove_file(dir.join(SnapshotPart::Later.file_name())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    scanner.save_private_cache(dir, private.values())?;
    Ok(Some(IndexView::new(Arc::new(snapshot)).with_private_files(private)))
}
