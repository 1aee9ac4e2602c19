//! The index of the open vault: what is asked of it, and the work on it, which holds up nobody.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use index::{Index, IndexError, UserIndex};
use protocol::error::sentence;
use protocol::event::IndexProgress as HowFar;
use protocol::{ChangeKind, NotePath, PrivateRules, UserError};
use tokio::sync::Notify;
use vault::ledger::Ledger;
use vault::{Applied, ApplyError, ChangeBatch, Progress, Vault};

use crate::support::blocking::run_blocking;

/// The time without a change after which what has changed is kept on disk.
const SAVE_AFTER_QUIET: Duration = Duration::from_secs(5);

/// … and the time after which it is kept when somebody never pauses.
const MAX_UNSAVED: Duration = Duration::from_secs(60);

/// The index of the open vault, and who asks for work on it.
#[derive(Clone)]
pub(crate) struct Indexer {
    /// As models may ask it.
    pub(crate) index: Index,
    /// As the user asks it. No tool is given it.
    pub(crate) user: UserIndex,
    /// Notified when nobody knows what changed.
    pub(super) rescan: Arc<Notify>,
    /// Notified when something changed.
    pub(super) changed: Arc<Notify>,
    /// Whether it is being brought up to date.
    pub(super) is_catching_up: Arc<AtomicBool>,
    /// Rises when it holds something else.
    revision: Arc<AtomicU32>,
    stop: Arc<AtomicBool>,
}

impl Indexer {
    /// An index in `dir` that nobody has brought up to date yet.
    pub(crate) fn new(vault: &Vault, rules: PrivateRules, dir: &Path) -> Self {
        let user = UserIndex::new(vault, rules, dir);
        Self {
            index: user.for_models(),
            user,
            rescan: Arc::default(),
            changed: Arc::default(),
            is_catching_up: Arc::new(AtomicBool::new(true)),
            revision: Arc::default(),
            stop: Arc::default(),
        }
    }

    /// Anything may have changed.
    pub(crate) fn request_rescan(&self) {
        self.rescan.notify_one();
    }

    /// From now on these are private. Searches read the notes until the index knows of it. Dropped
    /// half-way, the rules are set all the same.
    pub(crate) async fn set_rules(&self, rules: PrivateRules) {
        let indexer = self.clone();
        let set = move || {
            indexer.index.set_rules(rules);
            indexer.request_rescan();
        };
        // Nothing fails here but the end of the program.
        let _ = run_blocking(set).await;
    }

    /// Looks at files that changed; when this returns searches find what they hold.
    pub(crate) async fn refresh(&self, files: Vec<NotePath>) {
        let index = self.index.clone();
        // Nothing fails here but the end of the program.
        let _ = run_blocking(move || index.refresh(&files)).await;
        self.revision.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// How far building it is; `None` when it stands, or could not be built.
    pub(crate) fn progress(&self) -> Option<HowFar> {
        let covered = self.index.coverage();
        // It stands a moment before that is counted as a change.
        let is_built = (covered.is_ready && self.revision() > 0)
            || !self.is_catching_up.load(Ordering::Relaxed);
        let count = |files: usize| u32::try_from(files).unwrap_or(u32::MAX);
        (!is_built).then(|| HowFar { done: count(covered.done), all: count(covered.all) })
    }

    /// Rises when it holds something else.
    pub(crate) fn revision(&self) -> u32 {
        self.revision.load(Ordering::Relaxed)
    }

    /// Lets work that takes long end early.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Carries out a change set. When this returns searches find what it made.
    pub(crate) async fn apply(
        &self,
        vault: &Vault,
        batch: ChangeBatch,
        ledger: &dyn Ledger,
        progress: &Progress,
    ) -> Result<Applied, ApplyError> {
        let changes = || batch.changes.iter().map(|planned| &planned.change);
        let takes_many = changes().any(|change| affects_many_files(change.kind()));
        let mut files: Vec<NotePath> = changes().map(|change| change.path.clone()).collect();
        files.extend(changes().filter_map(|change| change.target().cloned()));
        let applied = vault.apply_until(progress, batch, ledger).await;
        if takes_many {
            self.catch_up().await;
            if !self.index.coverage().is_ready {
                self.request_rescan();
            }
        } else {
            self.refresh(files).await;
        }
        applied
    }

    /// The index as the user asks it, which holds what is on disk now. `None` while it is being built, or where it cannot
    /// be brought up to date.
    pub(crate) async fn up_to_date(&self) -> Option<UserIndex> {
        if !self.index.coverage().is_ready {
            return None;
        }
        self.catch_up().await;
        let is_ready = self.index.coverage().is_ready;
        if !is_ready {
            self.request_rescan();
        }
        // One that was stopped half-way holds what it held before.
        let is_current = is_ready && !self.stop.load(Ordering::Relaxed);
        is_current.then(|| self.user.clone())
    }

    pub(super) async fn catch_up(&self) -> Option<UserError> {
        let (index, stop) = (self.index.clone(), Arc::clone(&self.stop));
        let caught_up = index_error(run_blocking(move || index.catch_up(&stop)).await);
        self.revision.fetch_add(1, Ordering::Relaxed);
        caught_up
    }

    /// Rebuilds the index, so that it holds no text that is in no note any more.
    pub(crate) async fn rebuild(&self) -> Option<UserError> {
        let index = self.index.clone();
        let done = index_error(run_blocking(move || index.reset()).await);
        self.request_rescan();
        done
    }

    /// Resolves when something has changed and nothing has for a while, or something all the time.
    pub(super) async fn wait_until_quiet(&self) {
        self.changed.notified().await;
        let end = Instant::now() + MAX_UNSAVED;
        while Instant::now() < end {
            if tokio::time::timeout(SAVE_AFTER_QUIET, self.changed.notified()).await.is_err() {
                return;
            }
        }
    }

    pub(super) async fn update_ranking(&self) -> Option<UserError> {
        let (index, stop) = (self.index.clone(), Arc::clone(&self.stop));
        index_error(run_blocking(move || index.update_fulltext(&stop).map(log_ranked)).await)
    }

    pub(super) async fn save_changes(&self) -> Option<UserError> {
        let (index, stop) = (self.index.clone(), Arc::clone(&self.stop));
        index_error(run_blocking(move || index.save(&stop)).await)
    }
}

fn log_ranked(notes: usize) {
    tracing::debug!(notes, "the ranking holds what it lacked");
}

/// Whether a change affects files that it does not name.
const fn affects_many_files(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::RenameFolder | ChangeKind::TrashFolder | ChangeKind::RestoreFolder)
}

fn index_error(done: Result<Result<(), IndexError>, UserError>) -> Option<UserError> {
    match done {
        Ok(Ok(())) => None,
        // The folder is gone: that is told by who watches it.
        Ok(Err(IndexError::Vault(_))) => None,
        Ok(Err(error)) => Some(UserError::other(sentence(&error.to_string()))),
        Err(error) => Some(error),
    }
}
