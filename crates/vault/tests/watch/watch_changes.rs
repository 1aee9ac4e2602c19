//! Every kind of change of the vault's files is reported; changes of protected files are not.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use support::watched::next;
use support::{Folder, MemoryLedger, order, path, replace};
use vault::{VaultChange, VaultWatch};

/// A watch that stands.
async fn watching(folder: &Folder) -> VaultWatch {
    let mut watch = folder.vault().watch().unwrap();
    assert_eq!(next(&mut watch).await, VaultChange::Everything);
    watch
}

/// The files that are told until `last` is among them.
async fn until(watch: &mut VaultWatch, last: &str) -> BTreeSet<String> {
    let mut told = BTreeSet::new();
    while !told.contains(last) {
        match next(watch).await {
            VaultChange::Notes(files) => told.extend(files.iter().map(ToString::to_string)),
            other => panic!("{other:?} came before {last}"),
        }
    }
    told
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn a_plain_save_a_save_by_rename_and_a_removal_are_told() {
    let folder = Folder::with(&[("a.md", "1"), ("notes/b.md", "1"), ("c.md", "1")]);
    let mut watch = watching(&folder).await;
    folder.write("a.md", "2");
    assert_eq!(until(&mut watch, "a.md").await, set(&["a.md"]));
    folder.write("notes/.b.md.new", "2");
    fs::rename(folder.root.join("notes/.b.md.new"), folder.root.join("notes/b.md")).unwrap();
    assert_eq!(until(&mut watch, "notes/b.md").await, set(&["notes/b.md"]));
    fs::remove_file(folder.root.join("c.md")).unwrap();
    assert_eq!(until(&mut watch, "c.md").await, set(&["c.md"]));
}

#[tokio::test]
async fn both_names_of_a_renamed_note_are_told() {
    let folder = Folder::with(&[("a.md", "1")]);
    let mut watch = watching(&folder).await;
    fs::rename(folder.root.join("a.md"), folder.root.join("notes/z.md")).unwrap();
    assert_eq!(until(&mut watch, "notes/z.md").await, set(&["a.md", "notes/z.md"]));
}

#[tokio::test]
async fn notes_in_folders_that_are_made_with_them_are_told() {
    let folder = Folder::new();
    let mut watch = watching(&folder).await;
    folder.write("one/two/three/deep.md", "1");
    until(&mut watch, "one/two/three/deep.md").await;
    folder.write("one/two/three/deep.md", "2");
    until(&mut watch, "one/two/three/deep.md").await;
}

#[tokio::test]
async fn after_a_folder_moved_anything_may_have_changed_and_it_is_watched_in_its_new_place() {
    let folder = Folder::with(&[("old/deep/a.md", "1")]);
    let mut watch = watching(&folder).await;
    fs::rename(folder.root.join("old"), folder.root.join("new")).unwrap();
    while next(&mut watch).await != VaultChange::Everything {}
    folder.write("new/deep/a.md", "2");
    until(&mut watch, "new/deep/a.md").await;
}

#[tokio::test]
async fn a_checkout_of_5000_files_is_told_and_so_is_the_save_after_it() {
    let folder = Folder::new();
    let mut watch = watching(&folder).await;
    let wanted: BTreeSet<String> = (0..5_000).map(|n| format!("{:02}/{n:04}.md", n % 50)).collect();
    wanted.iter().for_each(|name| folder.write(name, "text"));
    let mut told = BTreeSet::new();
    while !told.is_superset(&wanted) {
        match next(&mut watch).await {
            VaultChange::Notes(files) => told.extend(files.iter().map(ToString::to_string)),
            VaultChange::Everything => break,
            other => panic!("{other:?}"),
        }
    }
    folder.write("after.md", "text");
    loop {
        match next(&mut watch).await {
            VaultChange::Notes(files) if files.contains(&path("after.md")) => break,
            VaultChange::Notes(_) | VaultChange::Everything => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn our_own_temporary_files_and_what_is_protected_are_silent_and_the_changed_note_is_not() {
    let folder = Folder::with(&[("a.md", "1"), (".git/index", "1"), ("b/.obsidian/x.json", "1")]);
    let mut watch = watching(&folder).await;
    folder.write(".git/index", "2");
    folder.write("b/.obsidian/x.json", "2");
    folder.write(".vaultmate-0000000000000000.tmp", "2");
    fs::create_dir(folder.root.join(".trash")).unwrap();
    let change = order([replace("a.md", "1", "2")]);
    let applied = folder.vault().apply(change, &MemoryLedger::default()).await.unwrap();
    assert_eq!(applied.done, [path("a.md")]);
    folder.write("last.md", "1");
    assert_eq!(until(&mut watch, "last.md").await, set(&["a.md", "last.md"]));
}

#[tokio::test]
async fn reading_and_listing_are_silent() {
    let folder = Folder::with(&[("a.md", "1"), ("notes/b.md", "1")]);
    let mut watch = watching(&folder).await;
    let vault = folder.vault();
    vault.read(&path("notes/b.md")).unwrap();
    vault.list().unwrap();
    folder.write("a.md", "2");
    assert_eq!(until(&mut watch, "a.md").await, set(&["a.md"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_that_never_pauses_does_not_keep_other_changes_waiting() {
    let folder = Folder::with(&[("busy.md", ""), ("a.md", "1")]);
    let mut watch = watching(&folder).await;
    let (over, busy) = (AtomicBool::new(false), folder.root.join("busy.md"));
    let over = std::sync::Arc::new(over);
    let stop = std::sync::Arc::clone(&over);
    let writer = tokio::task::spawn_blocking(move || {
        while !stop.load(Ordering::Relaxed) {
            fs::write(&busy, "again").unwrap();
        }
    });
    until(&mut watch, "busy.md").await;
    folder.write("a.md", "2");
    until(&mut watch, "a.md").await;
    assert!(!writer.is_finished(), "it was told while the writer went on");
    over.store(true, Ordering::Relaxed);
    writer.await.unwrap();
}

#[tokio::test]
async fn a_folder_that_disappears_and_reappears_is_reported_and_watched_again() {
    let folder = Folder::with(&[("a.md", "old")]);
    let vault = folder.vault();
    let mut watch = vault.watch().unwrap();
    assert_eq!(next(&mut watch).await, VaultChange::Everything);
    let away = folder.out.join("away");
    fs::rename(&folder.root, &away).unwrap();
    while next(&mut watch).await != VaultChange::Gone {}
    // Another folder in its place is another vault.
    folder.write("a.md", "another");
    let come = tokio::time::timeout(Duration::from_secs(2), next(&mut watch)).await;
    assert!(come.is_err(), "{come:?}");
    fs::remove_dir_all(&folder.root).unwrap();
    fs::write(away.join("a.md"), "new").unwrap();
    fs::rename(&away, &folder.root).unwrap();
    while next(&mut watch).await != VaultChange::Back {}
    while next(&mut watch).await != VaultChange::Everything {}
    assert_eq!(vault.read(&path("a.md")).unwrap().bytes, b"new");
    folder.write("a.md", "newer");
    until(&mut watch, "a.md").await;
}

#[tokio::test]
async fn a_folder_that_is_renamed_is_gone_until_it_has_its_name_again() {
    let folder = Folder::with(&[("a.md", "1")]);
    let mut watch = watching(&folder).await;
    fs::rename(&folder.root, folder.out.join("vault")).unwrap();
    while next(&mut watch).await != VaultChange::Gone {}
    fs::rename(folder.out.join("vault"), &folder.root).unwrap();
    while next(&mut watch).await != VaultChange::Back {}
    while next(&mut watch).await != VaultChange::Everything {}
    folder.write("a.md", "2");
    until(&mut watch, "a.md").await;
}
