//! Work that may take long: the window is told how far it is, and stops it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::AppEvent;
use protocol::work::{Work, WorkKind};
use vault::Progress;

use crate::feed::Feed;

/// How often the window is told how far work is.
const BEAT: Duration = Duration::from_millis(150);

/// What is under way. Clones are the same.
#[derive(Clone)]
pub(crate) struct Works {
    feed: Feed,
    underway: Arc<Mutex<Underway>>,
}

#[derive(Default)]
struct Underway {
    begun: u32,
    works: Vec<(u32, WorkKind, Progress)>,
    /// What the window knows.
    told: Vec<Work>,
}

impl Works {
    pub(crate) fn new(feed: Feed) -> Self {
        Self { feed, underway: Arc::default() }
    }

    /// Does `work`, which counts its steps in `progress` and ends early when that is stopped. May be
    /// dropped as `work` may.
    pub(crate) async fn watch<T>(
        &self,
        kind: WorkKind,
        progress: &Progress,
        work: impl Future<Output = T>,
    ) -> T {
        let _begun = self.begin(kind, progress);
        tokio::pin!(work);
        let mut beat = tokio::time::interval(BEAT);
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = beat.tick() => self.tell(),
            }
        }
    }

    /// Stops work of which a window knows; nothing happens where it is over.
    pub(crate) fn stop(&self, id: u32) {
        let found = self.lock().works.iter().find(|(of, ..)| *of == id).cloned();
        if let Some((_, _, progress)) = found {
            progress.stop();
            self.tell();
        }
    }

    /// What is under way, the oldest first.
    pub(crate) fn list(&self) -> Vec<Work> {
        self.lock().list()
    }

    fn begin(&self, kind: WorkKind, progress: &Progress) -> Begun<'_> {
        let mut underway = self.lock();
        underway.begun = underway.begun.wrapping_add(1);
        let id = underway.begun;
        underway.works.push((id, kind, progress.clone()));
        Begun { works: self, id }
    }

    fn tell(&self) {
        let mut underway = self.lock();
        let works = underway.list();
        if works != underway.told {
            underway.told.clone_from(&works);
            // Under the lock: what is told last is how it stands.
            self.feed.tell(AppEvent::WorkChanged { works });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Underway> {
        self.underway.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Underway {
    fn list(&self) -> Vec<Work> {
        let work = |(id, kind, progress): &(u32, WorkKind, Progress)| Work {
            id: *id,
            kind: *kind,
            done: count(progress.done()),
            all: Some(count(progress.all())).filter(|all| *all > 0),
            stopping: progress.is_stopped(),
        };
        self.works.iter().map(work).collect()
    }
}

/// Work that is under way for as long as this lives.
struct Begun<'a> {
    works: &'a Works,
    id: u32,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.works.lock().works.retain(|(id, ..)| *id != self.id);
        self.works.tell();
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
        let (works, heard) = (Works::new(feed.clone()), heard(&feed));
        let progress = Progress::default();
        progress.expect(10);
        let steps = async {
            // Between two beats.
            tokio::time::sleep(BEAT / 2).await;
            while progress.done() < 10 && !progress.is_stopped() {
                progress.advance(1);
                tokio::time::sleep(BEAT).await;
            }
            progress.done()
        };
        let stop = async {
            tokio::time::sleep(3 * BEAT + BEAT / 4).await;
            let [work] = works.list().try_into().expect("one");
            works.stop(work.id);
            work
        };
        let (done, work) = tokio::join!(works.watch(WorkKind::Undoing, &progress, steps), stop);
        assert_eq!((done, work.done, work.all, work.stopping), (3, 3, Some(10), false));
        assert!(works.list().is_empty());
        feed.flush();
        let told: Vec<Vec<Work>> = (heard.lock().expect("not poisoned").iter())
            .filter_map(|event| match event {
                AppEvent::WorkChanged { works } => Some(works.clone()),
                _ => None,
            })
            .collect();
        let dones = told.iter().flatten().map(|work| (work.done, work.stopping));
        let dones: Vec<_> = dones.collect();
        assert_eq!(dones, [(0, false), (1, false), (2, false), (3, false), (3, true)]);
        assert_eq!(told.last(), Some(&Vec::new()), "it is over");
        works.stop(work.id);
    }

    #[tokio::test]
    async fn work_that_is_dropped_is_not_told_any_more() {
        let works = Works::new(Feed::default());
        let progress = Progress::default();
        let never = works.watch(WorkKind::Exporting, &progress, std::future::pending::<()>());
        assert!(tokio::time::timeout(BEAT, never).await.is_err());
        assert!(works.list().is_empty());
    }
}
