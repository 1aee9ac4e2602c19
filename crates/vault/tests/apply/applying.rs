//! Applying changes: the files afterwards, and the files after a refusal.

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

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use protocol::{Change, ChangeAction, IntentState};
use support::{Folder, MemoryLedger, create, order, path, replace, unit};
use vault::ledger::{Ledger, LedgerError};
use vault::{Applied, ApplyError, ChangeBatch, VaultError};

async fn apply(
    folder: &Folder,
    changes: impl IntoIterator<Item = Change>,
) -> (Applied, Vec<IntentState>) {
    let ledger = MemoryLedger::default();
    let applied = folder.vault().apply(order(changes), &ledger).await.unwrap();
    (applied, ledger.states())
}

#[tokio::test]
async fn notes_are_created_and_replaced_together_and_nothing_else_is_left() {
    let folder = Folder::with(&[("notes/a.md", "old"), ("notes/b.md", "same")]);
    let (applied, states) =
        apply(&folder, [replace("notes/a.md", "old", "new"), create("x/y/c.md", "made")]).await;
    assert_eq!(applied.done, [path("notes/a.md"), path("x/y/c.md")]);
    assert_eq!(states, [IntentState::Done, IntentState::Done]);
    assert_eq!(folder.read("notes/a.md").unwrap(), b"new");
    assert_eq!(folder.read("x/y/c.md").unwrap(), b"made");
    assert_eq!(folder.names(), ["notes", "notes/a.md", "notes/b.md", "x", "x/y", "x/y/c.md"]);
}

#[tokio::test]
async fn bytes_are_written_as_planned() {
    let folder = Folder::new();
    let bytes = b"\xEF\xBB\xBFa\r\nb\nno end \xFF".to_vec();
    folder.write("a.md", &bytes);
    let after = [bytes.as_slice(), b"\r\nmore"].concat();
    let change = Change::replace(path("a.md"), bytes, after.clone());
    let (applied, _) = apply(&folder, [change]).await;
    assert_eq!((applied.done.len(), folder.read("a.md").unwrap()), (1, after));
}

#[tokio::test]
async fn permissions_and_attributes_are_kept() {
    let folder = Folder::with(&[("a.md", "old")]);
    let file = folder.root.join("a.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let name = "user.vaultmate.test";
    let has_attributes =
        rustix::fs::setxattr(&file, name, b"kept", rustix::fs::XattrFlags::empty()).is_ok();
    apply(&folder, [replace("a.md", "old", "new")]).await;
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o640);
    assert_eq!(fs::read(&file).unwrap(), b"new");
    if has_attributes {
        let mut value = [0_u8; 8];
        let size = rustix::fs::getxattr(&file, name, &mut value).unwrap();
        assert_eq!(&value[..size], b"kept");
    }
}

#[tokio::test]
async fn a_note_that_changed_is_left_alone_and_does_not_stop_the_others() {
    let folder = Folder::with(&[("a.md", "mine"), ("b.md", "old")]);
    let (applied, states) =
        apply(&folder, [replace("a.md", "old", "new"), replace("b.md", "old", "new")]).await;
    assert_eq!(states, [IntentState::Stale, IntentState::Done]);
    assert!(matches!(applied.problems[0].1, VaultError::Stale { .. }), "{:?}", applied.problems);
    assert_eq!(folder.read("a.md").unwrap(), b"mine");
    assert_eq!(folder.names(), ["a.md", "b.md", "notes"]);
}

#[tokio::test]
async fn a_note_that_is_gone_is_not_made_again() {
    let folder = Folder::new();
    let (applied, states) = apply(&folder, [replace("notes/a.md", "old", "new")]).await;
    assert_eq!(states, [IntentState::Stale]);
    assert!(matches!(applied.problems[0].1, VaultError::NotFound { .. }), "{:?}", applied.problems);
    assert_eq!(folder.names(), ["notes"]);
}

#[tokio::test]
async fn a_creation_never_replaces() {
    let folder = Folder::with(&[("a.md", "mine")]);
    let (applied, _) = apply(&folder, [create("a.md", "new")]).await;
    assert!(matches!(applied.problems[0].1, VaultError::Exists { .. }), "{:?}", applied.problems);
    assert_eq!(folder.read("a.md").unwrap(), b"mine");
}

#[tokio::test]
async fn links_and_hard_links_are_not_written_through() {
    let folder = Folder::new();
    symlink(folder.out.join("secret.md"), folder.root.join("link.md")).unwrap();
    symlink(&folder.out, folder.root.join("linkdir")).unwrap();
    symlink(folder.out.join("new"), folder.root.join("dangling")).unwrap();
    fs::hard_link(folder.out.join("secret.md"), folder.root.join("hard.md")).unwrap();
    let secret = support::SECRET;
    let (applied, _) = apply(
        &folder,
        [
            replace("link.md", secret, "x"),
            replace("hard.md", secret, "x"),
            replace("linkdir/secret.md", secret, "x"),
            create("linkdir/new.md", "x"),
            create("dangling/new.md", "x"),
            create("link.md", "x"),
        ],
    )
    .await;
    assert_eq!((applied.done.len(), applied.problems.len()), (0, 6));
    folder.assert_nothing_outside();
    assert_eq!(folder.names(), ["dangling", "hard.md", "link.md", "linkdir", "notes"]);
}

