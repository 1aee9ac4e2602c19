//! Actions of other programs between two steps of a change.

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

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use protocol::{Change, IntentState};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use support::stops::{
    CHMODS, HELD_SAVES, HeldSave, OPENED, OPENS, READS_UNTIL_FAILURE, SAVES, faults, recover,
};
use support::{Folder, MemoryLedger, order, path, replace};
use vault::{Applied, VaultError};

const TEXT: &str = "one\ntwo\n";
const EDITED: &str = "one, edited\ntwo\n";

fn edit() -> Change {
    replace("a.md", TEXT, EDITED)
}

/// Fault points belong to the whole process, so each test takes [`faults`].
fn apply(folder: &Folder, change: Change) -> (Applied, IntentState) {
    let ledger = MemoryLedger::default();
    let applied = apply_with(folder, change, &ledger);
    (applied, *ledger.states().last().unwrap())
}

fn apply_with(folder: &Folder, change: Change, ledger: &MemoryLedger) -> Applied {
    apply_all(folder, [change], ledger)
}

fn apply_all(
    folder: &Folder,
    changes: impl IntoIterator<Item = Change>,
    ledger: &MemoryLedger,
) -> Applied {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(folder.vault().apply(order(changes), ledger)).unwrap()
}

/// Changes the note without regard to other programs: its old file is exchanged and removed.
fn exchange_regardless(folder: &Folder) {
    let (temp, note) = (folder.root.join("temp"), folder.root.join("a.md"));
    fs::write(&temp, EDITED).unwrap();
    renameat_with(CWD, &temp, CWD, &note, RenameFlags::EXCHANGE).unwrap();
    fs::remove_file(&temp).unwrap();
}

/// The texts of all files in the vault.
fn texts(folder: &Folder) -> Vec<(String, String)> {
    let names = folder.names().into_iter().filter(|name| folder.root.join(name).is_file());
    let text = |name: &String| String::from_utf8(folder.read(name).unwrap()).unwrap();
    names.map(|name| (name.clone(), text(&name))).collect()
}

fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

const LATE: &str = "a (written during a change).md";

#[test]
fn a_note_that_becomes_write_protected_between_two_steps_is_left_as_it_is() {
    let _one = faults();
    for (change, point) in [
        (edit(), "vault.staged.after"),
        (edit(), "vault.exchange.before"),
        (Change::trash(path("a.md"), TEXT), "vault.intend.after"),
        (Change::trash(path("a.md"), TEXT), "vault.carry.before"),
    ] {
        // The control: other permissions that allow to write do not keep it from being changed.
        for (mode, is_protected) in [(0o444, true), (0o400, true), (0o000, true), (0o600, false)] {
            let folder = Folder::with(&[("a.md", TEXT)]);
            let note = folder.root.join("a.md");
            let inode = fs::metadata(&note).unwrap().ino();
            *CHMODS.lock().unwrap() = Some((point, note.clone(), mode));
            let (applied, state) = apply(&folder, change.clone());
            assert!(CHMODS.lock().unwrap().is_none(), "{point} is passed");
            if !is_protected {
                assert_eq!(applied.done, [path("a.md")], "{point}: {applied:?}");
                continue;
            }
            let why = &applied.problems[0].1;
            let is_refused = matches!(why, VaultError::Protected { .. })
                || (mode == 0 && matches!(why, VaultError::Denied { .. }));
            assert!(is_refused, "{point} {mode:o}: {why:?}");
            assert_eq!(state, IntentState::Failed, "{point} {mode:o}");
            let now = fs::metadata(&note).unwrap();
            assert_eq!((now.ino(), now.mode() & 0o777), (inode, mode), "{point}");
            fs::set_permissions(&note, fs::Permissions::from_mode(0o644)).unwrap();
            assert_eq!(folder.read("a.md").unwrap(), TEXT.as_bytes(), "{point} {mode:o}");
            let names = folder.names().into_iter().filter(|name| name != ".trash");
            assert_eq!(names.collect::<Vec<_>>(), ["a.md", "notes"], "{point} {mode:o}");
        }
    }
}

