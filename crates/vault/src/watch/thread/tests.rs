//! The thread when the system gives no more watches, or loses count.
#![allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]

use std::path::Path;

use notify::{Config, Error, EventHandler, WatcherKind};

use super::*;

/// A system that watches this many folders and no more.
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
    thread: WatchThread,
    receiver: Receiver<WatchEvent>,
}

/// A thread that watches four folders.
fn fixture() -> WatchThreadFixture {
    let all = tempfile::tempdir().unwrap();
    for name in ["one", "two", "three"] {
        std::fs::create_dir(all.path().join(name)).unwrap();
    }
    let (sender, receiver) = event_channel();
    let vault = Vault::open(all.path()).unwrap();
    let thread = WatchThread::new(vault, Arc::default(), sender);
    WatchThreadFixture { _all: all, thread, receiver }
}

/// Runs the work until everything was told, and returns what was.
async fn collect_changes(mut fixture: WatchThreadFixture) -> Vec<VaultChange> {
    let mut told = Vec::new();
    let (sender, queue) = (fixture.thread.sender.clone(), Arc::clone(&fixture.thread.queue));
    let work = tokio::task::spawn_blocking(move || fixture.thread.run(&fixture.receiver));
    while let Some(changed) = queue.next().await {
        told.push(changed);
        if told.last() == Some(&VaultChange::Everything) {
            sender.stop();
        }
    }
    work.await.unwrap();
    told
}

#[tokio::test]
async fn when_the_system_has_no_more_watches_it_is_said_once_and_the_work_goes_on() {
    let mut fixture = fixture();
    fixture.thread.watcher = Some(Box::new(LimitedWatcher(2)));
    let told = collect_changes(fixture).await;
    let [VaultChange::Late { why }, VaultChange::Everything] = &told[..] else {
        panic!("{told:?}")
    };
    assert!(why.contains("seconds late") && why.contains("max_user_watches"), "{why}");
}

#[tokio::test]
async fn when_the_system_has_enough_watches_nothing_is_said_of_them() {
    let mut fixture = fixture();
    fixture.thread.watcher = Some(Box::new(LimitedWatcher(4)));
    assert_eq!(collect_changes(fixture).await, [VaultChange::Everything]);
}

#[test]
fn changes_in_folders_without_a_watch_are_found_in_a_round_until_there_is_one() {
    let WatchThreadFixture { _all, mut thread, receiver } = fixture();
    for name in ["one", "two", "three"] {
        std::fs::write(_all.path().join(name).join("a.md"), "1").unwrap();
    }
    thread.watcher = Some(Box::new(LimitedWatcher(2)));
    thread.watch_all();
    assert_eq!((thread.folders.len(), thread.polled.folders().len()), (1, 2));

    for name in ["one", "two", "three"] {
        std::fs::write(_all.path().join(name).join("a.md"), "longer").unwrap();
    }
    std::fs::create_dir_all(_all.path().join("three/new")).unwrap();
    thread.poll_unwatched();
    assert_eq!(thread.files.len(), 2, "the third is the system's to tell: {:?}", thread.files);

    let unwatched = thread.polled.folders().len();
    thread.watcher = Some(Box::new(LimitedWatcher(usize::MAX)));
    thread.poll_unwatched();
    assert_eq!((unwatched >= 2, thread.polled.folders().len()), (true, 0));
    drop(receiver);
}

#[test]
fn files_of_a_folder_without_a_watch_are_reported_when_its_parent_reports_its_removal() {
    let WatchThreadFixture { _all, mut thread, receiver } = fixture();
    for name in ["one", "two", "three"] {
        std::fs::write(_all.path().join(name).join("a.md"), "1").unwrap();
    }
    thread.watcher = Some(Box::new(LimitedWatcher(2)));
    thread.watch_all();
    thread.files.clear();
    let folder = thread.polled.folders().into_iter().flatten().next().unwrap();
    std::fs::remove_dir_all(_all.path().join(folder.as_str())).unwrap();
    thread.handle_event(WatchEvent::FolderRemoved(folder.clone()));
    let files: Vec<_> = thread.files.iter().map(NotePath::as_str).collect();
    assert_eq!(files, [format!("{folder}/a.md")]);
    assert_eq!(thread.polled.folders().len(), 1, "the other one stays in the rounds");
    drop(receiver);
}

#[test]
fn without_any_watcher_every_folder_is_in_the_rounds_until_the_system_gives_one() {
    let WatchThreadFixture { _all, mut thread, receiver } = fixture();
    thread.watcher = None;
    thread.watch_all();
    thread.needs_rescan = false;
    assert_eq!((thread.folders.len(), thread.polled.folders().len()), (0, 4));
    thread.poll_unwatched();
    assert!(thread.needs_rescan && thread.watcher.is_some());
    assert_eq!((thread.folders.len(), thread.polled.folders().len()), (3, 0));
    drop(receiver);
}

#[test]
fn after_lost_reports_everything_may_have_changed_and_every_folder_is_watched_again() {
    let WatchThreadFixture { _all, mut thread, receiver } = fixture();
    thread.watch_all();
    thread.needs_rescan = false;
    thread.folders.clear();
    thread.handle_event(WatchEvent::Lost);
    assert!(thread.sender.overflowed.load(Ordering::Acquire));
    thread.restart_watching();
    assert!(thread.needs_rescan);
    assert_eq!(thread.folders.len(), 3);
    drop(receiver);
}

#[test]
fn more_reports_than_may_wait_are_lost_and_not_waited_for() {
    let WatchThreadFixture { _all, thread, receiver } = fixture();
    let file = WatchEvent::Saved(NotePath::parse("a.md").unwrap());
    (0..MAX_QUEUED_EVENTS).for_each(|_| thread.sender.send(file.clone()));
    assert!(!thread.sender.overflowed.load(Ordering::Acquire));
    thread.sender.send(file);
    assert!(thread.sender.overflowed.load(Ordering::Acquire));
    drop(receiver);
}

/// Whether a change of a note is told that the system does not report, by folders that count as such.
async fn tells_unreported(changes_unreported: fn(BorrowedFd<'_>) -> bool) -> bool {
    const LONGER_THAN_A_ROUND: Duration = Duration::from_secs(6);
    let mut fixture = fixture();
    // It takes every watch, and never reports anything.
    fixture.thread.watcher = Some(Box::new(LimitedWatcher(usize::MAX)));
    fixture.thread.changes_unreported = changes_unreported;
    let (sender, queue) = (fixture.thread.sender.clone(), Arc::clone(&fixture.thread.queue));
    let note = fixture._all.path().join("one/note.md");
    let receiver = fixture.receiver;
    let mut thread = fixture.thread;
    let work = tokio::task::spawn_blocking(move || thread.run(&receiver));
    assert_eq!(queue.next().await, Some(VaultChange::Everything));
    std::fs::write(note, "by another computer").unwrap();
    let told = tokio::time::timeout(LONGER_THAN_A_ROUND, queue.next()).await;
    sender.stop();
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
