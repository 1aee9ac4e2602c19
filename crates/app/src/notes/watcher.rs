//! Reacts to changes of the vault's files, whichever program makes them.
//!
//! The index is refreshed first, then the note on display. `VaultInfo::revision` has risen by then, and the window queries again
//! what it shows. Counting the notes is a task of its own with a tenth of a core at most. If the folder is gone, the vault
//! reports trouble until a folder is there again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use protocol::event::VaultInfo;
use protocol::{AppEvent, FileReplacement, NotePath, UserError};
use tokio::sync::Notify;
use vault::{VaultChange, VaultWatch};

use crate::notes::indexer::Indexer;
use crate::support::blocking::run_blocking;
use crate::vault_session::VaultSession;

/// The least time between two counts of the notes.
const RECOUNT_INTERVAL: Duration = Duration::from_millis(500);

/// The number of notes that were changed here and are followed, the newest changes first.
const MAX_FOLLOWED_FILES: u32 = 20_000;

/// Counting a large vault may take at most one part in this many of the time.
const RECOUNT_TIME_DIVISOR: u32 = 10;

/// The trouble of the vault's folder, and its last published state.
#[derive(Default)]
pub(crate) struct FolderStatus(Mutex<FolderStatusInner>);

#[derive(Default)]
struct FolderStatusInner {
    /// The state that the window was sent last.
    published: Option<VaultInfo>,
    is_gone: bool,
    /// Why changes of other programs are noticed late, or not.
    unwatched: Option<UserError>,
}

impl FolderStatus {
    /// Adds to what was just seen of the vault what is known beside: a folder that is gone keeps
    /// its last count.
    pub(crate) fn with_known_state(&self, mut seen: VaultInfo, indexing: &Indexer) -> VaultInfo {
        let mut state = self.lock();
        // Under the lock, so that of two who tell the window the later one knows more.
        (seen.indexing, seen.revision) = (indexing.progress(), indexing.revision());
        if state.is_gone {
            seen.notes = state.published.as_ref().map_or(seen.notes, |told| told.notes);
            seen.trouble = Some(format!(
                "The folder with your notes no longer exists: {}. Restore it, or open another one \
                 in Settings.",
                seen.folder
            ));
        }
        state.published = Some(seen.clone());
        seen
    }

    /// The state that was sent last, with the progress of the index now.
    pub(crate) fn last_published(&self, indexing: &Indexer) -> Option<VaultInfo> {
        let mut state = self.lock();
        let told = state.published.as_mut()?;
        (told.indexing, told.revision) = (indexing.progress(), indexing.revision());
        Some(told.clone())
    }

    /// The problem to show to a window that opens now.
    pub(crate) fn problem(&self) -> Option<UserError> {
        self.lock().unwatched.clone()
    }

    fn lock(&self) -> MutexGuard<'_, FolderStatusInner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VaultSession {
    /// Listens to the folder until the vault is closed. Where the system offers no watch, that is
    /// told once, and the vault goes on without.
    pub(crate) async fn run_watcher(self: Arc<Self>) {
        self.follow_files().await;
        let vault = self.vault.clone();
        match run_blocking(move || vault.watch()).await {
            Ok(Ok(watch)) => self.handle_watch_events(watch).await,
            Ok(Err(error)) => self.report_unwatched(UserError::other(error.to_string())),
            Err(error) => self.report_unwatched(error),
        }
    }

