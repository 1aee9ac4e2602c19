//! Reacts to changes of the vault's files, whichever program makes them.
//!
//! The index is refreshed first, then the note on display. `VaultInfo::revision` has risen by then, and the window queries again
//! what it shows. Counting the notes is a task of its own.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::{FileReplacement, NotePath, UserError};
use tokio::sync::Notify;
use vault::{VaultChange, VaultWatch};

use crate::changes::NoteChanges;
use crate::notes::Notes;
use crate::notes::folder_status::FolderPresence;
use crate::support::blocking::run_blocking;
use crate::support::task_group::TaskGroup;

/// The number of notes that were changed here and are followed, the newest changes first.
const MAX_FOLLOWED_FILES: u32 = 20_000;

/// Tells the index, the viewer and the history of changes which files changed.
pub(crate) struct NoteWatcher {
    pub(crate) notes: Arc<Notes>,
    pub(crate) changes: Arc<NoteChanges>,
    pub(crate) tasks: TaskGroup,
}

impl NoteWatcher {
    /// Listens to the folder until the vault is closed. Where the system offers no watch, that is
    /// told once, and the vault goes on without.
    pub(crate) async fn run(self: Arc<Self>) {
        self.follow_files().await;
        let vault = self.notes.vault.clone();
        match run_blocking(move || vault.watch()).await {
            Ok(Ok(watch)) => self.handle_watch_events(watch).await,
            Ok(Err(error)) => {
                self.notes.folder.report_unwatched(UserError::other(error.to_string()));
            }
            Err(error) => self.notes.folder.report_unwatched(error),
        }
    }

    async fn handle_watch_events(self: &Arc<Self>, mut watch: VaultWatch) {
        let (recount, to_check) = (Arc::new(Notify::new()), Arc::<FilesToCheck>::default());
        self.tasks.spawn(Arc::clone(&self.notes.folder).run_recount_loop(Arc::clone(&recount)));
        self.tasks.spawn(Arc::clone(self).run_overwrite_check_loop(Arc::clone(&to_check)));
        while let Some(changed) = watch.next().await {
            match changed {
                VaultChange::Notes(files) => {
                    self.notes.indexer.refresh(files.clone()).await;
                    self.notes.viewer.refresh(|path| files.binary_search(path).is_ok()).await;
                    // Other files are not counted, but links lead to them.
                    recount.notify_one();
                    to_check.add(TouchedFiles::Listed(files.into_iter().collect()));
                }
                VaultChange::Replaced(files) => self.store_file_replacements(&files).await,
                VaultChange::Everything => {
                    self.notes.indexer.request_rescan();
                    self.notes.viewer.refresh(|_| true).await;
                    recount.notify_one();
                    // Also for writes from before the watch: this comes once when it stands.
                    to_check.add(TouchedFiles::Any);
                }
                VaultChange::Gone => self.notes.folder.set_presence(FolderPresence::Gone).await,
                VaultChange::Back => self.notes.folder.set_presence(FolderPresence::Here).await,
                VaultChange::Late { why } => {
                    self.notes.folder.report_unwatched(UserError::other(why));
                }
            }
        }
    }

    /// Has the watch follow the notes that were changed here, wherever other programs save them.
    async fn follow_files(&self) {
        let files = match self.changes.store.recently_changed_files(MAX_FOLLOWED_FILES).await {
            Ok(files) => files,
            Err(error) => return tracing::warn!(%error, "changed notes are not followed"),
        };
        let vault = self.notes.vault.clone();
        if let Err(error) = run_blocking(move || vault.track_files(files)).await {
            tracing::warn!(%error, "changed notes are not followed");
        }
    }

    /// Without it an undo asks which note is meant, and harms none.
    async fn store_file_replacements(&self, files: &[FileReplacement]) {
        if let Err(error) = self.changes.store.add_successions(files).await {
            tracing::warn!(%error, "it is not remembered which file took the place of a note's");
        }
    }

    /// Compares what was touched with our own changes. It asks the database, and no save waits for
    /// that to be found.
    async fn run_overwrite_check_loop(self: Arc<Self>, to_check: Arc<FilesToCheck>) {
        loop {
            to_check.added.notified().await;
            let touched = std::mem::take(&mut *to_check.lock());
            match touched {
                TouchedFiles::Listed(files) => self.changes.detect_overwrites(&files).await,
                TouchedFiles::Any => self.changes.detect_all_overwrites().await,
            }
        }
    }
}

/// Files that another program may have written.
#[derive(Debug, PartialEq, Eq)]
enum TouchedFiles {
    Listed(BTreeSet<NotePath>),
    /// It is not known which.
    Any,
}

impl Default for TouchedFiles {
    fn default() -> Self {
        Self::Listed(BTreeSet::new())
    }
}

impl TouchedFiles {
    fn join(&mut self, more: Self) {
        match (self, more) {
            (Self::Listed(files), Self::Listed(more)) => files.extend(more),
            (touched, _) => *touched = Self::Any,
        }
    }
}

/// Files that were touched and not compared yet, each once.
#[derive(Default)]
struct FilesToCheck {
    touched: Mutex<TouchedFiles>,
    added: Notify,
}

impl FilesToCheck {
    fn add(&self, more: TouchedFiles) {
        self.lock().join(more);
        self.added.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, TouchedFiles> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(files: &[&str]) -> TouchedFiles {
        let paths = files.iter().map(|file| NotePath::parse(file).expect("a path"));
        TouchedFiles::Listed(paths.collect())
    }

    #[test]
    fn files_that_are_touched_before_a_check_are_joined_and_none_is_lost_beside_any() {
        for (touched, expected) in [
            (vec![listed(&["b.md"]), listed(&["a.md", "b.md"])], listed(&["a.md", "b.md"])),
            (vec![listed(&["a.md"]), TouchedFiles::Any], TouchedFiles::Any),
            (vec![TouchedFiles::Any, listed(&["a.md"])], TouchedFiles::Any),
            (vec![TouchedFiles::Any, TouchedFiles::Any], TouchedFiles::Any),
        ] {
            let mut all = TouchedFiles::default();
            touched.into_iter().for_each(|more| all.join(more));
            assert_eq!(all, expected);
        }
    }
}
