//! Two notes whose names differ only in how an accent is stored (Unicode NFC and NFD): a path means both,
//! so neither is changed.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use protocol::Change;
use support::{Folder, MemoryLedger, create, order, path, replace};
use vault::VaultError;

const NFC: &str = "caf\u{e9}.md";
const NFD: &str = "cafe\u{301}.md";

async fn refusal(folder: &Folder, change: Change) -> Option<VaultError> {
    let applied = folder.vault().apply(order([change]), &MemoryLedger::default()).await.unwrap();
    applied.problems.into_iter().next().map(|(_, why)| why)
}

#[tokio::test]
async fn neither_of_two_twins_is_changed_moved_or_trashed() {
    for at in [NFC, NFD] {
        for change in [
            replace(at, "one", "two"),
            Change::trash(path(at), "one"),
            Change::rename(path(at), path("other.md")),
        ] {
            let folder = Folder::with(&[(NFC, "one"), (NFD, "one")]);
            let why = refusal(&folder, change.clone()).await;
            assert!(matches!(why, Some(VaultError::Twin { .. })), "{change:?}: {why:?}");
            assert_eq!(folder.read(NFC).unwrap(), b"one");
            assert_eq!(folder.read(NFD).unwrap(), b"one");
        }
    }
}

#[tokio::test]
async fn no_twin_is_made_and_one_alone_is_changed() {
    let folder = Folder::with(&[(NFD, "one"), ("plain.md", "one")]);
    for change in [create(NFC, "new"), Change::rename(path("plain.md"), path(NFC))] {
        assert!(refusal(&folder, change.clone()).await.is_some(), "{change:?}");
        assert_eq!(folder.read(NFC), None);
    }
    // The controls: the one that is there is changed, and its name is stored in the other way.
    assert!(refusal(&folder, replace(NFD, "one", "two")).await.is_none());
    assert_eq!(folder.read(NFD).unwrap(), b"two");
    assert!(refusal(&folder, Change::rename(path(NFD), path(NFC))).await.is_none());
    assert_eq!(folder.read(NFC).unwrap(), b"two");
}

#[tokio::test]
async fn in_twin_folders_nothing_is_changed() {
    let (one, other) = ("caf\u{e9}/a.md", "cafe\u{301}/b.md");
    let folder = Folder::with(&[(one, "one"), (other, "one")]);
    for at in [one, other] {
        let why = refusal(&folder, replace(at, "one", "two")).await;
        assert!(matches!(why, Some(VaultError::Twin { .. })), "{at}: {why:?}");
    }
}
