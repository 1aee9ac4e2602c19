//! Keeping the index beside the notes: at start, when files change, and on disk for the next start.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use index::{Index, IndexError, UserIndex};
use protocol::event::Indexing as HowFar;
use protocol::{AppEvent, ChangeKind, NotePath, PrivateRules, UserError};
use tokio::sync::Notify;
use vault::ledger::Ledger;
use vault::{Applied, ApplyError, Order, Progress, Vault};

use crate::aside::aside;
use crate::open_vault::OpenVault;
use crate::trouble::sentence;

/// After so long without a change what has changed is kept on disk.
const QUIET: Duration = Duration::from_secs(5);

/// … and when somebody never pauses, after so long.
const LONGEST: Duration = Duration::from_secs(60);

/// A window that starts has the computer to itself for so long.
const WINDOW_FIRST: Duration = Duration::from_millis(800);

/// While it is built the window is told so often how far it is.
const BEAT: Duration = Duration::from_millis(250);

/// The index of the open vault, and who asks for work on it.
#[derive(Clone)]
pub(crate) struct Indexing {
    /// As models may ask it.
    pub(crate) index: Index,
    /// As the user asks it. No tool is given it.
    pub(crate) user: UserIndex,
    /// Rung when nobody knows what changed.
    look: Arc<Notify>,
    /// Rung when something changed.
    changed: Arc<Notify>,
    /// Rung when there may be another snapshot.
    renewed: Arc<Notify>,
    /// Whether the window was told that it cannot be kept.
    is_trouble_told: Arc<AtomicBool>,
    /// Whether it is being brought up to date.
    at_work: Arc<AtomicBool>,
    /// Rises when it holds something else.
    revision: Arc<AtomicU32>,
    stop: Arc<AtomicBool>,
}

impl Indexing {
    /// An index in `dir` that nobody has brought up to date yet.
    pub(crate) fn new(vault: &Vault, rules: PrivateRules, dir: &Path) -> Self {
        let user = UserIndex::new(vault, rules, dir);
        Self {
            index: user.for_models(),
            user,
            look: Arc::default(),
            changed: Arc::default(),
            renewed: Arc::default(),
            is_trouble_told: Arc::default(),
            at_work: Arc::new(AtomicBool::new(true)),
            revision: Arc::default(),
            stop: Arc::default(),
        }
    }

    /// Anything may have changed.
    pub(crate) fn look_again(&self) {
        self.look.notify_one();
    }

    /// From now on these are private. Searches read the notes until the index knows of it.
    pub(crate) fn set_rules(&self, rules: PrivateRules) {
        self.index.set_rules(rules);
        self.look_again();
    }

