//! Notes that this user may not write, and the metadata that a note keeps.

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
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use protocol::{Change, ChangeAction, FileAccess, Intent, IntentState, TrashedFile};
use rustix::fs::XattrFlags;
use support::{Folder, MemoryLedger, create, order, path, replace, unit};
use vault::{Applied, Vault, VaultError};

/// A user that owns nothing: `nobody`.
const NOBODY: u32 = 65_534;

async fn apply(vault: &Vault, changes: impl IntoIterator<Item = Change>) -> (Applied, IntentState) {
    let ledger = MemoryLedger::default();
    let applied = vault.apply(order(changes), &ledger).await.unwrap();
    (applied, *ledger.states().last().unwrap())
}

fn mode(file: &Path, mode: u32) {
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

/// The identity and the metadata of a file.
fn file_and_metadata(file: &Path) -> (u64, u32, u32, u32) {
    let about = fs::metadata(file).unwrap();
    (about.ino(), about.uid(), about.gid(), about.mode())
}

fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("skipped: only root gives a file to somebody else");
    }
    is_root
}

/// Runs `command`, which the system may not know or allow.
fn run_command(command: &str, arguments: &[&str], file: &Path) -> bool {
    let output = Command::new(command).args(arguments).arg(file).output();
    let done = output.as_ref().is_ok_and(|output| output.status.success());
    if !done {
        println!("skipped: {command} {arguments:?}: {output:?}");
    }
    done
}

#[tokio::test]
async fn a_folder_with_a_write_protected_note_is_not_deleted() {
    let folder = Folder::with(&[("Old/a.md", "a"), ("Old/deep/b.md", "b"), ("Old/.git/x", "x")]);
    // As Git keeps its files.
    mode(&folder.root.join("Old/.git/x"), 0o444);
    let note = folder.root.join("Old/deep/b.md");
    mode(&note, 0o444);
    let delete = || Change { path: path("Old"), act: ChangeAction::TrashFolder { holds: None } };
    let (applied, _) = apply(&folder.vault(), [delete()]).await;
    let why = &applied.problems[0].1;
    assert!(why.to_string().contains("`Old/deep/b.md` is write-protected"), "{why}");
    assert_eq!(folder.read("Old/a.md").unwrap(), b"a");
    mode(&note, 0o644);
    let (applied, _) = apply(&folder.vault(), [delete()]).await;
    assert!(applied.problems.is_empty(), "the control: {applied:?}");
}

#[tokio::test]
async fn a_write_protected_note_is_neither_changed_nor_put_into_the_trash() {
    let folder = Folder::with(&[("a.md", "old"), ("b.md", "old")]);
    let file = folder.root.join("a.md");
    for protected in [0o444, 0o400, 0o000] {
        mode(&file, protected);
        let was = file_and_metadata(&file);
        let vault = folder.vault();
        assert!(matches!(vault.check_writable(&path("a.md")), Err(VaultError::Protected { .. })));
        let trash =
            Change { path: path("a.md"), act: ChangeAction::Trash { before: b"old".to_vec() } };
        for change in [replace("a.md", "old", "new"), trash] {
            let (applied, state) = apply(&vault, [change, replace("b.md", "old", "old!")]).await;
            assert_eq!(applied.done, [path("b.md")], "the rest goes on: {applied:?}");
            assert_eq!(state, IntentState::Done);
            let why = &applied.problems[0].1;
            let is_refused = matches!(why, VaultError::Protected { .. })
                || (protected == 0 && matches!(why, VaultError::Denied { .. }));
            assert!(is_refused, "{protected:o}: {why:?}");
            folder.write("b.md", "old");
        }
        assert_eq!(file_and_metadata(&file), was, "{protected:o}");
        assert_eq!(folder.names(), ["a.md", "b.md", "notes"]);
        mode(&file, 0o644);
        assert_eq!(folder.read("a.md").unwrap(), b"old");
    }
    mode(&file, 0o644);
    let (applied, _) = apply(&folder.vault(), [replace("a.md", "old", "new")]).await;
    assert_eq!(applied.done.len(), 1, "once it is writable it is changed");
}

#[tokio::test]
async fn a_write_protected_note_is_moved_as_it_is() {
    let folder = Folder::with(&[("a.md", "old")]);
    mode(&folder.root.join("a.md"), 0o444);
    let was = file_and_metadata(&folder.root.join("a.md"));
    let (applied, _) = apply(&folder.vault(), [Change::rename(path("a.md"), path("x/b.md"))]).await;
    assert_eq!(applied.done.len(), 1, "{applied:?}");
    assert_eq!(file_and_metadata(&folder.root.join("x/b.md")), was);
}

#[tokio::test]
async fn a_unit_with_a_write_protected_note_happens_not_at_all() {
    let folder = Folder::with(&[("a.md", "[[b]]"), ("b.md", "text")]);
    mode(&folder.root.join("a.md"), 0o444);
    let changes = [replace("a.md", "[[b]]", "[[c]]"), Change::rename(path("b.md"), path("c.md"))];
    let ledger = MemoryLedger::default();
    let applied = folder.vault().apply(unit(changes), &ledger).await.unwrap();
    assert_eq!(applied.done, []);
    assert_eq!(folder.names(), ["a.md", "b.md", "notes"]);
}

