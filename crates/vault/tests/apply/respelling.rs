//! Renames that change only the spelling of a name, on a disk that keeps case and ignores it.

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
use std::path::{Path, PathBuf};
use std::process::Command;

use protocol::{Change, IntentState};
use support::stops::{faults, recover, run_until};
use support::{MemoryLedger, path, replace, unit};
use tempfile::TempDir;
use vault::{Vault, VaultError};

/// A folder on such a disk, which is unmounted on drop.
struct CaselessDisk {
    mounted: Option<TempDir>,
    top: PathBuf,
}

impl CaselessDisk {
    /// `None`, and a line about it, where the system has none. `CASELESS_FOLDER` names a folder on one.
    fn new() -> Option<Self> {
        if let Some(top) = std::env::var_os("CASELESS_FOLDER").map(PathBuf::from) {
            return Some(Self { mounted: None, top });
        }
        let all = tempfile::tempdir().unwrap();
        let (image, disk) = (all.path().join("image"), all.path().join("disk"));
        fs::File::create(&image).and_then(|file| file.set_len(64 << 20)).unwrap();
        fs::create_dir(&disk).unwrap();
        let names = [image.display().to_string(), disk.display().to_string()];
        let [image, disk] = [&names[0], &names[1]].map(String::as_str);
        if !run(&["mkfs.ext4", "-q", "-O", "casefold", image])
            || !run(&["mount", "-o", "loop", image, disk])
        {
            return None;
        }
        let top = all.path().join("disk/notes");
        let mounted = Self { mounted: Some(all), top };
        fs::create_dir(&mounted.top).unwrap();
        run(&["chattr", "+F", &mounted.top.display().to_string()]).then_some(mounted)
    }

    fn vault(&self) -> Vault {
        for entry in fs::read_dir(&self.top).unwrap() {
            let entry = entry.unwrap().path();
            match entry.is_dir() {
                true => fs::remove_dir_all(entry).unwrap(),
                false => fs::remove_file(entry).unwrap(),
            }
        }
        fs::write(self.top.join("note.md"), "text").unwrap();
        fs::write(self.top.join("links.md"), "to [[note]]").unwrap();
        assert!(self.top.join("NOTE.md").exists(), "the disk ignores case");
        Vault::open(&self.top).unwrap()
    }
}

impl Drop for CaselessDisk {
    fn drop(&mut self) {
        if let Some(all) = &self.mounted {
            run(&["umount", "-l", &all.path().join("disk").display().to_string()]);
        }
    }
}

fn run(command: &[&str]) -> bool {
    let done = Command::new(command[0]).args(&command[1..]).output();
    let is_done = done.is_ok_and(|output| output.status.success());
    if !is_done {
        println!("skipped: {command:?}");
    }
    is_done
}

/// The files, spelled as the folder lists them.
fn names(top: &Path) -> Vec<String> {
    let entries = fs::read_dir(top).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| !name.starts_with(".vaultmate") || name.contains(".tmp"));
    names.sort();
    names
}

fn respelling() -> Vec<Change> {
    vec![
        replace("links.md", "to [[note]]", "to [[Note]]"),
        Change::rename(path("note.md"), path("Note.md")),
    ]
}

fn apply(vault: &Vault, changes: Vec<Change>, ledger: &MemoryLedger) -> vault::Applied {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(vault.apply(unit(changes), ledger)).unwrap()
}

#[test]
fn note_gets_another_spelling_and_its_first_one_again() {
    let _one = faults();
    let Some(disk) = CaselessDisk::new() else { return };
    let vault = disk.vault();
    let file = vault.file_id(&path("note.md"));
    let applied = apply(&vault, respelling(), &MemoryLedger::default());
    assert!(applied.problems.is_empty(), "{applied:?}");
    assert_eq!(names(&disk.top), ["Note.md", "links.md"]);
    assert_eq!(vault.file_id(&path("Note.md")), file, "it is the same file");
    let is_there = |name: &str| vault.entry(&path(name)).unwrap().is_some();
    assert_eq!((is_there("Note.md"), is_there("note.md")), (true, false));

    let back = vec![Change::rename(path("Note.md"), path("note.md"))];
    let applied = apply(&vault, back, &MemoryLedger::default());
    assert!(applied.problems.is_empty(), "{applied:?}");
    assert_eq!(names(&disk.top), ["links.md", "note.md"]);

    // The control: another note is not in the way by its own name only.
    let taken = vec![Change::rename(path("note.md"), path("Links.md"))];
    let applied = apply(&vault, taken, &MemoryLedger::default());
    assert!(matches!(applied.problems[0].1, VaultError::Exists { .. }), "{applied:?}");
}

