//! The thread when the system gives no more watches, or loses count.
#![allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]

use std::path::Path;

use notify::{Config, Error, EventHandler, WatcherKind};

use super::*;

/// A system that watches so many folders and no more.
struct LimitedWatcher(usize);

impl Watcher for LimitedWatcher {
    fn new<F: EventHandler>(_: F, _: Config) -> notify::Result<Self> {
        Ok(Self(0))
    }

    fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
        self.0 = self.0.checked_sub(1).ok_or_else(|| Error::new(ErrorKind::MaxFilesWatch))?;
        Ok(())
    }

    fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
        Ok(())
    }

    fn kind() -> WatcherKind {
        WatcherKind::NullWatcher
    }
}

struct WatchThreadFixture {
    _all: tempfile::TempDir,
    lookout: WatchThread,
    heard: Receiver<WatchEvent>,
}

/// A lookout over four folders.
fn fixture() -> WatchThreadFixture {
    let all = tempfile::tempdir().unwrap();
    for name in ["one", "two", "three"] {
        std::fs::create_dir(all.path().join(name)).unwrap();
    }
    let (bell, heard) = event_channel();
    let vault = Vault::open(all.path()).unwrap();
    let lookout = WatchThread::new(vault, Arc::default(), bell);
    WatchThreadFixture { _all: all, lookout, heard }
}

/// Runs the work until everything was told, and returns what was.
async fn collect_changes(mut post: WatchThreadFixture) -> Vec<VaultChange> {
    let mut told = Vec::new();
    let (bell, queue) = (post.lookout.sender.clone(), Arc::clone(&post.lookout.queue));
    let work = tokio::task::spawn_blocking(move || post.lookout.run(&post.heard));
    while let Some(changed) = queue.next().await {
        told.push(changed);
        if told.last() == Some(&VaultChange::Everything) {
            bell.stop();
        }
    }
    work.await.unwrap();
    told
}

#[tokio::test]
async fn when_the_system_has_no_more_watches_it_is_said_once_and_the_work_goes_on() {
    let mut post = fixture();
    post.lookout.watcher = Some(Box::new(LimitedWatcher(2)));
    let told = collect_changes(post).await;
    let [VaultChange::Late { why }, VaultChange::Everything] = &told[..] else {
        panic!("{told:?}")
    };
    assert!(why.contains("seconds late") && why.contains("max_user_watches"), "{why}");
}

#[tokio::test]
async fn when_the_system_has_enough_watches_nothing_is_said_of_them() {
    let mut post = fixture();
    post.lookout.watcher = Some(Box::new(LimitedWatcher(4)));
    assert_eq!(collect_changes(post).await, [VaultChange::Everything]);
}

#[test]
fn changes_in_folders_without_a_watch_are_found_in_a_round_until_there_is_one() {
    let WatchThreadFixture { _all, mut lookout, heard } = fixture();
    for name in ["one", "two", "three"] {
        std::fs::write(_all.path().join(name).join("a.md"), "1").unwrap();
    }
    lookout.watcher = Some(Box::new(LimitedWatcher(2)));
    lookout.watch_all();
    assert_eq!((lookout.folders.len(), lookout.polled.folders().len()), (1, 2));

    for name in ["one", "two", "three"] {
        std::fs::write(_all.path().join(name).join("a.md"), "longer").unwrap();
    }
    std::fs::create_dir_all(_all.path().join("three/new")).unwrap();
    lookout.poll_unwatched();
    assert_eq!(lookout.files.len(), 2, "the third is the system's to tell: {:?}", lookout.files);

    let unwatched = lookout.polled.folders().len();
    lookout.watcher = Some(Box::new(LimitedWatcher(usize::MAX)));
    lookout.poll_unwatched();
    assert_eq!((unwatched >= 2, lookout.polled.folders().len()), (true, 0));
    drop(heard);
}

#[test]
fn without_any_watcher_every_folder_is_in_the_rounds_until_the_system_gives_one() {
    let WatchThreadFixture { _all, mut lookout, heard } = fixture();
    lookout.watcher = None;
    lookout.watch_all();
    lookout.needs_rescan = false;
    assert_eq!((lookout.folders.len(), lookout.polled.folders().len()), (0, 4));
    lookout.poll_unwatched();
    assert!(lookout.needs_rescan && lookout.watcher.is_some());
    assert_eq!((lookout.folders.len(), lookout.polled.folders().len()), (3, 0));
    drop(heard);
}

#[test]
fn after_lost_reports_everything_may_have_changed_and_every_folder_is_watched_again() {
    let WatchThreadFixture { _all, mut lookout, heard } = fixture();
    lookout.watch_all();
    lookout.needs_rescan = false;
    lookout.folders.clear();
    lookout.handle_event(WatchEvent::Lost);
    assert!(lookout.sender.overflowed.load(Ordering::Acquire));
    lookout.restart_watching();
    assert!(lookout.needs_rescan);
    assert_eq!(lookout.folders.len(), 3);
    drop(heard);
}

#[test]
fn more_reports_than_may_wait_are_lost_and_not_waited_for() {
    let WatchThreadFixture { _all, lookout, heard } = fixture();
    let file = WatchEvent::Saved(NotePath::parse("a.md").unwrap());
    (0..MAX_QUEUED_EVENTS).for_each(|_| lookout.sender.send(file.clone()));
    assert!(!lookout.sender.overflowed.load(Ordering::Acquire));
    lookout.sender.send(file);
    assert!(lookout.sender.overflowed.load(Ordering::Acquire));
    drop(heard);
}

/// Whether a change of a note is told that the system does not report, by folders that count as such.
async fn tells_unreported(changes_unreported: fn(BorrowedFd<'_>) -> bool) -> bool {
    const LONGER_THAN_A_ROUND: Duration = Duration::from_secs(6);
    let mut post = fixture();
    // It takes every watch, and never reports anything.
    post.lookout.watcher = Some(Box::new(LimitedWatcher(usize::MAX)));
    post.lookout.changes_unreported = changes_unreported;
    let (bell, queue) = (post.lookout.sender.clone(), Arc::clone(&post.lookout.queue));
    let note = post._all.path().join("one/note.md");
    let heard = post.heard;
    let mut lookout = post.lookout;
    let work = tokio::task::spawn_blocking(move || lookout.run(&heard));
    assert_eq!(queue.next().await, Some(VaultChange::Everything));
    std::fs::write(note, "by another computer").unwrap();
    let told = tokio::time::timeout(LONGER_THAN_A_ROUND, queue.next()).await;
    bell.stop();
    work.await.unwrap();
    match told {
        Ok(told) => {
            let note = NotePath::parse("one/note.md").unwrap();
            assert_eq!(told, Some(VaultChange::Notes(vec![note])));
            true
        }
        Err(_) => false,
    }
}

#[tokio::test]
async fn changes_that_the_system_does_not_report_are_found_in_rounds() {
    assert!(tells_unreported(|_| true).await);
    assert!(!tells_unreported(|_| false).await, "the control: no report, no round");
}