#[tokio::test]
async fn an_empty_order_intends_nothing() {
    let folder = Folder::new();
    let (applied, states) = apply(&folder, []).await;
    assert!(applied.done.is_empty() && applied.problems.is_empty() && states.is_empty());
}

#[tokio::test]
async fn a_folder_without_rights_refuses_and_keeps_the_note() {
    let folder = Folder::with(&[("notes/a.md", "old")]);
    fs::set_permissions(folder.root.join("notes"), fs::Permissions::from_mode(0o555)).unwrap();
    let (applied, _) = apply(&folder, [replace("notes/a.md", "old", "new")]).await;
    fs::set_permissions(folder.root.join("notes"), fs::Permissions::from_mode(0o755)).unwrap();
    if rustix::process::geteuid().is_root() {
        assert_eq!(applied.done.len(), 1, "root cannot be denied");
    } else {
        assert!(matches!(applied.problems[0].1, VaultError::Denied { .. }));
        assert_eq!(folder.read("notes/a.md").unwrap(), b"old");
    }
}

/// A small disk of its own, where this user may mount one.
struct SmallDisk<'a>(&'a Folder);

impl<'a> SmallDisk<'a> {
    fn over_notes(folder: &'a Folder) -> Option<Self> {
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "none"]).arg(&folder.root);
        mount.status().is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0.root).status();
    }
}

#[tokio::test]
async fn a_full_disk_leaves_the_note_and_no_temporary_file() {
    let folder = Folder::new();
    let Some(disk) = SmallDisk::over_notes(&folder) else { return };
    folder.write("a.md", "old");
    let large = "x".repeat(1 << 20);
    let (applied, states) =
        apply(&folder, [replace("a.md", "old", &large), create("b.md", "b")]).await;
    assert_eq!(states, [IntentState::Failed, IntentState::Done]);
    assert!(matches!(applied.problems[0].1, VaultError::NoSpace { .. }), "{:?}", applied.problems);
    assert_eq!(folder.read("a.md").unwrap(), b"old");
    assert_eq!(folder.names(), ["a.md", "b.md"]);
    drop(disk);
}

struct BrokenLedger;

#[async_trait::async_trait]
impl Ledger for BrokenLedger {
    async fn record_intents(&self, _: &[protocol::Intent]) -> Result<(), LedgerError> {
        Err(LedgerError("the database is full".into()))
    }

    async fn record_outcomes(&self, _: &[protocol::SettledIntent]) -> Result<(), LedgerError> {
        Err(LedgerError("the database is full".into()))
    }

    async fn open_intents(&self) -> Result<Vec<protocol::Intent>, LedgerError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn nothing_changes_when_the_intent_cannot_be_stored() {
    let folder = Folder::with(&[("a.md", "old")]);
    let refused = folder.vault().apply(order([replace("a.md", "old", "new")]), &BrokenLedger).await;
    assert!(matches!(refused, Err(ApplyError::Ledger(_))));
    assert_eq!((folder.read("a.md").unwrap(), folder.names().len()), (b"old".to_vec(), 2));
}

#[tokio::test]
async fn no_folder_is_restored_into_one_that_stays_in_the_trash() {
    let act = |at: &str, act| Change { path: path(at), act };
    for batch in [order as fn([Change; 2]) -> ChangeBatch, unit] {
        for is_changed in [true, false] {
            let notes = [("notes/b.md", "b"), ("notes/sub/c.md", "c")];
            let (folder, ledger) = (Folder::with(&notes), MemoryLedger::default());
            let trash = |at| order([act(at, ChangeAction::TrashFolder { holds: None })]);
            folder.vault().apply(trash("notes/sub"), &ledger).await.unwrap();
            let holds = folder.vault().folder_contents(&path("notes")).unwrap();
            folder.vault().apply(trash("notes"), &ledger).await.unwrap();
            let restore = |at, number: usize, holds| {
                let trashed = ledger.0.lock().unwrap()[number].0.temp_name.clone();
                act(at, ChangeAction::RestoreFolder { trashed, holds })
            };
            let changes = [restore("notes", 1, Some(holds)), restore("notes/sub", 0, None)];
            if is_changed {
                folder.write(".trash/notes/theirs.md", "theirs");
            }
            let applied = folder.vault().apply(batch(changes), &ledger).await.unwrap();
            if is_changed {
                assert_eq!(applied.problems.len(), 2, "{applied:?}");
                assert!(!folder.root.join("notes").exists(), "{:?}", folder.names());
            } else {
                // The control: both come back.
                assert!(applied.problems.is_empty(), "{applied:?}");
                assert_eq!(folder.read("notes/b.md").unwrap(), b"b");
                assert_eq!(folder.read("notes/sub/c.md").unwrap(), b"c");
            }
        }
    }
}
