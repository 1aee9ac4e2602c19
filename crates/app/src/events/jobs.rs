//! Work that may take long: the window is told how far it is, and stops it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::AppEvent;
use protocol::job::{JobKind, JobProgress};
use vault::Progress;

use crate::events::feed::Feed;

/// How often the window is told how far work is.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(150);

/// The running jobs. Clones share them.
#[derive(Clone)]
pub(crate) struct Jobs {
    feed: Feed,
    running: Arc<Mutex<RunningJobs>>,
}

#[derive(Default)]
struct RunningJobs {
    last_id: u32,
    jobs: Vec<(u32, JobKind, Progress)>,
    /// The jobs that the window was sent last.
    published: Vec<JobProgress>,
}

impl Jobs {
    pub(crate) fn new(feed: Feed) -> Self {
        Self { feed, running: Arc::default() }
    }

    /// Does `work`, which counts its steps in `progress` and ends early when that is stopped. May be
    /// dropped as `work` may.
    pub(crate) async fn run<T>(
        &self,
        kind: JobKind,
        progress: &Progress,
        work: impl Future<Output = T>,
    ) -> T {
        let _begun = self.start(kind, progress);
        tokio::pin!(work);
        let mut beat = tokio::time::interval(PROGRESS_INTERVAL);
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = beat.tick() => self.publish(),
            }
        }
    }

    /// Stops work of which a window knows; nothing happens where it is over.
    pub(crate) fn stop(&self, id: u32) {
        let found = self.lock().jobs.iter().find(|(of, ..)| *of == id).cloned();
        if let Some((_, _, progress)) = found {
            progress.stop();
            self.publish();
        }
    }

    /// The running jobs, oldest first.
    pub(crate) fn list(&self) -> Vec<JobProgress> {
        self.lock().list()
    }

    fn start(&self, kind: JobKind, progress: &Progress) -> JobGuard<'_> {
        let mut underway = self.lock();
        underway.last_id = underway.last_id.wrapping_add(1);
        let id = underway.last_id;
        underway.jobs.push((id, kind, progress.clone()));
        JobGuard { jobs: self, id }
    }

    fn publish(&self) {
        let mut underway = self.lock();
        let jobs = underway.list();
        if jobs != underway.published {
            underway.published.clone_from(&jobs);
            // Under the lock: what is told last is how it stands.
            self.feed.publish(AppEvent::JobsChanged { jobs });
        }
    }

    fn lock(&self) -> MutexGuard<'_, RunningJobs> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningJobs {
    fn list(&self) -> Vec<JobProgress> {
        let work = |(id, kind, progress): &(u32, JobKind, Progress)| JobProgress {
            id: *id,
            kind: *kind,
            done: count(progress.done()),
            all: Some(count(progress.all())).filter(|all| *all > 0),
            stopping: progress.is_stopped(),
        };
        self.jobs.iter().map(work).collect()
    }
}

/// Work that is under way for as long as this lives.
struct JobGuard<'a> {
    jobs: &'a Jobs,
    id: u32,
}

impl Drop for JobGuard<'_> {
    fn drop(&mut self) {
        self.jobs.lock().jobs.retain(|(id, ..)| *id != self.id);
        self.jobs.publish();
    }
}

fn count(steps: usize) -> u32 {
    u32::try_from(steps).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(feed: &Feed) -> Arc<Mutex<Vec<AppEvent>>> {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&heard);
        feed.subscribe(Box::new(move |batch| {
            let events = batch.into_iter().map(|numbered| numbered.event);
            sink.lock().expect("not poisoned").extend(events);
            true
        }));
        heard
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_told_while_it_goes_on_stops_between_two_steps_and_is_gone_at_its_end() {
        let feed = Feed::default();
        let (jobs, heard) = (Jobs::new(feed.clone()), heard(&feed));
        let progress = Progress::default();
        progress.expect(10);
        let steps = async {
            // Between two beats.
            tokio::time::sleep(PROGRESS_INTERVAL / 2).await;
            while progress.done() < 10 && !progress.is_stopped() {
                progress.advance(1);
                tokio::time::sleep(PROGRESS_INTERVAL).await;
            }
            progress.done()
        };
        let stop = async {
            tokio::time::sleep(3 * PROGRESS_INTERVAL + PROGRESS_INTERVAL / 4).await;
            let [work] = jobs.list().try_into().expect("one");
            jobs.stop(work.id);
            work
        };
        let (done, work) = tokio::join!(jobs.run(JobKind::Undoing, &progress, steps), stop);
        assert_eq!((done, work.done, work.all, work.stopping), (3, 3, Some(10), false));
        assert!(jobs.list().is_empty());
        feed.flush();
        let told: Vec<Vec<JobProgress>> = (heard.lock().expect("not poisoned").iter())
            .filter_map(|event| match event {
                AppEvent::JobsChanged { jobs } => Some(jobs.clone()),
                _ => None,
            })
            .collect();
        let dones = told.iter().flatten().map(|work| (work.done, work.stopping));
        let dones: Vec<_> = dones.collect();
        assert_eq!(dones, [(0, false), (1, false), (2, false), (3, false), (3, true)]);
        assert_eq!(told.last(), Some(&Vec::new()), "it is over");
        jobs.stop(work.id);
    }

    #[tokio::test]
    async fn work_that_is_dropped_is_not_told_any_more() {
        let jobs = Jobs::new(Feed::default());
        let progress = Progress::default();
        let never = jobs.run(JobKind::Exporting, &progress, std::future::pending::<()>());
        assert!(tokio::time::timeout(PROGRESS_INTERVAL, never).await.is_err());
        assert!(jobs.list().is_empty());
    }
}
