//! A note that comes back from the trash has the owner, permissions and attributes that it had.

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
use std::path::Path;
use std::process::Command;

use protocol::{Change, FileAccess, TrashedFile};
use rustix::fs::XattrFlags;
use support::stops::{faults, recover, run_until};
use support::{Folder, MemoryLedger, create, order, path};

/// Set in a process that has a system trash of its own.
const OWN_TRASH: &str = "RESTORED_NOTES_OWN_TRASH";

/// Whether this process has a system trash of its own: that of the developer may hold files with the names of a test. If
/// not, runs the test once more in one that has.
fn has_own_trash(test: &str) -> bool {
    if std::env::var_os(OWN_TRASH).is_some() {
        return true;
    }
    let data = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(OWN_TRASH, "")
        .env("XDG_DATA_HOME", data.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}\n{errors}");
    println!("{told}");
    false
}

/// Fault points belong to the whole process, so each test takes [`faults`].
fn apply(folder: &Folder, change: Change, ledger: &MemoryLedger) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let applied = runtime.block_on(folder.vault().apply(order([change]), ledger)).unwrap();
    assert!(applied.problems.is_empty(), "{applied:?}");
}

/// Deletes `a.md`; returns its file as the ledger knows it.
fn trash(folder: &Folder) -> TrashedFile {
    let ledger = MemoryLedger::default();
    apply(folder, Change::trash(path("a.md"), folder.read("a.md").unwrap()), &ledger);
    let intents = ledger.0.lock().unwrap();
    let (intent, _) = &intents[0];
    TrashedFile { name: intent.temp_name.clone(), file: intent.base, access: intent.access }
}

fn empty_trash(folder: &Folder) {
    fs::remove_dir_all(folder.root.join(".trash")).unwrap();
}

fn restore(folder: &Folder, text: &str, trashed: &TrashedFile) {
    let back = Change::restore(path("a.md"), text, Some(trashed.clone()));
    apply(folder, back, &MemoryLedger::default());
    assert_eq!(folder.read("a.md").unwrap(), text.as_bytes());
}

fn set_mode(file: &Path, mode: u32) {
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

/// The owner, the group and the permissions of a file.
fn access(file: &Path) -> FileAccess {
    let about = fs::metadata(file).unwrap();
    FileAccess { mode: about.mode() & 0o7777, uid: about.uid(), gid: about.gid() }
}

#[test]
fn permissions_come_back_also_after_the_trash_was_emptied() {
    if !has_own_trash("permissions_come_back_also_after_the_trash_was_emptied") {
        return;
    }
    let _one = faults();
    for mode in [0o600, 0o640, 0o664] {
        for is_emptied in [false, true] {
            let folder = Folder::with(&[("a.md", "text")]);
            let note = folder.root.join("a.md");
            set_mode(&note, mode);
            let was = access(&note);
            let trashed = trash(&folder);
            if is_emptied {
                empty_trash(&folder);
            }
            restore(&folder, "text", &trashed);
            assert_eq!(access(&note), was, "{mode:o}, emptied: {is_emptied}");
        }
    }
}

#[test]
fn a_note_of_another_user_is_theirs_again_after_the_trash_was_emptied() {
    const NOBODY: u32 = 65_534;
    if !has_own_trash("a_note_of_another_user_is_theirs_again_after_the_trash_was_emptied") {
        return;
    }
    let _one = faults();
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root gives a file to somebody else");
        return;
    }
    let folder = Folder::with(&[("a.md", "text")]);
    let note = folder.root.join("a.md");
    chown(&note, Some(NOBODY), Some(NOBODY)).unwrap();
    set_mode(&note, 0o2664);
    let was = access(&note);
    let trashed = trash(&folder);
    empty_trash(&folder);
    restore(&folder, "text", &trashed);
    assert_eq!(access(&note), was);
}

#[test]
fn a_note_whose_readers_nobody_knows_comes_back_for_the_user_alone() {
    if !has_own_trash("a_note_whose_readers_nobody_knows_comes_back_for_the_user_alone") {
        return;
    }
    let _one = faults();
    let folder = Folder::with(&[("a.md", "text")]);
    let trashed = TrashedFile { access: None, ..trash(&folder) };
    empty_trash(&folder);
    restore(&folder, "text", &trashed);
    assert_eq!(access(&folder.root.join("a.md")).mode, 0o600);
    // The control: the permissions of a new note are left to the system.
    apply(&folder, create("new.md", "text"), &MemoryLedger::default());
    folder.write("by another program.md", "text");
    let theirs = access(&folder.root.join("by another program.md"));
    assert_eq!(access(&folder.root.join("new.md")), theirs);
}

#[test]
fn a_note_whose_readers_nobody_knows_gets_no_access_list_of_its_folder() {
    if !has_own_trash("a_note_whose_readers_nobody_knows_gets_no_access_list_of_its_folder") {
        return;
    }
    let _one = faults();
    let folder = Folder::with(&[("a.md", "text")]);
    let trashed = TrashedFile { access: None, ..trash(&folder) };
    empty_trash(&folder);
    let listed = Command::new("setfacl").args(["-m", "d:u:65534:rw"]).arg(&folder.root).output();
    if !listed.as_ref().is_ok_and(|output| output.status.success()) {
        println!("skipped: setfacl: {listed:?}");
        return;
    }
    let list = |name: &str| {
        let file = folder.root.join(name);
        let told = Command::new("getfacl").args(["-cpn"]).arg(file).output().unwrap().stdout;
        String::from_utf8(told).unwrap()
    };
    restore(&folder, "text", &trashed);
    assert!(!list("a.md").contains("65534"), "{}", list("a.md"));
    apply(&folder, create("new.md", "text"), &MemoryLedger::default());
    assert!(list("new.md").contains("65534"), "the control: {}", list("new.md"));
}