#[tokio::test]
async fn undo_refuses_a_note_that_was_write_protected_since() {
    let folder = Folder::with(&[("a.md", "old\n")]);
    let vault = folder.vault();
    let ledger = MemoryLedger::default();
    vault.apply(order([replace("a.md", "old\n", "new\n")]), &ledger).await.unwrap();
    mode(&folder.root.join("a.md"), 0o444);
    let back = replace("a.md", "new\n", "old\n");
    let (applied, state) = apply(&vault, [back]).await;
    assert!(matches!(applied.problems[0].1, VaultError::Protected { .. }), "{applied:?}");
    assert_eq!(state, IntentState::Failed);
    assert_eq!(folder.read("a.md").unwrap(), b"new\n");
}

#[tokio::test]
async fn a_note_that_the_system_holds_fast_is_refused_with_a_sentence() {
    for flag in ["i", "a"] {
        let folder = Folder::with(&[("a.md", "old")]);
        let file = folder.root.join("a.md");
        if !run_command("chattr", &[&format!("+{flag}")], &file) {
            return;
        }
        let (applied, _) = apply(&folder.vault(), [replace("a.md", "old", "new")]).await;
        let names = folder.names();
        assert!(run_command("chattr", &[&format!("-{flag}")], &file));
        assert!(matches!(applied.problems[0].1, VaultError::Protected { .. }), "{applied:?}");
        assert_eq!(names, ["a.md", "notes"]);
        assert_eq!(folder.read("a.md").unwrap(), b"old");
    }
}

#[tokio::test]
async fn a_note_of_another_user_stays_theirs_when_root_changes_it() {
    if !is_root() {
        return;
    }
    let folder = Folder::with(&[("a.md", "old")]);
    let file = folder.root.join("a.md");
    chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
    mode(&file, 0o2664);
    let was = file_and_metadata(&file);
    let (applied, _) = apply(&folder.vault(), [replace("a.md", "old", "new")]).await;
    assert_eq!(applied.done.len(), 1, "{applied:?}");
    let is = file_and_metadata(&file);
    assert_eq!((is.1, is.2, is.3), (was.1, was.2, was.3));
}

#[tokio::test]
async fn access_list_attributes_and_flags_of_a_note_are_kept() {
    let folder = Folder::with(&[("a.md", "old")]);
    let file = folder.root.join("a.md");
    // New files in the folder get an access list that the note has not.
    if !run_command("setfacl", &["-m", "d:u:65534:rwx"], &folder.root)
        || !run_command("chattr", &["+dA"], &file)
        || rustix::fs::setxattr(&file, "user.one", b"1", XattrFlags::empty()).is_err()
    {
        return;
    }
    let facl = || Command::new("getfacl").args(["-cpn"]).arg(&file).output().unwrap().stdout;
    let flags = || {
        let open = fs::File::open(&file).unwrap();
        rustix::fs::ioctl_getflags(open).unwrap()
    };
    let (was, had) = (facl(), flags());
    assert!(!String::from_utf8_lossy(&was).contains("65534"), "the note was there before");
    apply(&folder.vault(), [replace("a.md", "old", "new")]).await;
    assert_eq!(String::from_utf8_lossy(&facl()), String::from_utf8_lossy(&was));
    assert_eq!(flags(), had);
    assert!(run_command("setfacl", &["-m", "u:65534:r"], &file));
    let was = facl();
    apply(&folder.vault(), [replace("a.md", "new", "newer")]).await;
    assert_eq!(folder.read("a.md").unwrap(), b"newer");
    assert_eq!(String::from_utf8_lossy(&facl()), String::from_utf8_lossy(&was));
    let mut value = [0_u8; 8];
    assert_eq!(rustix::fs::getxattr(&file, "user.one", &mut value).unwrap(), 1);
}

#[tokio::test]
async fn a_capability_that_writing_takes_away_is_given_back() {
    let folder = Folder::with(&[("a.md", "old")]);
    let file = folder.root.join("a.md");
    if !run_command("setcap", &["cap_net_raw+ep"], &file) {
        return;
    }
    apply(&folder.vault(), [replace("a.md", "old", "new")]).await;
    assert_eq!(folder.read("a.md").unwrap(), b"new");
    let mut value = [0_u8; 64];
    assert!(rustix::fs::getxattr(&file, "security.capability", &mut value).unwrap() > 0);
}

