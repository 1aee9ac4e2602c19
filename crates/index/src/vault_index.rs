//! The index of one vault: a snapshot on disk, and in memory the files that changed since.
//!
//! It can be deleted at any time and is built again. Until it is ready, and where it cannot be written, searches read the
//! notes themselves. A view of it never changes; a plan is searched as if it were applied. Notes that no model may see are
//! in no file of it; when a rule starts to apply, their text is purged.
#![expect(clippy::disallowed_methods, reason = "its folder is one of the cache directory")]

mod rebuild;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use std::{fs, io};

use protocol::{NotePath, PrivateRules};
use thiserror::Error;
use vault::{Fingerprint, TextPrivacy, Vault, VaultError};

use crate::fulltext::FulltextError;
use crate::fulltext::state::discard_fulltext;
use crate::view::whole_view::WholeViewCache;
use crate::view::{FileScanner, IndexView, save_delta};

/// Why an index could not be brought up to date. Searches go on without it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The vault could not be listed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The ranking could not be built.
    #[error("{why} Finding notes is slower until then.")]
    Unranked {
        /// The cause.
        #[source]
        why: FulltextError,
    },
    /// The folder of the index could not be written.
    #[error(
        "the search index in {folder} can’t be written: {source}. Searching is slower until the folder has free space and write permission."
    )]
    Unwritable {
        /// The path of the folder, as text.
        folder: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// How much of the vault the index holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Files that were looked at.
    pub done: usize,
    /// Files there are, as far as is known.
    pub all: usize,
    /// Whether searches use it.
    pub is_ready: bool,
}

/// The number of files that are looked at again at a time, because they were looked at too soon.
const RESCAN_BATCH: usize = 64;

/// Cheap to clone; all clones are the same index. Its methods block on the disk.
#[derive(Debug, Clone)]
pub struct Index {
    inner: Arc<IndexState>,
    audience: IndexAudience,
}

/// The reader of an index: models see no private notes.
#[derive(Debug, Clone)]
enum IndexAudience {
    /// Without what is never to be seen.
    Models,
    User(Arc<WholeViewCache>),
}

#[derive(Debug)]
struct IndexState {
    vault: Vault,
    dir: PathBuf,
    rules: RwLock<PrivateRules>,
    view: RwLock<Option<Arc<IndexView>>>,
    /// The notes that were refreshed since the survey began that is to become the view.
    refreshed_since: Mutex<Option<BTreeSet<NotePath>>>,
    coverage: Mutex<Coverage>,
    /// Notified when it stands.
    ready: Condvar,
    /// The view that is on disk.
    saved_view: Mutex<Option<Arc<IndexView>>>,
    /// Held while files are looked at because they changed.
    refreshing: Mutex<()>,
    /// Held by who is the next to do so: in many parts nobody comes again before him.
    refresh_turn: Mutex<()>,
    /// Held by who makes a new view.
    catching_up: Mutex<()>,
    /// Held while the ranking is written or discarded; taken before `refreshing`.
    fulltext_lock: Mutex<()>,
    /// How many wait for the ranking to be left alone.
    fulltext_waiters: AtomicUsize,
    /// Held by who searches for a model, and by who searches for the user.
    search_locks: [Mutex<()>; 2],
}

impl Index {
    /// Over all notes of `vault` but those that `rules` keep from every model; `dir` is its own. Nothing
    /// is read yet.
    #[must_use]
    pub fn new(vault: &Vault, rules: PrivateRules, dir: &Path) -> Self {
        let inner = IndexState {
            vault: vault.unfiltered(),
            dir: dir.to_owned(),
            rules: RwLock::new(rules),
            view: RwLock::default(),
            refreshed_since: Mutex::default(),
            coverage: Mutex::default(),
            ready: Condvar::new(),
            saved_view: Mutex::default(),
            refreshing: Mutex::default(),
            refresh_turn: Mutex::default(),
            catching_up: Mutex::default(),
            fulltext_lock: Mutex::default(),
            fulltext_waiters: AtomicUsize::default(),
            search_locks: Default::default(),
        };
        Self { inner: Arc::new(inner), audience: IndexAudience::Models }
    }

