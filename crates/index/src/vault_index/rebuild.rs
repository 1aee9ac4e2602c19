//! Bringing the index to what the vault holds: out of the view before, or with a new snapshot.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::{fs, io};

use protocol::NotePath;
use vault::{Fingerprint, VaultEntry};

use super::{Coverage, Index, IndexError, lock};
use crate::vault_scan::parallel;
use crate::view::{FileScanner, IndexView, PrivateCache, ScanOutcome, build_snapshot, load_delta};

/// The number of files that are looked at while others wait.
const MAX_FILES_UNDER_LOCK: usize = 16;

/// How often at most more files than that are looked at before, while nobody waits.
const MAX_CATCH_UP_ROUNDS: usize = 5;

impl Index {
    pub(super) fn rebuild_view(&self, stop: &AtomicBool) -> Result<(), IndexError> {
        let inner = &*self.inner;
        let before = self.base_view().or_else(|| load_delta(&inner.dir).map(Arc::new));
        let files = inner.vault.list_unfiltered()?;
        let rules = self.rules();
        // Held until the new view stands, so that nobody ranks the one before meanwhile.
        let mut unranked = None;
        let withheld = PrivateCache::open(&inner.dir);
        let eye = FileScanner::new(&inner.vault, &rules).with_private_cache(&withheld);
        self.set_coverage(0, files.len());
        let view = match before.as_deref().and_then(|before| updated_view(before, &eye, &files)) {
            Some(view) if !view.holds_private_text() => view,
            betraying => {
                create_private_dir(&inner.dir).map_err(|source| self.unwritable(source))?;
                let told = |done| self.set_coverage(done, files.len());
                let known = betraying.as_ref().or(before.as_deref());
                let unrank = || self.discard_fulltext().map(|alone| unranked = Some(alone));
                let view = build_snapshot(&inner.dir, &eye, known, &files, stop, told, unrank)
                    .map_err(|source| self.unwritable(source))?;
                let Some(view) = view else { return Ok(()) };
                let ranking = before.as_deref().and_then(IndexView::fulltext);
                let ranking =
                    ranking.and_then(|before| before.for_snapshot(view.snapshot(), &inner.dir));
                ranking.map(|ranking| view.with_fulltext(ranking)).unwrap_or(view)
            }
        };
        let (view, _alone) = self.with_refreshed(view);
        if *self.inner.rules.read().unwrap_or_else(PoisonError::into_inner) != rules {
            return Ok(());
        }
        self.set_view(view);
        *lock(&inner.coverage) = Coverage { done: files.len(), all: files.len(), is_ready: true };
        inner.ready.notify_all();
        Ok(())
    }

    /// The view with the notes that were refreshed while it was made, and a guard: nothing is
    /// refreshed before it is dropped. Most files are read before, so that nobody waits for that.
    fn with_refreshed(&self, mut view: IndexView) -> (IndexView, MutexGuard<'_, ()>) {
        for _ in 0..MAX_CATCH_UP_ROUNDS {
            let since =
                lock(&self.inner.refreshed_since).as_mut().map(std::mem::take).unwrap_or_default();
            if since.len() <= MAX_FILES_UNDER_LOCK {
                lock(&self.inner.refreshed_since).get_or_insert_default().extend(since);
                break;
            }
            let since: Vec<NotePath> = since.into_iter().collect();
            view = view.with_changes(self.changes(&view, &since));
        }
        let alone = lock(&self.inner.refreshing);
        let since = lock(&self.inner.refreshed_since).take().unwrap_or_default();
        let since: Vec<NotePath> = since.into_iter().collect();
        (view.with_changes(self.changes(&view, &since)), alone)
    }

    /// The present files at `paths`, where they differ from `view`.
    pub(super) fn changes(
        &self,
        view: &IndexView,
        paths: &[NotePath],
    ) -> Vec<(NotePath, ScanOutcome)> {
        let rules = self.rules();
        let eye = FileScanner::new(&self.inner.vault, &rules);
        let looked = parallel::map_parallel(paths, None, |path| {
            let Ok(found) = self.inner.vault.entry(path) else { return None };
            let is_known = view.get(path).is_some() || view.private().contains_key(path);
            match found {
                None => is_known.then(|| (path.clone(), ScanOutcome::Gone)),
                Some((_, stamp)) if view.stamp(path) == Some(stamp) => None,
                Some((entry, stamp)) => Some((path.clone(), eye.scan(&entry, stamp))),
            }
        });
        looked.found
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
