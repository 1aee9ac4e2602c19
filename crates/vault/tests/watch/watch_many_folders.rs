//! As many folders as the largest vault seen has: nobody waits for the watch on them.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::time::{Duration, Instant};

use support::{Folder, path};
use vault::VaultChange;

const FOLDERS: usize = 14_600;

/// A vault of 146 folders with 99 in each, and a note in the last.
fn large() -> Folder {
    let folder = Folder::new();
    for number in 0..FOLDERS - 1 {
        let (group, place) = (number / 100, number % 100);
        let at = if place == 0 { format!("{group}") } else { format!("{group}/{place}") };
        fs::create_dir_all(folder.root.join(at)).unwrap();
    }
    folder.write("145/98/last.md", "1");
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_of_14600_folders_is_used_at_once_and_watched_within_seconds() {
    let folder = large();
    let began = Instant::now();
    let vault = folder.vault();
    let mut watch = vault.watch().unwrap();
    let asked = began.elapsed();
    vault.read(&path("145/98/last.md")).unwrap();
    let read = began.elapsed();
    assert_eq!(watch.next().await, Some(VaultChange::Everything));
    let stands = began.elapsed();

    let mut slowest = Duration::ZERO;
    for number in 0..50 {
        let saved = Instant::now();
        folder.write("145/98/last.md", number.to_string());
        assert_eq!(watch.next().await, Some(VaultChange::Notes(vec![path("145/98/last.md")])));
        slowest = slowest.max(saved.elapsed());
    }
    println!(
        "folders={FOLDERS} asked_ms={} read_ms={} stands_ms={} slowest_save_ms={}",
        asked.as_millis(),
        read.as_millis(),
        stands.as_millis(),
        slowest.as_millis()
    );
    assert!(read < Duration::from_millis(500), "reading waited {read:?} for the watch");
    assert!(stands < Duration::from_secs(20), "the watch took {stands:?} to stand");
    assert!(slowest < Duration::from_secs(1), "a save was told after {slowest:?}");
}
