//! What the thread does when the system gives no more watches, or loses count.
#![allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]

use std::path::Path;

use notify::{Config, Error, EventHandler, WatcherKind};

use super::*;

/// A system that watches so many folders and no more.
struct Stingy(usize);

impl Watcher for Stingy {
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

struct Post {
    _all: tempfile::TempDir,
    lookout: Lookout,
    heard: Receiver<Sighting>,
}

/// A lookout over four folders.
fn post() -> Post {
    let all = tempfile::tempdir().unwrap();
    for name in ["one", "two", "three"] {
        std::fs::create_dir(all.path().join(name)).unwrap();
    }
    let (bell, heard) = bell();
    let vault = Vault::open(all.path()).unwrap();
    let lookout = Lookout::new(vault, Arc::default(), bell);
    Post { _all: all, lookout, heard }
}

/// Runs the work until everything was told, and returns what was.
async fn told(mut post: Post) -> Vec<Changed> {
    let mut told = Vec::new();
    let (bell, queue) = (post.lookout.bell.clone(), Arc::clone(&post.lookout.queue));
    let work = tokio::task::spawn_blocking(move || post.lookout.run(&post.heard));
    while let Some(changed) = queue.next().await {
        told.push(changed);
        if told.last() == Some(&Changed::Everything) {
            bell.stop();
        }
    }
    work.await.unwrap();
    told
}

#[tokio::test]
async fn when_the_system_has_no_more_watches_it_is_said_once_and_the_work_goes_on() {
    let mut post = post();
    post.lookout.watcher = Some(Box::new(Stingy(2)));
    let told = told(post).await;
    let [Changed::Late { why }, Changed::Everything] = &told[..] else { panic!("{told:?}") };
    assert!(why.contains("seconds late") && why.contains("max_user_watches"), "{why}");
}

#[tokio::test]
async fn when_the_system_has_enough_watches_nothing_is_said_of_them() {
    let mut post = post();
    post.lookout.watcher = Some(Box::new(Stingy(4)));
    assert_eq!(told(post).await, [Changed::Everything]);
}

#[test]
fn changes_in_folders_without_a_watch_are_found_in_a_round_until_there_is_one() {
    let Post { _all, mut lookout, heard } = post();
    for name in ["one", "two", "three"] {
        std::fs::write(_all.path().join(name).join("a.md"), "1").unwrap();
    }
    lookout.watcher = Some(Box::new(Stingy(2)));
    lookout.watch_all();
    assert_eq!((lookout.folders.len(), lookout.rounds.folders().len()), (1, 2));

    for name in ["one", "two", "three"] {
        std::fs::write(_all.path().join(name).join("a.md"), "longer").unwrap();
    }
    std::fs::create_dir_all(_all.path().join("three/new")).unwrap();
    lookout.go_round();
    assert_eq!(lookout.files.len(), 2, "the third is the system's to tell: {:?}", lookout.files);

    let unwatched = lookout.rounds.folders().len();
    lookout.watcher = Some(Box::new(Stingy(usize::MAX)));
    lookout.go_round();
    assert_eq!((unwatched >= 2, lookout.rounds.folders().len()), (true, 0));
    drop(heard);
}

#[test]
fn without_any_watcher_every_folder_is_in_the_rounds_until_the_system_gives_one() {
    let Post { _all, mut lookout, heard } = post();
    lookout.watcher = None;
    lookout.watch_all();
    lookout.everything = false;
    assert_eq!((lookout.folders.len(), lookout.rounds.folders().len()), (0, 4));
    lookout.go_round();
    assert!(lookout.everything && lookout.watcher.is_some());
    assert_eq!((lookout.folders.len(), lookout.rounds.folders().len()), (3, 0));
    drop(heard);
}

#[test]
fn after_lost_reports_everything_may_have_changed_and_every_folder_is_watched_anew() {
    let Post { _all, mut lookout, heard } = post();
    lookout.watch_all();
    lookout.everything = false;
    lookout.folders.clear();
    lookout.take(Sighting::Lost);
    assert!(lookout.bell.lost.load(Ordering::Acquire));
    lookout.start_over();
    assert!(lookout.everything);
    assert_eq!(lookout.folders.len(), 3);
    drop(heard);
}

#[test]
fn more_reports_than_may_wait_are_lost_and_not_waited_for() {
    let Post { _all, lookout, heard } = post();
    let file = Sighting::Saved(NotePath::parse("a.md").unwrap());
    (0..REPORTS).for_each(|_| lookout.bell.report(file.clone()));
    assert!(!lookout.bell.lost.load(Ordering::Acquire));
    lookout.bell.report(file);
    assert!(lookout.bell.lost.load(Ordering::Acquire));
    drop(heard);
}
