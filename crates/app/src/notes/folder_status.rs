//! The state of the vault's folder as the window is told of it: the number of notes, trouble, and how far the index is.
//!
//! Counting the notes has a tenth of a core at most. If the folder is gone, the vault reports trouble until a folder is
//! there again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use protocol::event::VaultInfo;
use protocol::{AppEvent, ErrorCode, UserError, VaultId};
use tokio::sync::Notify;
use vault::{EntryKind, Vault};

use crate::events::feed::Feed;
use crate::notes::indexer::Indexer;
use crate::support::blocking::run_blocking;
use crate::support::task_group::TaskGroup;
use crate::user_texts;

/// The least time between two counts of the notes.
const RECOUNT_INTERVAL: Duration = Duration::from_millis(500);

/// Counting a large vault may take at most one part in this many of the time.
const RECOUNT_TIME_DIVISOR: u32 = 10;

/// The trouble of the vault's folder, and its last published state.
pub(crate) struct FolderStatus {
    id: VaultId,
    is_sample: bool,
    vault: Vault,
    indexer: Indexer,
    feed: Feed,
    tasks: TaskGroup,
    state: Mutex<FolderStatusInner>,
}

#[derive(Default)]
struct FolderStatusInner {
    /// The state that the window was sent last.
    published: Option<VaultInfo>,
    is_gone: bool,
    /// Why changes of other programs are noticed late, or not.
    unwatched: Option<UserError>,
}

/// Whether the folder stands under its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderPresence {
    Here,
    Gone,
}

impl FolderStatus {
    /// The state of a folder of which nothing was published yet.
    pub(crate) fn new(
        id: VaultId,
        is_sample: bool,
        vault: Vault,
        indexer: Indexer,
        feed: Feed,
        tasks: TaskGroup,
    ) -> Self {
        Self { id, is_sample, vault, indexer, feed, tasks, state: Mutex::default() }
    }

    /// How the vault stands, for the window.
    async fn info(&self) -> VaultInfo {
        let vault = self.vault.clone();
        let looked = run_blocking(move || {
            let entries = vault.list().map(|listing| listing.entries).unwrap_or_default();
            let notes = entries.iter().filter(|entry| entry.kind == EntryKind::Note).count();
            (notes, vault.is_writable())
        });
        let (notes, writable) = looked.await.unwrap_or_default();
        self.with_known_state(VaultInfo {
            id: self.id.clone(),
            name: self.vault.name().to_owned(),
            folder: self.vault.folder().display().to_string(),
            notes: u32::try_from(notes).unwrap_or(u32::MAX),
            writable,
            sample: self.is_sample,
            trouble: None,
            indexing: None,
            revision: 0,
        })
    }

    /// Adds to what was just seen of the vault what is known beside: a folder that is gone keeps
    /// its last count.
    fn with_known_state(&self, mut seen: VaultInfo) -> VaultInfo {
        let mut state = self.lock();
        // Under the lock, so that of two who tell the window the later one knows more.
        (seen.indexing, seen.revision) = (self.indexer.progress(), self.indexer.revision());
        if state.is_gone {
            seen.notes = state.published.as_ref().map_or(seen.notes, |told| told.notes);
            let text = user_texts::folder_gone(seen.folder.as_str());
            seen.trouble = Some(UserError::new(ErrorCode::Vault, text));
        }
        state.published = Some(seen.clone());
        seen
    }

    /// The state that was sent last, with the progress of the index now.
    fn last_published(&self) -> Option<VaultInfo> {
        let mut state = self.lock();
        let told = state.published.as_mut()?;
        (told.indexing, told.revision) = (self.indexer.progress(), self.indexer.revision());
        Some(told.clone())
    }

    /// The problem to show to a window that opens now.
    pub(crate) fn problem(&self) -> Option<UserError> {
        self.lock().unwatched.clone()
    }

    /// Counts the notes again each time it is asked to, at its own pace.
    pub(super) async fn run_recount_loop(self: Arc<Self>, asked: Arc<Notify>) {
        let mut pause = RECOUNT_INTERVAL;
        loop {
            asked.notified().await;
            tokio::time::sleep(pause).await;
            let began = Instant::now();
            self.publish_if_changed().await;
            pause = RECOUNT_INTERVAL.max(began.elapsed().saturating_mul(RECOUNT_TIME_DIVISOR));
        }
    }

    pub(super) async fn set_presence(&self, standing: FolderPresence) {
        self.lock().is_gone = standing == FolderPresence::Gone;
        self.publish_if_changed().await;
    }

    /// Tells how the vault stands, if the window does not know yet.
    async fn publish_if_changed(&self) {
        let before = self.lock().published.clone();
        self.info().await;
        let state = self.lock();
        if state.published != before {
            self.feed.publish(AppEvent::VaultChanged { vault: state.published.clone() });
        }
    }

    /// Tells how the vault stands now that it is open.
    pub(crate) async fn publish(&self) {
        self.info().await;
        let state = self.lock();
        self.feed.publish(AppEvent::VaultChanged { vault: state.published.clone() });
    }

    /// Tells how the index stands, if the window heard of the vault and does not know yet.
    pub(super) fn publish_index_progress(&self) {
        let mut state = self.lock();
        let Some(told) = state.published.as_mut() else { return };
        let now = (self.indexer.progress(), self.indexer.revision());
        if now != (told.indexing, told.revision) {
            (told.indexing, told.revision) = now;
            self.feed.publish(AppEvent::VaultChanged { vault: Some(told.clone()) });
        }
    }

    /// How the vault stands for a window that opens: as it was told last, for nobody waits until
    /// the notes of a large vault are counted. Where nothing is noticed they are counted behind that.
    pub(crate) async fn cached_info(self: &Arc<Self>) -> VaultInfo {
        let Some(known) = self.last_published() else {
            return self.info().await;
        };
        if self.problem().is_some() {
            let folder = Arc::clone(self);
            self.tasks.spawn(async move { folder.publish_if_changed().await });
        }
        known
    }

    pub(super) fn report_unwatched(&self, error: UserError) {
        self.lock().unwatched = Some(error.clone());
        self.feed.publish(AppEvent::Problem { error });
    }

    fn lock(&self) -> MutexGuard<'_, FolderStatusInner> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