#[test]
fn folder_gets_another_spelling() {
    let _one = faults();
    let Some(disk) = CaselessDisk::new() else { return };
    let vault = disk.vault();
    fs::create_dir(disk.top.join("old")).unwrap();
    fs::write(disk.top.join("old/a.md"), "a").unwrap();
    let respelled = vec![Change::rename_folder(path("old"), path("Old"))];
    let applied = apply(&vault, respelled, &MemoryLedger::default());
    assert!(applied.problems.is_empty(), "{applied:?}");
    assert_eq!(names(&disk.top), ["Old", "links.md", "note.md"]);
    assert_eq!(fs::read(disk.top.join("Old/a.md")).unwrap(), b"a");
    // An empty folder is not in its own way, and stays.
    fs::create_dir(disk.top.join("empty")).unwrap();
    let respelled = vec![Change::rename_folder(path("empty"), path("Empty"))];
    let applied = apply(&vault, respelled, &MemoryLedger::default());
    assert!(applied.problems.is_empty(), "{applied:?}");
    assert_eq!(names(&disk.top), ["Empty", "Old", "links.md", "note.md"]);
}

#[test]
fn respelling_stopped_at_any_step_is_finished_by_recovery() {
    let _one = faults();
    let Some(disk) = CaselessDisk::new() else { return };
    let (mut stop, mut stopped_between) = (0, 0);
    loop {
        let (vault, ledger) = (disk.vault(), MemoryLedger::default());
        let work = async || drop(vault.apply(unit(respelling()), &ledger).await);
        let ended = run_until(stop, work);
        let intended = !ledger.states().is_empty();
        stopped_between += usize::from(!disk.top.join("note.md").exists());
        let recovery = recover(&vault, &ledger);
        assert!(recovery.problems.is_empty(), "stopped at {stop}: {:?}", recovery.problems);
        let wanted = if intended { ["Note.md", "links.md"] } else { ["links.md", "note.md"] };
        assert_eq!(names(&disk.top), wanted, "stopped at {stop}");
        assert_eq!(fs::read(disk.top.join("note.md")).unwrap(), b"text", "stopped at {stop}");
        let link: &[u8] = if intended { b"to [[Note]]" } else { b"to [[note]]" };
        assert_eq!(fs::read(disk.top.join("links.md")).unwrap(), link, "stopped at {stop}");
        assert!(ledger.states().iter().all(|state| *state == IntentState::Done));
        if ended {
            break;
        }
        stop += 1;
    }
    assert!(stopped_between > 0, "no stop was between the two spellings");
}

#[test]
fn second_name_of_a_file_is_in_the_way_of_its_first() {
    let _one = faults();
    let all = tempfile::tempdir().unwrap();
    fs::write(all.path().join("note.md"), "text").unwrap();
    fs::hard_link(all.path().join("note.md"), all.path().join("Note.md")).unwrap();
    let (vault, ledger) = (Vault::open(all.path()).unwrap(), MemoryLedger::default());
    let is_there = |name: &str| vault.entry(&path(name)).unwrap().is_some();
    assert!(is_there("note.md") && is_there("Note.md"));
    let rename = vec![Change::rename(path("note.md"), path("Note.md"))];
    let applied = apply(&vault, rename, &ledger);
    assert!(matches!(applied.problems[0].1, VaultError::Exists { .. }), "{applied:?}");
    assert_eq!(names(all.path()), ["Note.md", "note.md"]);
}

#[test]
fn note_left_between_two_spellings_gets_the_new_one_or_else_the_old_one() {
    let _one = faults();
    for saved in [None, Some("saved by another program")] {
        let all = tempfile::tempdir().unwrap();
        let at = |name: &str| all.path().join(name);
        fs::write(at("note.md"), "text").unwrap();
        let (vault, ledger) = (Vault::open(all.path()).unwrap(), MemoryLedger::default());
        apply(&vault, vec![Change::rename(path("note.md"), path("Note.md"))], &ledger);
        // As a kill leaves it.
        let intent = ledger.0.lock().unwrap()[0].0.clone();
        fs::rename(at("Note.md"), at(&intent.temp_name)).unwrap();
        if let Some(text) = saved {
            fs::write(at("Note.md"), text).unwrap();
        }
        let recovery = recover(&vault, &MemoryLedger::holding(vec![intent]));
        assert_eq!(recovery.problems.len(), usize::from(saved.is_some()), "{recovery:?}");
        match saved {
            None => assert_eq!(names(all.path()), ["Note.md"]),
            Some(text) => {
                assert_eq!(names(all.path()), ["Note.md", "note.md"]);
                assert_eq!(fs::read(at("Note.md")).unwrap(), text.as_bytes());
            }
        }
        let name = if saved.is_some() { "note.md" } else { "Note.md" };
        assert_eq!(fs::read(at(name)).unwrap(), b"text");
    }
}