    /// Brings the index to what the vault holds now: at the start, and when nobody knows what
    /// changed. Reads the notes that are not as they were and no others. Returns early when `stop`
    /// is set; the index then is as it was. After an error it is not used until it has caught up: searches
    /// read the notes instead of telling what they held before.
    pub fn catch_up(&self, stop: &AtomicBool) -> Result<(), IndexError> {
        let _alone = lock(&self.inner.catching_up);
        let caught_up = self.rebuild_with_refreshed(stop);
        if caught_up.is_err() {
            let _nobody = lock(&self.inner.refreshing);
            self.clear_view();
        }
        caught_up
    }

    /// Makes a new view, with the notes that are refreshed meanwhile; after an error the old one stands.
    /// The caller holds `catching_up`.
    fn rebuild_with_refreshed(&self, stop: &AtomicBool) -> Result<(), IndexError> {
        *lock(&self.inner.refreshed_since) = Some(BTreeSet::new());
        let caught_up = self.rebuild_view(stop);
        lock(&self.inner.refreshed_since).take();
        caught_up
    }

    /// Looks at files that were made, written, renamed or removed. Searches that begin afterwards
    /// find what they hold.
    pub fn refresh(&self, paths: &[NotePath]) {
        let next = lock(&self.inner.refresh_turn);
        let _alone = lock(&self.inner.refreshing);
        drop(next);
        if let Some(since) = lock(&self.inner.refreshed_since).as_mut() {
            since.extend(paths.iter().cloned());
        }
        if let Some(view) = self.base_view() {
            let changes = self.changes(&view, paths);
            if !changes.is_empty() {
                self.set_view(view.with_changes(changes));
            }
        }
    }