#[test]
fn a_late_write_to_the_old_file_of_a_note_becomes_a_separate_note() {
    let _one = faults();
    let reopened = |old: &File| PathBuf::from(format!("/proc/self/fd/{}", old.as_raw_fd()));

    // The control: nothing but the old file has the line, and it is gone.
    let folder = Folder::with(&[("a.md", TEXT)]);
    let old = File::open(folder.root.join("a.md")).unwrap();
    exchange_regardless(&folder);
    let mut late = OpenOptions::new().append(true).open(reopened(&old)).unwrap();
    late.write_all(b"mine\n").unwrap();
    drop((late, old));
    assert_eq!(texts(&folder), owned(&[("a.md", EDITED)]));

    for point in ["vault.exchange.after", "vault.unlink.before", "vault.unlink.after"] {
        let folder = Folder::with(&[("a.md", TEXT)]);
        let old = File::open(folder.root.join("a.md")).unwrap();
        *OPENS.lock().unwrap() = Some((point, reopened(&old)));
        let (applied, _) = apply(&folder, edit());
        OPENED.lock().unwrap().take().expect("somebody opened the old file").join().unwrap();
        assert_eq!(applied.done, [path("a.md")], "{point}: {applied:?}");
        let late = format!("{TEXT}mine\n");
        // Before the last look at who came to write the edit is made again, on what they wrote.
        let with_the_line = owned(&[("a.md", &format!("{EDITED}mine\n"))]);
        let beside = owned(&[(LATE, &late), ("a.md", EDITED)]);
        let wanted = if point == "vault.exchange.after" { with_the_line } else { beside };
        assert_eq!(texts(&folder), wanted, "{point}");
    }
}

#[test]
fn a_displaced_file_with_the_text_of_the_note_keeps_the_line_of_its_writer() {
    let _one = faults();

    // The control: the file looks like the note's own, and the line goes with it.
    let folder = Folder::with(&[("a.md", TEXT)]);
    let mut writer = OpenOptions::new().append(true).open(folder.root.join("a.md")).unwrap();
    exchange_regardless(&folder);
    writer.write_all(b"mine\n").unwrap();
    assert_eq!(texts(&folder), owned(&[("a.md", EDITED)]));

    for (second, now) in [(None, EDITED), (Some("second\n"), "second\n")] {
        // While the file is looked at and its writer is gone by then, and long after.
        for writes_at in ["vault.temp_read.after", "vault.settle.before"] {
            let folder = Folder::with(&[("a.md", TEXT)]);
            let note = folder.root.join("a.md");
            let saves_at = "vault.exchange.before";
            *HELD_SAVES.lock().unwrap() =
                Some(HeldSave { note: note.clone(), text: TEXT, saves_at, writes_at, file: None });
            *SAVES.lock().unwrap() =
                second.map(|second| ("vault.exchange.after", note, vec![second]));
            let (applied, state) = apply(&folder, edit());
            *SAVES.lock().unwrap() = None;
            assert!(HELD_SAVES.lock().unwrap().is_none(), "{writes_at} is passed");
            match second {
                None => assert_eq!(state, IntentState::Done, "{applied:?}"),
                Some(_) => {
                    let why = &applied.problems[0].1;
                    assert!(matches!(why, VaultError::Overtaken { .. }), "{writes_at}: {why:?}");
                }
            }
            let late = format!("{TEXT}mine\n");
            assert_eq!(texts(&folder), owned(&[(LATE, &late), ("a.md", now)]), "{writes_at}");
        }
    }
}