    async fn handle_watch_events(self: &Arc<Self>, mut watch: VaultWatch) {
        let (recount, to_check) = (Arc::new(Notify::new()), Arc::<FilesToCheck>::default());
        self.spawn(Arc::clone(self).run_recount_loop(Arc::clone(&recount)));
        self.spawn(Arc::clone(self).run_overwrite_check_loop(Arc::clone(&to_check)));
        while let Some(changed) = watch.next().await {
            match changed {
                VaultChange::Notes(files) => {
                    self.indexer.refresh(files.clone()).await;
                    self.refresh_viewed_note(|path| files.binary_search(path).is_ok()).await;
                    // Other files are not counted, but links lead to them.
                    recount.notify_one();
                    to_check.add(TouchedFiles::Listed(files.into_iter().collect()));
                }
                VaultChange::Replaced(files) => self.store_file_replacements(&files).await,
                VaultChange::Everything => {
                    self.indexer.request_rescan();
                    self.refresh_viewed_note(|_| true).await;
                    recount.notify_one();
                    // Also for writes from before the watch: this comes once when it stands.
                    to_check.add(TouchedFiles::Any);
                }
                VaultChange::Gone => self.set_folder_presence(FolderPresence::Gone).await,
                VaultChange::Back => self.set_folder_presence(FolderPresence::Here).await,
                VaultChange::Late { why } => self.report_unwatched(UserError::other(why)),
            }
        }
    }

    /// Has the watch follow the notes that were changed here, wherever other programs save them.
    async fn follow_files(&self) {
        let files = match self.store.recently_changed_files(MAX_FOLLOWED_FILES).await {
            Ok(files) => files,
            Err(error) => return tracing::warn!(%error, "changed notes are not followed"),
        };
        let vault = self.vault.clone();
        if let Err(error) = run_blocking(move || vault.track_files(files)).await {
            tracing::warn!(%error, "changed notes are not followed");
        }
    }

    /// Without it an undo asks which note is meant, and harms none.
    pub(crate) async fn store_file_replacements(&self, files: &[FileReplacement]) {
        if let Err(error) = self.store.add_successions(files).await {
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

    /// Counts the notes again each time it is asked to, at its own pace.
    async fn run_recount_loop(self: Arc<Self>, asked: Arc<Notify>) {
        let mut pause = RECOUNT_INTERVAL;
        loop {
            asked.notified().await;
            tokio::time::sleep(pause).await;
            let began = Instant::now();
            self.publish_info_if_changed().await;
            pause = RECOUNT_INTERVAL.max(began.elapsed().saturating_mul(RECOUNT_TIME_DIVISOR));
        }
    }

    async fn set_folder_presence(&self, standing: FolderPresence) {
        self.folder_status.lock().is_gone = standing == FolderPresence::Gone;
        self.publish_info_if_changed().await;
    }

    /// Tells how the vault stands, if the window does not know yet.
    async fn publish_info_if_changed(&self) {
        let before = self.folder_status.lock().published.clone();
        self.vault_info().await;
        let state = self.folder_status.lock();
        if state.published != before {
            self.feed.publish(AppEvent::VaultChanged { vault: state.published.clone() });
        }
    }

    /// Tells how the vault stands now that it is open.
    pub(crate) async fn publish_info(&self) {
        self.vault_info().await;
        let state = self.folder_status.lock();
        self.feed.publish(AppEvent::VaultChanged { vault: state.published.clone() });
    }

    /// Tells how the index stands, if the window heard of the vault and does not know yet.
    pub(crate) fn publish_index_progress(&self) {
        let mut state = self.folder_status.lock();
        let Some(told) = state.published.as_mut() else { return };
        let now = (self.indexer.progress(), self.indexer.revision());
        if now != (told.indexing, told.revision) {
            (told.indexing, told.revision) = now;
            self.feed.publish(AppEvent::VaultChanged { vault: Some(told.clone()) });
        }
    }

    /// How the vault stands for a window that opens: as it was told last, for nobody waits until
    /// the notes of a large vault are counted. Where nothing is noticed they are counted behind that.
    pub(crate) async fn cached_vault_info(self: &Arc<Self>) -> VaultInfo {
        let Some(known) = self.folder_status.last_published(&self.indexer) else {
            return self.vault_info().await;
        };
        if self.folder_status.problem().is_some() {
            let open = Arc::clone(self);
            self.spawn(async move { open.publish_info_if_changed().await });
        }
        known
    }

    fn report_unwatched(&self, error: UserError) {
        self.folder_status.lock().unwatched = Some(error.clone());
        self.feed.publish(AppEvent::Problem { error });
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

/// Whether the folder stands under its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FolderPresence {
    Here,
    Gone,
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
