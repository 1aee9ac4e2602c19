//! Disks that are full, become read-only in the middle, or may not be written by this user.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::Extent;
use super::child::Said;
use super::stage::{Ended, Prepared, scratch};
use super::tally::Tally;
use super::tree::Tree;
use super::verdict::Finding;

/// Somebody who may do nothing by nature.
const NOBODY: u32 = 65_534;
const PAGE: usize = 4096;

/// A mounted folder; unmounted on drop.
pub(super) struct Mounted(pub(super) PathBuf);

impl Mounted {
    /// Mounts; says what the system said where it does not.
    pub(super) fn new(words: &[&str], at: &Path) -> Result<Self, String> {
        run(Command::new("mount").args(words).arg(at)).map(|()| Self(at.to_owned()))
    }

    fn with(&self, options: &str) -> Result<(), String> {
        run(Command::new("mount").args(["-o", options]).arg(&self.0))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = run(Command::new("umount").arg(&self.0));
    }
}

/// Runs a command to its end; the error is what it said.
pub(super) fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said(&output)) }
}

/// Why nothing can be mounted here, if so.
pub(super) fn unavailable() -> Option<String> {
    let folder = scratch();
    Mounted::new(&["-t", "tmpfs", "none"], folder.path()).err()
}

/// The vault's disk is nearly full, then has room again.
pub(super) fn full(prepared: &Prepared, extent: Extent, tally: &Tally) {
    let folder = scratch();
    let vault = folder.path().join("vault");
    let used = {
        let disk = small_disk(prepared, folder.path(), 1 << 20);
        let used = used_pages(&disk.0);
        drop(disk);
        used
    };
    let step = if extent == Extent::Quick { 9 } else { 1 };
    for pages in (used..).step_by(step) {
        let disk = small_disk(prepared, folder.path(), pages);
        let ended = prepared.play(folder.path(), "act", |_| ());
        let said = ended.said.unwrap_or_else(|| panic!("{}", ended.error));
        let is_enough = said.problems.is_empty() && said.refused.is_none();
        // A start while the disk is full must do no harm either.
        let _ = prepared.recovered(folder.path());
        disk.with(&format!("remount,nr_blocks={}", 1 << 20)).expect("a larger disk");
        let findings = judged(prepared, folder.path(), &said);
        if !is_enough {
            tally.error();
        }
        tally.found(&format!("{} with {pages} pages", prepared.scene.name), &findings);
        drop(disk);
        let _ = std::fs::remove_dir_all(folder.path().join("data"));
        assert!(!vault.join("Hub.md").exists(), "the disk is gone");
        if is_enough {
            break;
        }
    }
}

/// The vault's disk becomes read-only at a point, and writable again after the end.
pub(super) fn read_only(prepared: &Prepared, extent: Extent, tally: &Tally) {
    let folder = scratch();
    for at in extent.of(prepared.points) {
        let disk = small_disk(prepared, folder.path(), 1 << 20);
        let (ended, done) = held(prepared, folder.path(), at, || disk.with("remount,ro").is_ok());
        disk.with("remount,rw").expect("writable again");
        // A file that is open for writing keeps its disk from it.
        if done {
            tally.error();
            let said = ended.said.unwrap_or_else(|| panic!("{}", ended.error));
            let mut findings = judged(prepared, folder.path(), &said);
            findings.retain(|finding| !super::calls::is_kept_temp(finding));
            tally.found(&format!("{} read-only at {at}", prepared.scene.name), &findings);
        }
        drop(disk);
        let _ = std::fs::remove_dir_all(folder.path().join("data"));
    }
}

/// A user without rights to a folder of the vault: each folder in turn, and the whole.
pub(super) fn no_rights(prepared: &Prepared, tally: &Tally) {
    let mut folders = vec![String::new()];
    folders.extend(prepared.changes.iter().filter_map(|change| {
        let folder = change.path.folder()?;
        matches!(prepared.scene.before.0.get(folder), Some(super::tree::Node::Folder))
            .then(|| folder.to_owned())
    }));
    folders.sort_unstable();
    folders.dedup();
    for locked in folders {
        let stage = prepared.stage();
        give_away(stage.path());
        let locked_folder = stage.path().join("vault").join(&locked);
        set_mode(&locked_folder, 0o555);
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        let plain = prepared.command(stage.path(), "act");
        command.arg(plain.get_program()).args(plain.get_args());
        let ended = Ended::of(&command.output().expect("setpriv starts"));
        set_mode(&locked_folder, 0o755);
        tally.error();
        let said = ended.said.unwrap_or_else(|| panic!("{}", ended.error));
        let mut findings = judged(prepared, stage.path(), &said);
        if !locked.is_empty() && said.problems.is_empty() && said.refused.is_none() {
            findings.push((super::verdict::Wrong::Untrue, "nothing was refused".to_owned()));
        }
        tally.found(&format!("{} without rights to `{locked}`", prepared.scene.name), &findings);
    }
}

/// Runs the scene, holds it at a point, does `meanwhile`, and lets it go on.
fn held(
    prepared: &Prepared,
    folder: &Path,
    at: usize,
    meanwhile: impl FnOnce() -> bool,
) -> (Ended, bool) {
    let mut command = prepared.command(folder, "act");
    command.env("HOLD_AT", at.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the process starts");
    let mut words = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut name = String::new();
    words.read_line(&mut name).expect("it gets there");
    let done = meanwhile();
    let mut answer = child.stdin.take().expect("a pipe");
    writeln!(answer).expect("it listens");
    drop(answer);
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut words, &mut rest).expect("it ends");
    let mut output = child.wait_with_output().expect("it ends");
    output.stdout = rest;
    (Ended::of(&output), done)
}

fn judged(prepared: &Prepared, folder: &Path, said: &Said) -> Vec<Finding> {
    let ledger = prepared.recovered(folder);
    prepared.case().after_errors(&Tree::at(&folder.join("vault")), said, &ledger)
}

/// The scene with its vault on a small disk of its own.
fn small_disk(prepared: &Prepared, folder: &Path, pages: usize) -> Mounted {
    let vault = folder.join("vault");
    std::fs::create_dir_all(&vault).expect("a folder");
    let options = format!("nr_blocks={pages},nr_inodes=0");
    let disk = Mounted::new(&["-t", "tmpfs", "-o", &options, "none"], &vault).expect("a disk");
    prepared.stage_in(folder);
    disk
}

fn used_pages(at: &Path) -> usize {
    let disk = rustix::fs::statvfs(at).expect("a mounted disk");
    let used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize;
    usize::try_from(used).expect("a small disk") / PAGE
}

fn give_away(folder: &Path) {
    chown(folder, Some(NOBODY), Some(NOBODY)).expect("given away");
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            give_away(&path);
        } else {
            chown(&path, Some(NOBODY), Some(NOBODY)).expect("given away");
        }
    }
}

fn set_mode(folder: &Path, mode: u32) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).expect("the mode");
}
