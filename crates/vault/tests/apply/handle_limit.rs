//! A vault may have more folders than a process may hold open.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

#[path = "../support/mod.rs"]
mod support;

use rustix::process::{Resource, getrlimit, setrlimit};
use support::{Folder, MemoryLedger, create, order};

#[tokio::test]
async fn more_folders_than_handles_are_written_and_listed() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, rustix::process::Rlimit { current: Some(40), ..limit }).unwrap();
    let folder = Folder::new();
    let changes = (0..100).map(|n| create(&format!("{n}/note.md"), "x"));
    let applied = folder.vault().apply(order(changes), &MemoryLedger::default()).await.unwrap();
    assert_eq!((applied.done.len(), applied.problems.len()), (100, 0));
    let listing = folder.vault().list().unwrap();
    assert_eq!((listing.entries.len(), listing.problems.len()), (201, 0));
}
