//! The vault's id is written with the first change, and never before or over another.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use protocol::IntentState;
use support::{Folder, MemoryLedger, create, order};

const ID: &str = "0198a1b2-0000-7000-8000-000000000001";

async fn change(vault: &vault::Vault, at: &str) {
    let applied = vault.apply(order([create(at, "x")]), &MemoryLedger::default()).await.unwrap();
    assert_eq!(applied.done.len(), 1);
}

#[tokio::test]
async fn the_id_comes_before_the_first_change_and_goes_with_the_folder() {
    let folder = Folder::with(&[("a.md", "a")]);
    let vault = folder.vault();
    let (tell, told) = std::sync::mpsc::channel();
    let root = folder.root.clone();
    vault.set_pending_id(ID.to_owned(), move || {
        tell.send(vault::Vault::open(&root).unwrap().vault_id()).unwrap();
    });
    vault.list().unwrap();
    vault.recover(&MemoryLedger::default()).await.unwrap();
    assert_eq!(folder.names(), ["a.md", "notes"], "nothing was changed: no trace");
    assert!(told.try_recv().is_err(), "nothing was written yet");
    vault.apply(order([create("a.md", "x")]), &MemoryLedger::default()).await.unwrap();
    assert_eq!(vault.vault_id().as_deref(), Some(ID), "a refused change was recorded too");
    assert_eq!(told.try_recv().unwrap().as_deref(), Some(ID), "it was told when it was there");
    change(&vault, "b.md").await;
    assert!(told.try_recv().is_err(), "it is told once");
    assert_eq!(vault.vault_id().as_deref(), Some(ID));
    let moved = folder.root.with_file_name("moved");
    std::fs::rename(&folder.root, &moved).unwrap();
    assert_eq!(vault::Vault::open(&moved).unwrap().vault_id().as_deref(), Some(ID));
}

#[tokio::test]
async fn what_was_recorded_for_another_folder_is_not_finished_in_one_that_never_had_an_id() {
    let elsewhere = Folder::with(&[("a.md", "a")]);
    let ledger = MemoryLedger::default();
    elsewhere.vault().apply(order([create("b.md", "x")]), &ledger).await.unwrap();
    // As a kill leaves it before anything was made ready.
    let intent = protocol::Intent { staged: None, ..ledger.0.lock().unwrap()[0].0.clone() };
    let open = || MemoryLedger::holding(vec![intent.clone()]);
    let folder = Folder::with(&[("a.md", "a")]);
    let expired = add_expired_file(&folder);
    let names = folder.names();
    let vault = folder.vault();
    vault.set_pending_id(ID.to_owned(), || {});
    let interrupted = open();
    let recovery = vault.recover(&interrupted).await.unwrap();
    assert_eq!((recovery.done.len(), recovery.problems.len()), (0, 1));
    assert_eq!(interrupted.states(), [IntentState::Parked]);
    assert_eq!(folder.names(), names);
    assert!(expired.exists(), "its old files stay, too");
    // The control: a folder of which nothing is known to the contrary finishes it.
    folder.vault().recover(&open()).await.unwrap();
    assert_eq!(folder.read("b.md").unwrap(), b"x");
    assert!(!expired.exists());
}

/// An old file in the trash that was kept long enough.
fn add_expired_file(folder: &Folder) -> PathBuf {
    let kept = folder.root.join(".trash/vaultmate-replaced");
    folder.write(".trash/vaultmate-replaced/old", "text");
    let stat = std::fs::metadata(kept.join("old")).unwrap();
    let written = format!("{}-{}.{:09}", stat.size(), stat.mtime(), stat.mtime_nsec());
    let expired = kept.join(format!("1000-0000-{written} a.md"));
    std::fs::rename(kept.join("old"), &expired).unwrap();
    expired
}

#[tokio::test]
async fn an_id_that_is_there_stays_and_one_that_cannot_be_read_is_written_again() {
    let folder = Folder::with(&[(".vaultmate/vault.json", "{\"id\":\"another-device\",\"x\":1}")]);
    let vault = folder.vault();
    vault.set_pending_id(ID.to_owned(), || {});
    change(&vault, "a.md").await;
    assert_eq!(vault.vault_id().as_deref(), Some("another-device"));
    for broken in ["", "{\"id\":\"../../etc\"}", "{\"id\":7}"] {
        folder.write(".vaultmate/vault.json", broken);
        assert_eq!(vault.vault_id(), None, "{broken}");
    }
    change(&vault, "b.md").await;
    assert_eq!(vault.vault_id().as_deref(), Some(ID));
}

#[tokio::test]
async fn nothing_is_written_through_a_link_in_its_place_and_the_change_stands() {
    let folder = Folder::with(&[("a.md", "a")]);
    std::os::unix::fs::symlink(&folder.out, folder.root.join(".vaultmate")).unwrap();
    let vault = folder.vault();
    vault.set_pending_id(ID.to_owned(), || {});
    change(&vault, "b.md").await;
    assert_eq!((vault.vault_id(), folder.read("b.md").unwrap()), (None, b"x".to_vec()));
    folder.assert_nothing_outside();
}
