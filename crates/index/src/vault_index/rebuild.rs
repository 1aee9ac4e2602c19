//! Bringing the index to what the vault holds: out of the view before, or with a new snapshot.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, io};

use protocol::NotePath;
use vault::{Fingerprint, VaultEntry};

use super::changed_files::changed_files;
use super::permits::SnapshotPermit;
use super::{Index, IndexError};
use crate::fulltext::state::discard_fulltext;
use crate::vault_scan::parallel;
use crate::view::{FileScanner, IndexView, PrivateCache, ScanOutcome, build_snapshot, load_delta};

/// How often at most the files that were refreshed during a rebuild are read before it is published, if they are many.
const MAX_CATCH_UP_ROUNDS: usize = 5;

impl Index {
    /// Makes a new view and publishes it; after an error, and when `stop` is set, the old one stands.
    pub(super) fn rebuild(
        &self,
        permit: &SnapshotPermit<'_>,
        stop: &AtomicBool,
    ) -> Result<(), IndexError> {
        let inner = &*self.inner;
        let before = permit.view().cloned().or_else(|| load_delta(&inner.dir).map(Arc::new));
        let files = inner.vault.list_unfiltered()?;
        let withheld = PrivateCache::open(&inner.dir);
        let eye = FileScanner::new(&inner.vault, permit.rules()).with_private_cache(&withheld);
        permit.report_progress(0, files.len());
        let view = match before.as_deref().and_then(|before| updated_view(before, &eye, &files)) {
            Some(view) if !view.holds_private_text() => view,
            betraying => {
                create_private_dir(&inner.dir).map_err(|source| self.unwritable(source))?;
                let told = |done| permit.report_progress(done, files.len());
                let known = betraying.as_ref().or(before.as_deref());
                let unrank = || {
                    permit.stop_fulltext();
                    discard_fulltext(&inner.dir)
                };
                let view = build_snapshot(&inner.dir, &eye, known, &files, stop, told, unrank)
                    .map_err(|source| self.unwritable(source))?;
                let Some(view) = view else { return Ok(()) };
                let ranking = before.as_deref().and_then(IndexView::fulltext);
                let ranking =
                    ranking.and_then(|before| before.for_snapshot(view.snapshot(), &inner.dir));
                ranking.map(|ranking| view.with_fulltext(ranking)).unwrap_or(view)
            }
        };
        permit.publish(self.with_refreshed(view, permit), files.len());
        Ok(())
    }

    /// The view with the files that were refreshed while it was made, all but a few: the owner reads those when it
    /// publishes the view, and few so that other commands are not held up.
    pub(super) fn with_refreshed(
        &self,
        mut view: IndexView,
        permit: &SnapshotPermit<'_>,
    ) -> IndexView {
        for _ in 0..MAX_CATCH_UP_ROUNDS {
            let refreshed = permit.take_refreshed();
            if refreshed.is_empty() {
                break;
            }
            let changes = changed_files(&self.inner.vault, permit.rules(), &view, &refreshed);
            view = view.with_changes(changes);
        }
        view
    }
}

/// A view of `files`, which are all there are, out of one of an earlier moment; `None` when so much
/// has changed that a new snapshot is less work.
fn updated_view(
    before: &IndexView,
    scanner: &FileScanner<'_>,
    files: &[(VaultEntry, Fingerprint)],
) -> Option<IndexView> {
    if before.snapshot().rules() != scanner.rules_hash() {
        return None;
    }
    let is_same =
        |(entry, stamp): &&(VaultEntry, Fingerprint)| before.stamp(&entry.path) == Some(*stamp);
    let other = files.iter().filter(|file| !is_same(file));
    let (mut changed, mut private) = (Vec::new(), Vec::new());
    for file in other {
        // A note that is known to be private is no change to read, however long it is.
        match scanner.known_private(&file.0, file.1) {
            Some(one) => private.push((file.0.path.clone(), ScanOutcome::Private(one))),
            None => changed.push(file),
        }
    }
    let is_there =
        |path: &NotePath| files.binary_search_by(|(entry, _)| entry.path.cmp(path)).is_ok();
    let known = before.all().map(|held| held.path().clone());
    let known = known.chain(before.private().keys().cloned());
    let gone: Vec<_> =
        known.filter(|path| !is_there(path)).map(|path| (path, ScanOutcome::Gone)).collect();
    if before.would_need_new_snapshot(changed.len() + gone.len()) {
        return None;
    }
    let looked = parallel::map_parallel(&changed, None, |(entry, stamp)| {
        Some((entry.path.clone(), scanner.scan(entry, *stamp)))
    });
    Some(before.with_changes(looked.found.into_iter().chain(private).chain(gone)))
}

/// A folder that only the user can look into: the notes' text will lie there.
fn create_private_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}