    /// Looks at files that changed; when this returns searches find what they hold.
    pub(crate) async fn refresh(&self, files: Vec<NotePath>) {
        let index = self.index.clone();
        // Nothing fails here but the end of the program.
        let _ = aside(move || index.refresh(&files)).await;
        self.revision.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// How far building it is; `None` when it stands, or could not be built.
    pub(crate) fn progress(&self) -> Option<HowFar> {
        let covered = self.index.coverage();
        // It stands a moment before that is counted as a change.
        let is_built =
            (covered.stands && self.revision() > 0) || !self.at_work.load(Ordering::Relaxed);
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
        order: Order,
        ledger: &dyn Ledger,
        progress: &Progress,
    ) -> Result<Applied, ApplyError> {
        let changes = || order.changes.iter().map(|planned| &planned.change);
        let takes_many = changes().any(|change| takes_many(change.kind()));
        let mut files: Vec<NotePath> = changes().map(|change| change.path.clone()).collect();
        files.extend(changes().filter_map(|change| change.target().cloned()));
        let applied = vault.apply_until(progress, order, ledger).await;
        if takes_many {
            self.catch_up().await;
        } else {
            self.refresh(files).await;
        }
        applied
    }

    async fn catch_up(&self) -> Option<UserError> {
        let (index, stop) = (self.index.clone(), Arc::clone(&self.stop));
        let caught_up = trouble(aside(move || index.catch_up(&stop)).await);
        self.revision.fetch_add(1, Ordering::Relaxed);
        caught_up
    }

    /// Puts away texts that the index still has and no note; it is built anew.
    pub(crate) async fn start_over(&self) -> Option<UserError> {
        let index = self.index.clone();
        let done = trouble(aside(move || index.start_over()).await);
        self.look_again();
        done
    }

    /// Resolves when something has changed and nothing has for a while, or something all the time.
    async fn quiet(&self) {
        self.changed.notified().await;
        let end = Instant::now() + LONGEST;
        while Instant::now() < end {
            if tokio::time::timeout(QUIET, self.changed.notified()).await.is_err() {
                return;
            }
        }
    }

    async fn rank(&self) -> Option<UserError> {
        let (index, stop) = (self.index.clone(), Arc::clone(&self.stop));
        trouble(aside(move || index.rank(&stop).map(ranked)).await)
    }

    async fn tidy(&self) -> Option<UserError> {
        let (index, stop) = (self.index.clone(), Arc::clone(&self.stop));
        trouble(aside(move || index.tidy(&stop)).await)
    }
}

impl OpenVault {
    /// Brings the index up to date, and tells the window how far it is.
    async fn catch_up(&self) -> Option<UserError> {
        self.indexing.at_work.store(true, Ordering::Relaxed);
        let work = self.indexing.catch_up();
        tokio::pin!(work);
        let mut beat = tokio::time::interval(BEAT);
        let problem = loop {
            tokio::select! {
                problem = &mut work => break problem,
                _ = beat.tick() => self.tell_index(),
            }
        };
        self.indexing.at_work.store(false, Ordering::Relaxed);
        self.tell_index();
        problem
    }

    /// Keeps the index for as long as the vault is open; a window comes first, and what it looks for
    /// meanwhile is found in the notes themselves. That the index cannot be kept is told once.
    pub(crate) async fn keep_index(self: Arc<Self>, for_window: bool) {
        if for_window {
            tokio::time::sleep(WINDOW_FIRST).await;
        }
        let indexing = &self.indexing;
        // Apart from this: ranking takes long, and what was lost is looked for meanwhile.
        self.spawn(Arc::clone(&self).keep_ranking());
        loop {
            self.tell_unkept(self.catch_up().await);
            indexing.renewed.notify_one();
            indexing.changed.notify_one();
            loop {
                tokio::select! {
                    () = indexing.look.notified() => break,
                    () = indexing.quiet() => {
                        self.tell_unkept(indexing.tidy().await);
                        indexing.renewed.notify_one();
                    }
                }
            }
        }
    }

    async fn keep_ranking(self: Arc<Self>) {
        loop {
            self.indexing.renewed.notified().await;
            self.tell_unkept(self.indexing.rank().await);
        }
    }

    fn tell_unkept(&self, problem: Option<UserError>) {
        let Some(error) = problem else { return };
        if !self.indexing.is_trouble_told.swap(true, Ordering::Relaxed) {
            self.feed.tell(AppEvent::Problem { error });
        }
    }
}

fn ranked(notes: usize) {
    tracing::debug!(notes, "the ranking holds what it lacked");
}

/// Whether a change takes files along that it does not name.
const fn takes_many(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::RenameFolder | ChangeKind::TrashFolder | ChangeKind::RestoreFolder)
}

fn trouble(done: Result<Result<(), IndexError>, UserError>) -> Option<UserError> {
    match done {
        Ok(Ok(())) => None,
        // The folder is gone: that is told by who watches it.
        Ok(Err(IndexError::Vault(_))) => None,
        Ok(Err(error)) => Some(UserError::other(sentence(&error.to_string()))),
        Err(error) => Some(error),
    }
}
