//! A watch gives back what it holds, and goes on in rounds when the system gives it nothing.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::Folder;
use vault::VaultChange;

/// How many watches of the system this process holds.
fn held() -> usize {
    let handles = fs::read_dir("/proc/self/fd").unwrap();
    let named = handles.filter_map(|handle| fs::read_link(handle.unwrap().path()).ok());
    named.filter(|name| name.to_string_lossy().contains("inotify")).count()
}

/// One test: the limit is the whole process's.
#[tokio::test]
async fn a_watch_ends_with_its_owner_and_one_that_the_system_refuses_says_so_and_goes_on() {
    let folder = Folder::with(&[("a.md", "1")]);
    let vault = folder.vault();
    let mut watch = vault.watch().unwrap();
    assert_eq!(watch.next().await, Some(VaultChange::Everything));
    assert_eq!(held(), 1);
    drop(watch);
    let end = Instant::now() + Duration::from_secs(30);
    while held() > 0 {
        assert!(Instant::now() < end, "the watch goes on without its owner");
        std::thread::yield_now();
    }

    let limit = getrlimit(Resource::Nofile);
    // No number is left besides those of the standard streams.
    setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..limit }).unwrap();
    let mut watch = vault.watch().unwrap();
    let told = watch.next().await;
    setrlimit(Resource::Nofile, limit).unwrap();
    let Some(VaultChange::Late { why }) = told else { panic!("{told:?}") };
    assert!(why.starts_with("Changes that other programs make"), "{why}");
    assert!(why.contains("Too many open files"), "{why}");
    assert_eq!(watch.next().await, Some(VaultChange::Everything));
    folder.write("a.md", "longer");
    let told = watch.next().await;
    assert!(matches!(told, Some(VaultChange::Everything | VaultChange::Notes(_))), "{told:?}");
}