#[tokio::test]
async fn a_folder_that_takes_no_removals_is_left_without_a_trace() {
    let folder = Folder::with(&[("in/a.md", "old")]);
    let inside = folder.root.join("in");
    if !run_command("chattr", &["+a"], &inside) {
        return;
    }
    let names = folder.names();
    for change in [replace("in/a.md", "old", "new"), create("in/b.md", "made")] {
        let (applied, _) = apply(&folder.vault(), [change]).await;
        let why = applied.problems[0].1.to_string();
        assert!(why.contains("Change the permissions of it or its folder"), "{why}");
    }
    assert!(run_command("chattr", &["-a"], &inside));
    assert_eq!(folder.names(), names);
    assert_eq!(folder.read("in/a.md").unwrap(), b"old");
}

/// Runs a test of this binary once more as a user who owns `folder` and nothing else.
fn as_nobody(test: &str, folder: &Folder) {
    let own = folder.root.parent().unwrap();
    for place in [own, &folder.root] {
        chown(place, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let program = own.join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    mode(&program, 0o755);
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(program)
        .args(["--exact", test, "--nocapture"])
        .env("FOLDER_OF_NOBODY", &folder.root)
        .current_dir(own)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}\n{errors}");
}

#[tokio::test]
async fn what_a_user_could_not_keep_is_refused() {
    if let Some(root) = std::env::var_os("FOLDER_OF_NOBODY") {
        return as_the_user(&PathBuf::from(root)).await;
    }
    if !is_root() {
        return;
    }
    let notes = ["theirs.md", "shared.md", "group.md", "listed.md", "setgid/own.md", "own.md"];
    let folder = Folder::with(&notes.map(|note| (note, "old")));
    let file = |name: &str| folder.root.join(name);
    mode(&file("theirs.md"), 0o644);
    mode(&file("shared.md"), 0o666);
    chown(file("group.md"), Some(NOBODY), Some(0)).unwrap();
    for own in ["own.md", "setgid", "setgid/own.md"] {
        chown(file(own), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    chown(file("setgid"), Some(NOBODY), Some(0)).unwrap();
    mode(&file("setgid"), 0o2775);
    assert!(run_command("setfacl", &["-m", "u:65534:rw"], &file("listed.md")), "needs `setfacl`");
    folder.write("given.md", "old");
    mode(&file("given.md"), 0o666);
    let was: Vec<_> = notes.iter().map(|note| file_and_metadata(&file(note))).collect();
    as_nobody("what_a_user_could_not_keep_is_refused", &folder);
    for (note, was) in notes.iter().zip(was) {
        let is = file_and_metadata(&file(note));
        assert_eq!((is.1, is.2, is.3), (was.1, was.2, was.3), "{note}");
        let is_own = note.ends_with("own.md");
        assert_eq!(fs::read(file(note)).unwrap(), if is_own { b"new" } else { b"old" }, "{note}");
    }
}

/// The same, as the user who owns the folder.
async fn as_the_user(root: &Path) {
    assert!(!rustix::process::geteuid().is_root());
    let vault = Vault::open(root).unwrap();
    for (note, refused) in [
        ("theirs.md", Some("is write-protected")),
        ("shared.md", Some("another owner")),
        ("group.md", Some("another owner")),
        ("listed.md", Some("another owner")),
        ("setgid/own.md", None),
        ("own.md", None),
    ] {
        let (applied, _) = apply(&vault, [replace(note, "old", "new")]).await;
        let why = applied.problems.first().map(|(_, why)| why.to_string());
        match refused {
            Some(words) => assert!(why.as_ref().unwrap().contains(words), "{note}: {why:?}"),
            None => assert_eq!(why, None, "{note}"),
        }
    }
    restore_as_the_user(root, &vault).await;
    let (applied, _) = apply(&vault, [create("setgid/new.md", "made")]).await;
    assert_eq!(applied.done.len(), 1);
    assert_eq!(fs::metadata(root.join("setgid/new.md")).unwrap().gid(), 0, "as the folder says");
}

/// Notes of somebody else come back from the trash, for this user alone.
async fn restore_as_the_user(root: &Path, vault: &Vault) {
    let access = Some(FileAccess { mode: 0o644, uid: 0, gid: 0 });
    let gone = TrashedFile { name: "gone.md".to_owned(), file: None, access };
    let ledger = MemoryLedger::default();
    let trash = Change::trash(path("given.md"), "old");
    let applied = vault.apply(order([trash]), &ledger).await.unwrap();
    assert!(applied.problems.is_empty(), "{applied:?}");
    let (intent, _) = ledger.0.lock().unwrap()[0].clone();
    let Intent { temp_name: name, base: file, access, .. } = intent;
    let given = TrashedFile { name, file, access };
    assert!(root.join(".trash").join(&given.name).exists(), "its file is still there");
    for (note, theirs) in [("gone.md", gone), ("given.md", given)] {
        let back = Change::restore(path(note), "old", Some(theirs));
        let (applied, state) = apply(vault, [back]).await;
        assert_eq!((applied.problems.len(), state), (0, IntentState::Done), "{applied:?}");
        let is = file_and_metadata(&root.join(note));
        assert_eq!((is.1, is.3 & 0o7777), (NOBODY, 0o600), "{note}");
    }
}