#[test]
fn attributes_come_back_with_another_text_while_the_file_is_in_the_trash() {
    if !has_own_trash("attributes_come_back_with_another_text_while_the_file_is_in_the_trash") {
        return;
    }
    let _one = faults();
    let folder = Folder::with(&[("a.md", "text")]);
    let note = folder.root.join("a.md");
    set_mode(&note, 0o600);
    if let Err(error) = rustix::fs::setxattr(&note, "user.one", b"1", XattrFlags::empty()) {
        println!("skipped: no attributes: {error}");
        return;
    }
    let trashed = trash(&folder);
    if trashed.file.is_none_or(|file| file.born.is_none()) {
        println!("skipped: no birth times");
        return;
    }
    restore(&folder, "another text", &trashed);
    assert_eq!(access(&note).mode, 0o600);
    let mut value = [0_u8; 8];
    assert_eq!(rustix::fs::getxattr(&note, "user.one", &mut value).unwrap(), 1);
}

#[test]
fn a_copy_of_the_trashed_file_gives_attributes_back_unless_it_is_wider() {
    if !has_own_trash("a_copy_of_the_trashed_file_gives_attributes_back_unless_it_is_wider") {
        return;
    }
    let _one = faults();
    for (copied_mode, is_copied_back) in [(0o640, true), (0o600, true), (0o644, false)] {
        let folder = Folder::with(&[("a.md", "text")]);
        let note = folder.root.join("a.md");
        set_mode(&note, 0o640);
        let trashed = trash(&folder);
        // As after a restore from a backup.
        let in_trash = folder.root.join(".trash").join(&trashed.name);
        fs::rename(&in_trash, folder.root.join("taken out.md")).unwrap();
        fs::write(&in_trash, "text").unwrap();
        set_mode(&in_trash, copied_mode);
        if let Err(error) = rustix::fs::setxattr(&in_trash, "user.one", b"1", XattrFlags::empty()) {
            println!("skipped: no attributes: {error}");
            return;
        }
        restore(&folder, "text", &trashed);
        let restored_mode = if is_copied_back { copied_mode } else { 0o640 };
        assert_eq!(access(&note).mode, restored_mode, "{copied_mode:o}");
        let mut value = [0_u8; 8];
        let attribute = rustix::fs::getxattr(&note, "user.one", &mut value);
        assert_eq!(attribute.is_ok(), is_copied_back, "{copied_mode:o}: {attribute:?}");
    }
}

#[test]
fn another_file_under_the_name_in_the_trash_opens_no_note() {
    if !has_own_trash("another_file_under_the_name_in_the_trash_opens_no_note") {
        return;
    }
    let _one = faults();
    let folder = Folder::with(&[("a.md", "text")]);
    let note = folder.root.join("a.md");
    set_mode(&note, 0o600);
    let trashed = trash(&folder);
    if trashed.file.is_none_or(|file| file.born.is_none()) {
        println!("skipped: no birth times");
        return;
    }
    let in_trash = folder.root.join(".trash").join(&trashed.name);
    fs::rename(&in_trash, folder.root.join("taken out.md")).unwrap();
    fs::write(&in_trash, "text").unwrap();
    set_mode(&in_trash, 0o666);
    restore(&folder, "text", &trashed);
    assert_eq!(access(&note).mode, 0o600);
}

#[test]
fn without_its_access_list_a_note_comes_back_for_its_owner_alone() {
    if !has_own_trash("without_its_access_list_a_note_comes_back_for_its_owner_alone") {
        return;
    }
    let _one = faults();
    let folder = Folder::with(&[("a.md", "text")]);
    let note = folder.root.join("a.md");
    set_mode(&note, 0o644);
    let listed = Command::new("setfacl").args(["-m", "u:65534:rw"]).arg(&note).output();
    if !listed.as_ref().is_ok_and(|output| output.status.success()) {
        println!("skipped: setfacl: {listed:?}");
        return;
    }
    let list = || Command::new("getfacl").args(["-cpn"]).arg(&note).output().unwrap().stdout;
    let was = list();
    let trashed = trash(&folder);
    restore(&folder, "text", &trashed);
    assert_eq!(String::from_utf8_lossy(&list()), String::from_utf8_lossy(&was), "the control");
    let trashed = trash(&folder);
    empty_trash(&folder);
    restore(&folder, "text", &trashed);
    assert_eq!(access(&note).mode, 0o600);
}

#[test]
fn a_note_comes_back_with_its_permissions_after_a_stop_at_any_step() {
    if !has_own_trash("a_note_comes_back_with_its_permissions_after_a_stop_at_any_step") {
        return;
    }
    let _one = faults();
    let mut stop = 0;
    loop {
        let folder = Folder::with(&[("a.md", "text")]);
        let note = folder.root.join("a.md");
        set_mode(&note, 0o640);
        let was = access(&note);
        let trashed = trash(&folder);
        empty_trash(&folder);
        let ledger = MemoryLedger::default();
        let back = order([Change::restore(path("a.md"), "text", Some(trashed))]);
        let ended = run_until(stop, async || drop(folder.vault().apply(back, &ledger).await));
        let is_intended = !ledger.states().is_empty();
        let recovery = recover(&folder.vault(), &ledger);
        assert!(recovery.problems.is_empty(), "stopped at {stop}: {:?}", recovery.problems);
        if is_intended {
            assert_eq!(access(&note), was, "stopped at {stop}");
        }
        if ended {
            break;
        }
        stop += 1;
    }
    assert!(stop > 5, "only {stop} steps were seen");
}
