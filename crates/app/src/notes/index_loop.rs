//! Keeps the index up to date: at start by the fingerprints of all files, then by the reports of the watch.
//!
//! Full-text ranking is built beside that. Changes are saved for the next start when nothing changed for 5 s, and after a
//! minute of changes at the latest. An index that could not be built is tried again after a minute.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use llm::TimeScale;
use protocol::{AppEvent, UserError};
use tokio::time::sleep_until;

use crate::events::feed::Feed;
use crate::notes::folder_status::FolderStatus;
use crate::notes::indexer::Indexer;
use crate::support::task_group::TaskGroup;

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
    pub(crate) tasks: TaskGroup,
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
    pub(crate) async fn run(self: Arc<Self>, for_window: bool, time_scale: TimeScale) {
        if for_window {
            tokio::time::sleep(WINDOW_HEAD_START).await;
        }
        let indexing = &self.indexer;
        // Apart from this: ranking takes long, and what was lost is looked for meanwhile.
        self.tasks.spawn(Arc::clone(&self).run_ranking_loop());
        loop {
            let began = Instant::now();
            self.report_problem(self.catch_up().await);
            let delay = time_scale.scale(RETRY_DELAY).max(began.elapsed() * RETRY_DELAY_FACTOR);
            let retry_at = Instant::now() + delay;
            indexing.ranking_due.notify_one();
            indexing.changed.notify_one();
            loop {
                let is_built = indexing.index.coverage().is_ready;
                tokio::select! {
                    () = indexing.rescan.notified() => break,
                    () = sleep_until(retry_at.into()), if !is_built => break,
                    () = indexing.wait_until_quiet() => {
                        self.report_problem(indexing.save_changes().await);
                        indexing.ranking_due.notify_one();
                    }
                }
            }
        }
    }

    async fn run_ranking_loop(self: Arc<Self>) {
        loop {
            self.indexer.ranking_due.notified().await;
            self.report_problem(self.indexer.update_ranking().await);
        }
    }

    fn report_problem(&self, problem: Option<UserError>) {
        let Some(error) = problem else { return };
        if !self.indexer.is_problem_reported.swap(true, Ordering::Relaxed) {
            self.feed.publish(AppEvent::Problem { error });
        }
    }
}
