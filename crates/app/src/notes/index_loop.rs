//! Keeps the index up to date: at start by the fingerprints of all files, then by the reports of the watch.
//!
//! Full-text ranking is built beside that. Changes are saved for the next start when nothing changed for 5 s, and after a
//! minute of changes at the latest. An index that could not be built is tried again after a minute.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use llm::TimeScale;
use protocol::{AppEvent, UserError};
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use crate::events::feed::Feed;
use crate::notes::folder_status::FolderStatus;
use crate::notes::indexer::Indexer;

/// The time after which an index that could not be built is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(60);

/// The time between two attempts is at least this many times as long as the last one took.
const RETRY_DELAY_FACTOR: u32 = 20;

/// The time for which a window that starts has the computer to itself.
const WINDOW_HEAD_START: Duration = Duration::from_millis(800);

/// The time between two reports to the window while the index is built.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// The work that keeps the index, and the window that is told of it.
pub(crate) struct IndexLoop {
    pub(crate) indexer: Indexer,
    pub(crate) status: Arc<FolderStatus>,
    pub(crate) feed: Feed,
}

impl IndexLoop {
    /// Brings the index up to date, and tells the window how far it is.
    async fn catch_up(&self) -> Option<UserError> {
        self.indexer.is_catching_up.store(true, Ordering::Relaxed);
        let work = self.indexer.catch_up();
        tokio::pin!(work);
        let mut beat = tokio::time::interval(PROGRESS_INTERVAL);
        let problem = loop {
            tokio::select! {
                problem = &mut work => break problem,
                _ = beat.tick() => self.status.publish_index_progress(),
            }
        };
        self.indexer.is_catching_up.store(false, Ordering::Relaxed);
        self.status.publish_index_progress();
        problem
    }

    /// Keeps the index for as long as the vault is open; a window comes first, and what it looks for
    /// meanwhile is found in the notes themselves. That the index cannot be kept is told once.
    pub(crate) async fn run(self, for_window: bool, time_scale: TimeScale) {
        if for_window {
            tokio::time::sleep(WINDOW_HEAD_START).await;
        }
        let indexing = &self.indexer;
        let mut problems = ProblemReport { feed: &self.feed, is_reported: false };
        let mut ranking = RankingUpdate::new(indexing);
        loop {
            let began = Instant::now();
            problems.report(self.catch_up().await);
            let delay = time_scale.scale(RETRY_DELAY).max(began.elapsed() * RETRY_DELAY_FACTOR);
            let retry_at = Instant::now() + delay;
            ranking.request();
            indexing.changed.notify_one();
            // Kept while a ranking ends: it has taken the notification of the change that is to be saved.
            let quiet = indexing.wait_until_quiet();
            tokio::pin!(quiet);
            loop {
                let is_built = indexing.index.coverage().is_ready;
                tokio::select! {
                    () = indexing.rescan.notified() => break,
                    () = sleep_until(retry_at.into()), if !is_built => break,
                    () = &mut quiet => {
                        problems.report(indexing.save_changes().await);
                        ranking.request();
                        quiet.set(indexing.wait_until_quiet());
                    }
                    problem = ranking.ended() => problems.report(problem),
                }
            }
        }
    }
}

/// Tells the window of the first problem.
struct ProblemReport<'l> {
    feed: &'l Feed,
    is_reported: bool,
}

impl ProblemReport<'_> {
    fn report(&mut self, problem: Option<UserError>) {
        let Some(error) = problem else { return };
        if !self.is_reported {
            self.is_reported = true;
            self.feed.publish(AppEvent::Problem { error });
        }
    }
}

/// The update of the ranking. It takes long, so it runs beside the loop; there is one at a time.
struct RankingUpdate {
    indexer: Indexer,
    running: JoinSet<Option<UserError>>,
    is_due: bool,
}

impl RankingUpdate {
    fn new(indexer: &Indexer) -> Self {
        Self { indexer: indexer.clone(), running: JoinSet::new(), is_due: false }
    }

    /// Begins an update, or has another one follow the one that runs.
    fn request(&mut self) {
        self.is_due = true;
        self.start_if_due();
    }

    fn start_if_due(&mut self) {
        if self.is_due && self.running.is_empty() {
            self.is_due = false;
            let indexer = self.indexer.clone();
            self.running.spawn(async move { indexer.update_ranking().await });
        }
    }

    /// Resolves with the problem, if there was one, when an update has ended; never while none runs. Nothing is lost
    /// when it is dropped before.
    async fn ended(&mut self) -> Option<UserError> {
        match self.running.join_next().await {
            Some(ended) => {
                self.start_if_due();
                ended.ok().flatten()
            }
            None => pending().await,
        }
    }
}
