//! Changes to notes: the policy that applies or holds them, review, diffs, undo, and their history.

pub(crate) mod apply_review;
pub(crate) mod assistant_lines;
pub(crate) mod blame;
pub(crate) mod broken_link;
pub(crate) mod diff;
pub(crate) mod diff_since;
pub(crate) mod history;
pub(crate) mod hunk_decisions;
pub(crate) mod link_repair;
pub(crate) mod overwrites;
pub(crate) mod policy;
pub(crate) mod retention;
pub(crate) mod review;
pub(crate) mod undo;

use std::sync::{Arc, Mutex, PoisonError};

use llm::TimeScale;
use protocol::{ConversationId, UserError};
use store::Store;
use tokio::sync::MutexGuard;
use vault::{Progress, Vault};

use crate::adapters::ledger::StoreLedger;
use crate::events::domain_event::{DomainEvent, DomainEvents};
use crate::events::jobs::Jobs;
use crate::notes::indexer::Indexer;

/// Carries out the user's decisions about changes of notes, undo, and the user's own changes.
pub(crate) struct NoteChanges {
    pub(crate) vault: Vault,
    pub(crate) store: Store,
    pub(crate) indexer: Indexer,
    /// For the publisher.
    pub(crate) domain_events: DomainEvents,
    jobs: Jobs,
    /// Held while a plan or a decision is carried out, so that neither sees the other half-way.
    pub(crate) change_lock: Arc<tokio::sync::Mutex<()>>,
    /// The decision that is being carried out, or was last, and its conversation.
    applying: Mutex<Option<(ConversationId, Progress)>>,
    /// Of its clocks.
    pace: TimeScale,
}

impl NoteChanges {
    pub(crate) fn new(
        vault: Vault,
        store: Store,
        indexer: Indexer,
        domain_events: DomainEvents,
        jobs: Jobs,
        pace: TimeScale,
    ) -> Self {
        let (change_lock, applying) = (Arc::default(), Mutex::default());
        Self { vault, store, indexer, domain_events, jobs, change_lock, applying, pace }
    }

    /// Waits until no plan or decision is carried out, and keeps others from it until the guard is dropped. The
    /// ledger then knows how all earlier changes ended, also where it had no room to store that.
    async fn lock_changes(&self) -> Result<MutexGuard<'_, ()>, UserError> {
        let alone = self.change_lock.lock().await;
        self.vault.settle(&StoreLedger(self.store.clone())).await?;
        Ok(alone)
    }

    /// Tells the publisher what happened.
    pub(crate) fn emit(&self, event: DomainEvent) {
        self.domain_events.emit(event);
    }

    /// Records that a decision about a conversation is being carried out until it is stopped.
    fn start_applying(&self, conversation: &ConversationId) -> Progress {
        let progress = Progress::default();
        let now = Some((conversation.clone(), progress.clone()));
        *self.applying.lock().unwrap_or_else(PoisonError::into_inner) = now;
        progress
    }

    /// Stops the decision that is being carried out in a conversation. The note that is being
    /// written is finished.
    pub(crate) fn stop_applying(&self, conversation: &ConversationId) {
        let applying = self.applying.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, progress)) = applying.as_ref().filter(|(about, _)| about == conversation) {
            progress.stop();
        }
    }
}

/// Keeps old contents of notes for a while, then deletes them.
pub(crate) struct ChangeRetention {
    store: Store,
    indexer: Indexer,
    jobs: Jobs,
    /// For the publisher.
    domain_events: DomainEvents,
    /// Held while history is being purged.
    lock: tokio::sync::Mutex<()>,
}

impl ChangeRetention {
    pub(crate) fn new(
        store: Store,
        indexer: Indexer,
        jobs: Jobs,
        domain_events: DomainEvents,
    ) -> Self {
        Self { store, indexer, jobs, domain_events, lock: tokio::sync::Mutex::default() }
    }
}
