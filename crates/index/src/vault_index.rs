//! The index of one vault: a snapshot on disk, and in memory the files that changed since.
//!
//! It can be deleted at any time and is built again. Until it is ready, and where it cannot be written, searches read the
//! notes themselves. A view of it never changes; a plan is searched as if it were applied. Notes that no model may see are
//! in no file of it; when a rule starts to apply, their text is purged.
#![expect(clippy::disallowed_methods, reason = "its folder is one of the cache directory")]

mod changed_files;
mod owner;
mod owner_handle;
mod permits;
mod published;
mod rebuild;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

use protocol::{NotePath, PrivateRules};
use thiserror::Error;
use vault::{Fingerprint, TextPrivacy, Vault, VaultError};

use self::owner::{IndexCommand, ReadyWaiter};
use self::owner_handle::OwnerHandle;
pub(crate) use self::permits::FulltextPermit;
use self::permits::SnapshotPermit;
pub use self::published::Coverage;
use self::published::ViewReader;
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
    /// The thread of the index ended or could not be started.
    #[error("the search index stopped working. Searching is slower until you restart Vaultmate.")]
    Ended,
}

/// The number of files that are looked at again at a time, because they were looked at too soon.
const RESCAN_BATCH: usize = 64;

/// Cheap to clone; all clones are the same index. Its methods block on the disk.
///
/// Its state belongs to a thread, which ends with the last clone. A method that changes the index returns when that is
/// done; a search takes the newest view and waits for no change.
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
    /// The newest view; everything else that changes belongs to the owner.
    reader: ViewReader,
    owner: OwnerHandle,
    /// Held by who searches for a model, and by who searches for the user.
    search_locks: [Mutex<()>; 2],
}

impl Index {
    /// Over all notes of `vault` but those that `rules` keep from every model; `dir` is its own. Nothing
    /// is read yet.
    #[must_use]
    pub fn new(vault: &Vault, rules: PrivateRules, dir: &Path) -> Self {
        let vault = vault.unfiltered();
        let (owner, reader) = OwnerHandle::spawn(vault.clone(), rules);
        let inner = IndexState {
            vault,
            dir: dir.to_owned(),
            reader,
            owner,
            search_locks: Default::default(),
        };
        Self { inner: Arc::new(inner), audience: IndexAudience::Models }
    }

    /// Brings the index to what the vault holds now: at the start, and when nobody knows what
    /// changed. Reads the notes that are not as they were and no others. Returns early when `stop`
    /// is set; the index then is as it was. After an error it is not used until it has caught up: searches
    /// read the notes instead of telling what they held before.
    pub fn catch_up(&self, stop: &AtomicBool) -> Result<(), IndexError> {
        let permit = self.acquire_snapshot()?;
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let caught_up = self.rebuild(&permit, stop);
        if caught_up.is_err() {
            permit.clear();
        }
        caught_up
    }

    /// Looks at files that were made, written, renamed or removed. Searches that begin afterwards
    /// find what they hold.
    pub fn refresh(&self, paths: &[NotePath]) {
        let paths = paths.to_vec();
        self.inner.owner.ask(|done| IndexCommand::Refresh { paths, done });
    }

    /// Keeps on disk what has changed since it was kept last, so that the next start need not read
    /// it again. Worth while a few seconds after the last change: younger files are looked at once
    /// more. Returns early when `stop` is set.
    pub fn save(&self, stop: &AtomicBool) -> Result<(), IndexError> {
        let Some(view) = self.base_view() else { return Ok(()) };
        // In parts: what is saved meanwhile is looked at in between.
        view.unsettled_paths().chunks(RESCAN_BATCH).for_each(|part| self.refresh(part));
        let permit = self.acquire_snapshot()?;
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(view) = permit.view() else { return Ok(()) };
        if view.needs_new_snapshot() || view.holds_private_text() {
            // No change was missed, so after an error the view that stands is still right.
            return self.rebuild(&permit, stop);
        }
        if !permit.is_saved(view) {
            let scanner = FileScanner::new(&self.inner.vault, permit.rules());
            save_delta(&self.inner.dir, &scanner, view)
                .map_err(|source| self.unwritable(source))?;
            permit.mark_saved(view);
        }
        Ok(())
    }

    /// Other notes are private from now on. The index is not used until it has [caught
    /// up](Self::catch_up).
    pub fn set_rules(&self, rules: PrivateRules) {
        self.inner.owner.ask(|done| IndexCommand::SetRules { rules, done });
    }

    /// Waits until it stands, at most for `timeout`.
    pub fn wait_until_ready(&self, timeout: Duration) {
        if self.coverage().is_ready {
            return;
        }
        let (ready, became_ready) = sync_channel(1);
        let until = Instant::now() + timeout;
        self.inner.owner.send(IndexCommand::AwaitReady(ReadyWaiter { until, ready }));
        // Whether it stands is asked afterwards, so it does not matter how this ended.
        let _ = became_ready.recv_timeout(timeout);
    }

    /// Deletes all its files, which may hold texts that no note holds any more. It is not used
    /// until it has [caught up](Self::catch_up).
    pub fn reset(&self) -> Result<(), IndexError> {
        let permit = self.acquire_snapshot()?;
        permit.stop_fulltext();
        discard_fulltext(&self.inner.dir).map_err(|source| self.unwritable(source))?;
        permit.clear();
        match fs::remove_dir_all(&self.inner.dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.unwritable(error)),
            _ => Ok(()),
        }
    }

    /// How much of the vault it holds.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        self.inner.reader.coverage()
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
        self.inner.reader.view()
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

    /// Where it keeps itself.
    pub(crate) fn dir(&self) -> &Path {
        &self.inner.dir
    }

    /// Waits until nobody else writes the ranking.
    pub(crate) fn acquire_fulltext(&self) -> Result<FulltextPermit<'_>, IndexError> {
        FulltextPermit::acquire(&self.inner.owner).ok_or(IndexError::Ended)
    }

    /// Waits until nobody else writes the snapshot.
    fn acquire_snapshot(&self) -> Result<SnapshotPermit<'_>, IndexError> {
        SnapshotPermit::acquire(&self.inner.owner).ok_or(IndexError::Ended)
    }

    fn unwritable(&self, source: io::Error) -> IndexError {
        IndexError::Unwritable { folder: self.inner.dir.display().to_string(), source }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
