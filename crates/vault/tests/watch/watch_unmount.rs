//! A vault, or an additional folder, on a disk that is unmounted and comes back, the same one or
//! another.

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
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use support::watched::next;
use support::{Folder, MemoryLedger, create, order, path};
use vault::{Vault, VaultChange, VaultError, VaultWatch, validate_extra_roots};

/// Something mounted over the vault's folder; on drop it is gone.
struct MountedVaultDisk<'a>(&'a Path);

impl<'a> MountedVaultDisk<'a> {
    /// `None`, and a word about it, where the system does not let us mount.
    fn over(root: &'a Path, what: &[&str]) -> Option<Self> {
        let done = Command::new("mount").args(what).arg(root).output();
        let mounted = done.is_ok_and(|output| output.status.success());
        if !mounted {
            println!("skipped: this system does not let the test mount {what:?}");
        }
        mounted.then_some(Self(root))
    }

    /// Pulls the plug: the disk leaves, even if a program has it open.
    fn pull(self) {}
}

impl Drop for MountedVaultDisk<'_> {
    fn drop(&mut self) {
        let done = Command::new("umount").arg("-l").arg(self.0).status();
        assert!(done.unwrap().success(), "{} stays mounted", self.0.display());
    }
}

/// A place to mount a disk on, with nothing in it: what an unmounted disk leaves behind.
fn place() -> Folder {
    let folder = Folder::new();
    fs::remove_dir(folder.root.join("notes")).unwrap();
    folder
}

async fn until(watch: &mut VaultWatch, wanted: &VaultChange) {
    while next(watch).await != *wanted {}
}

#[tokio::test]
async fn another_disk_in_the_place_of_the_first_is_not_the_vault_whatever_is_on_it() {
    let folder = place();
    let Some(first) = MountedVaultDisk::over(&folder.root, &["-t", "tmpfs", "tmpfs"]) else {
        return;
    };
    folder.write("a.md", "on the first disk");
    let vault = folder.vault();
    let mut watch = vault.watch().unwrap();
    assert_eq!(next(&mut watch).await, VaultChange::Everything);
    first.pull();
    until(&mut watch, &VaultChange::Gone).await;

    let Some(_second) = MountedVaultDisk::over(&folder.root, &["-t", "tmpfs", "tmpfs"]) else {
        return;
    };
    folder.write("deep/b.md", "on the second disk");
    let come = tokio::time::timeout(Duration::from_secs(3), next(&mut watch)).await;
    assert!(come.is_err(), "{come:?}");
    vault.read(&path("deep/b.md")).unwrap_err();
    let change = create("new.md", "for the first disk");
    vault.apply(order([change]), &MemoryLedger::default()).await.unwrap();
    assert_eq!(folder.read("new.md"), None, "nothing is written to the second");
}

#[tokio::test]
async fn a_remounted_disk_is_watched_again() {
    let folder = place();
    let disk = folder.out.join("disk");
    fs::create_dir_all(disk.join("deep")).unwrap();
    fs::write(disk.join("deep/a.md"), "1").unwrap();
    let from = ["--bind", disk.to_str().unwrap()];
    let Some(first) = MountedVaultDisk::over(&folder.root, &from) else { return };
    let vault = folder.vault();
    let mut watch = vault.watch().unwrap();
    assert_eq!(next(&mut watch).await, VaultChange::Everything);
    first.pull();
    until(&mut watch, &VaultChange::Gone).await;
    fs::write(disk.join("deep/a.md"), "while it was away").unwrap();

    let Some(_again) = MountedVaultDisk::over(&folder.root, &from) else { return };
    until(&mut watch, &VaultChange::Back).await;
    until(&mut watch, &VaultChange::Everything).await;
    assert_eq!(vault.read(&path("deep/a.md")).unwrap().bytes, b"while it was away");
    folder.write("deep/a.md", "2");
    until(&mut watch, &VaultChange::Notes(vec![path("deep/a.md")])).await;
}

#[tokio::test]
async fn additional_folder_disappears_with_its_disk_and_returns_with_it() {
    let folder = Folder::with(&[("a.md", "a")]);
    let disk = folder.add_sibling("out/disk", &[("Bread.md", "flour")]);
    let root = folder.add_sibling("Recipes", &[]);
    let from = ["--bind", disk.to_str().unwrap()];
    let Some(first) = MountedVaultDisk::over(&root, &from) else { return };
    let vault = folder.vault_with(&[&root]);
    let bread = path("Recipes/Bread.md");
    let mut watch = vault.watch().unwrap();
    assert_eq!(next(&mut watch).await, VaultChange::Everything);
    assert_eq!(vault.read_bytes(&bread).unwrap(), b"flour");
    first.pull();
    until(&mut watch, &VaultChange::Everything).await;
    vault.read_bytes(&bread).unwrap_err();
    let problems = vault.list().unwrap().problems;
    assert!(problems[0].why.contains("this additional folder is empty"), "{problems:?}");

    fs::write(disk.join("Bread.md"), "while it was away").unwrap();
    let Some(_again) = MountedVaultDisk::over(&root, &from) else { return };
    until(&mut watch, &VaultChange::Everything).await;
    assert_eq!(vault.read_bytes(&bread).unwrap(), b"while it was away");
    fs::write(root.join("Bread.md"), "rye").unwrap();
    until(&mut watch, &VaultChange::Notes(vec![bread])).await;
}

#[test]
fn no_disk_within_an_additional_folder_is_entered_and_a_vault_on_one_is_noticed() {
    let folder = Folder::with(&[("a.md", "a")]);
    let root = folder.add_sibling("Recipes", &[("Bread.md", "flour"), ("disk/inner.md", "under")]);
    let inner = root.join("disk");
    let from = ["--bind", folder.root.to_str().unwrap()];
    let Some(_mounted) = MountedVaultDisk::over(&inner, &from) else { return };
    let vault = folder.vault_with(&[&root]);
    let refused = vault.read(&path("Recipes/disk/a.md")).unwrap_err();
    assert!(matches!(refused, VaultError::NotANote { .. }), "{refused}");
    let problems = vault.list().unwrap().problems;
    assert_eq!(problems.iter().map(|problem| &*problem.name).collect::<Vec<_>>(), ["Recipes/disk"]);
    // A vault that is opened there lies in the folder, though on a disk of its own.
    let held = Vault::open(&inner).unwrap();
    let refused = validate_extra_roots(&[support::extra(&root)], &[], Some(&held)).unwrap_err();
    assert!(refused.to_string().contains("contains the vault"), "{refused}");
}