#[test]
fn a_temporary_file_that_cannot_be_read_leaves_an_open_intent_and_every_text() {
    let _one = faults();
    for (saves, is_newest) in
        [(vec!["saved\n"], "saved\n"), (vec!["first\n", "second\n"], "second\n")]
    {
        let folder = Folder::with(&[("a.md", TEXT)]);
        let note = folder.root.join("a.md");
        *SAVES.lock().unwrap() = Some(("vault.exchange.before", note, saves.clone()));
        // The first read finds a text that the plan was not made on, the second fails.
        *READS_UNTIL_FAILURE.lock().unwrap() = Some(2);
        let ledger = MemoryLedger::default();
        let applied = apply_with(&folder, edit(), &ledger);
        *SAVES.lock().unwrap() = None;
        assert!(READS_UNTIL_FAILURE.lock().unwrap().is_none(), "it was read twice");
        assert_eq!(ledger.states(), [IntentState::Open], "{applied:?}");
        let kept = texts(&folder);
        for text in &saves {
            assert!(kept.iter().any(|(_, kept)| kept == text), "{text}: {kept:?}");
        }
        if saves.len() > 1 {
            assert_eq!(folder.read("a.md").unwrap(), is_newest.as_bytes(), "{kept:?}");
        }
        recover(&folder.vault(), &ledger);
        assert!(!ledger.states().contains(&IntentState::Open));
        assert_eq!(folder.read("a.md").unwrap(), is_newest.as_bytes());
        // A save that was out of sight for a moment is also kept in the trash, for an hour.
        let (copies, kept): (Vec<_>, Vec<_>) = texts(&folder)
            .into_iter()
            .partition(|(name, _)| name.starts_with(".trash/vaultmate-replaced/"));
        assert_eq!(kept.len(), saves.len(), "{kept:?}");
        for text in &saves {
            assert!(kept.iter().any(|(_, kept)| kept == text), "{text}: {kept:?}");
        }
        for (name, copy) in copies {
            assert!(saves.contains(&&*copy), "{name}: {copy}");
        }
    }
}

#[test]
fn a_displaced_file_that_cannot_be_read_goes_back_and_the_edit_is_made_again() {
    let _one = faults();
    let folder = Folder::with(&[("a.md", TEXT)]);
    *READS_UNTIL_FAILURE.lock().unwrap() = Some(1);
    let (applied, _) = apply(&folder, edit());
    assert!(READS_UNTIL_FAILURE.lock().unwrap().is_none());
    assert_eq!(applied.done, [path("a.md")], "{applied:?}");
    assert_eq!(texts(&folder), owned(&[("a.md", EDITED)]));
}

#[test]
fn a_twin_that_comes_while_other_notes_of_the_folder_are_staged_is_found() {
    let _one = faults();
    let (first, second, twin) = ("caf\u{e9} 1.md", "caf\u{e9} 2.md", "cafe\u{301} 2.md");
    // The control: a note with another name that comes in that moment is in nobody's way.
    for (theirs, is_twin) in [(twin, true), ("other.md", false)] {
        let folder = Folder::with(&[(first, TEXT), (second, TEXT)]);
        let save = ("vault.temp_create.after", folder.root.join(theirs), vec!["theirs\n"]);
        *SAVES.lock().unwrap() = Some(save);
        let edits = [first, second].map(|note| replace(note, TEXT, EDITED));
        let applied = apply_all(&folder, edits, &MemoryLedger::default());
        *SAVES.lock().unwrap() = None;
        assert_eq!(folder.read(theirs).unwrap(), b"theirs\n", "it came while both were staged");
        assert_eq!(folder.read(first).unwrap(), EDITED.as_bytes(), "{applied:?}");
        let now = if is_twin { TEXT } else { EDITED };
        assert_eq!(folder.read(second).unwrap(), now.as_bytes(), "{applied:?}");
        let twins = applied
            .problems
            .iter()
            .filter(|(at, why)| *at == path(second) && matches!(why, VaultError::Twin { .. }));
        let refused = usize::from(is_twin);
        assert_eq!((twins.count(), applied.problems.len()), (refused, refused), "{applied:?}");
    }
}