    /// Keeps on disk what has changed since it was kept last, so that the next start need not read
    /// it again. Worth while a few seconds after the last change: younger files are looked at once
    /// more.
    pub fn save(&self, stop: &AtomicBool) -> Result<(), IndexError> {
        let Some(view) = self.base_view() else { return Ok(()) };
        // In parts: what is saved meanwhile is looked at in between.
        view.unsettled_paths().chunks(RESCAN_BATCH).for_each(|part| self.refresh(part));
        let Some(view) = self.base_view() else { return Ok(()) };
        if view.needs_new_snapshot() || view.holds_private_text() {
            let _alone = lock(&self.inner.catching_up);
            // No change was missed, so after an error the view that stands is still right.
            return self.rebuild_with_refreshed(stop);
        }
        let _alone = lock(&self.inner.catching_up);
        // Taken only now: somebody may have started over, and then the view above is to be in no file.
        let Some(view) = self.base_view() else { return Ok(()) };
        let mut kept = lock(&self.inner.saved_view);
        if kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, &view)) {
            return Ok(());
        }
        let rules = self.rules();
        let eye = FileScanner::new(&self.inner.vault, &rules);
        save_delta(&self.inner.dir, &eye, &view).map_err(|source| self.unwritable(source))?;
        *kept = Some(view);
        Ok(())
    }

    /// Other notes are private from now on. The index is not used until it has [caught
    /// up](Self::catch_up).
    pub fn set_rules(&self, rules: PrivateRules) {
        let _alone = lock(&self.inner.refreshing);
        let mut current = self.inner.rules.write().unwrap_or_else(PoisonError::into_inner);
        if *current != rules {
            *current = rules;
            self.clear_view();
        }
    }

    /// Nothing is indexed any more. The caller holds `refreshing`.
    fn clear_view(&self) {
        *self.inner.view.write().unwrap_or_else(PoisonError::into_inner) = None;
        *lock(&self.inner.coverage) = Coverage::default();
    }

    /// Waits until it stands, at most for `timeout`.
    pub fn wait_until_ready(&self, timeout: Duration) {
        let coverage = lock(&self.inner.coverage);
        // Whether it stands is asked afterwards, so it does not matter which of both ended it.
        let _ = self.inner.ready.wait_timeout_while(coverage, timeout, |now| !now.is_ready);
    }

    /// Deletes all its files, which may hold texts that no note holds any more. It is not used
    /// until it has [caught up](Self::catch_up).
    pub fn reset(&self) -> Result<(), IndexError> {
        let _alone = lock(&self.inner.catching_up);
        let _unranked = self.discard_fulltext().map_err(|source| self.unwritable(source))?;
        let _nobody = lock(&self.inner.refreshing);
        self.clear_view();
        *lock(&self.inner.saved_view) = None;
        match fs::remove_dir_all(&self.inner.dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.unwritable(error)),
            _ => Ok(()),
        }
    }

    /// How much of the vault it holds.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        *lock(&self.inner.coverage)
    }

    /// The same, with notes that no model may see.
    pub(crate) fn for_the_user(&self) -> Self {
        Self { audience: IndexAudience::User(Arc::default()), ..self.clone() }
    }

    /// The same without what no model may see.
    pub(crate) fn for_models(&self) -> Self {
        Self { audience: IndexAudience::Models, ..self.clone() }
    }

    /// The present notes, as the reader may see them; `None` until the index is ready.
    pub(crate) fn view(&self) -> Option<Arc<IndexView>> {
        let base = self.base_view()?;
        Some(match &self.audience {
            IndexAudience::Models => base,
            IndexAudience::User(whole) => whole.whole_view(base, &self.inner.vault),
        })
    }

    /// The indexed notes; `None` until the index is ready.
    pub(crate) fn base_view(&self) -> Option<Arc<IndexView>> {
        self.inner.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets nobody else search for the same side: models do not hold up the user.
    pub(crate) fn lock_searches(&self) -> MutexGuard<'_, ()> {
        let [models, user] = &self.inner.search_locks;
        lock(match self.audience {
            IndexAudience::Models => models,
            IndexAudience::User(_) => user,
        })
    }

    /// The known privacy of a note's text, if it had this fingerprint when it was checked.
    #[must_use]
    pub fn text_privacy(&self, path: &NotePath, fingerprint: Fingerprint) -> Option<TextPrivacy> {
        self.base_view()?.text_privacy(path, fingerprint)
    }

    /// Lets nobody else write the ranking.
    pub(crate) fn lock_fulltext(&self) -> MutexGuard<'_, ()> {
        lock(&self.inner.fulltext_lock)
    }

    /// Whether who writes the ranking has to leave off.
    pub(crate) fn has_fulltext_waiters(&self) -> bool {
        self.inner.fulltext_waiters.load(Ordering::Relaxed) > 0
    }

    /// Deletes the files of the ranking: it has text that no file may hold any more. Nobody writes
    /// it again while the returned guard is held.
    fn discard_fulltext(&self) -> Result<MutexGuard<'_, ()>, io::Error> {
        self.inner.fulltext_waiters.fetch_add(1, Ordering::Relaxed);
        let alone = self.lock_fulltext();
        self.inner.fulltext_waiters.fetch_sub(1, Ordering::Relaxed);
        discard_fulltext(&self.inner.dir).map(|()| alone)
    }

    /// Where it keeps itself.
    pub(crate) fn dir(&self) -> &Path {
        &self.inner.dir
    }

    /// Puts another view in the place of the one that stands; as it is with `None`.
    pub(crate) fn replace_view<E>(
        &self,
        other: impl FnOnce(&IndexView) -> Result<Option<IndexView>, E>,
    ) -> Result<(), E> {
        let _alone = lock(&self.inner.refreshing);
        let Some(view) = self.base_view() else { return Ok(()) };
        if let Some(other) = other(&view)? {
            self.set_view(other);
        }
        Ok(())
    }

    fn rules(&self) -> PrivateRules {
        self.inner.rules.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_view(&self, view: IndexView) {
        let mut shown = self.inner.view.write().unwrap_or_else(PoisonError::into_inner);
        let before = shown.replace(Arc::new(view));
        // Dropping it may take long, and no query waits for that.
        drop(shown);
        drop(before);
    }

    fn set_coverage(&self, done: usize, all: usize) {
        let mut coverage = lock(&self.inner.coverage);
        (coverage.done, coverage.all) = (done, all);
    }

    fn unwritable(&self, source: io::Error) -> IndexError {
        IndexError::Unwritable { folder: self.inner.dir.display().to_string(), source }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
