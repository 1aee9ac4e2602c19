//! Disks that are full, become read-only in the middle, or may not be written by this user.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::FaultExtent;
use super::checks::DamageFinding;
use super::child_process::ChildReport;
use super::folder_tree::FolderTree;
use super::runner::{ChildExit, PreparedScenario, temp_folder};
use super::tally::FaultTally;

/// Somebody who may do nothing by nature.
const NOBODY_UID: u32 = 65_534;
const PAGE_BYTES: usize = 4096;

/// A mounted folder; unmounted on drop.
#[derive(Debug)]
pub(super) struct MountedFolder(pub(super) PathBuf);

impl MountedFolder {
    /// Mounts; the error is the message of the system.
    pub(super) fn new(words: &[&str], at: &Path) -> Result<Self, String> {
        run_command(Command::new("mount").args(words).arg(at)).map(|()| Self(at.to_owned()))
    }

    fn remount(&self, options: &str) -> Result<(), String> {
        run_command(Command::new("mount").args(["-o", options]).arg(&self.0))
    }
}

impl Drop for MountedFolder {
    fn drop(&mut self) {
        let _ = run_command(Command::new("umount").arg(&self.0));
    }
}

/// Runs a command to its end; the error is its message.
pub(super) fn run_command(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said(&output)) }
}

/// Why nothing can be mounted here, if so.
pub(super) fn unavailable() -> Option<String> {
    let folder = temp_folder();
    MountedFolder::new(&["-t", "tmpfs", "none"], folder.path()).err()
}

/// The vault's disk is nearly full, then has room again.
pub(super) fn disk_full(prepared: &PreparedScenario, extent: FaultExtent, tally: &FaultTally) {
    let folder = temp_folder();
    let vault = folder.path().join("vault");
    let used = {
        let disk = small_disk(prepared, folder.path(), 1 << 20);
        let used = used_pages(&disk.0);
        drop(disk);
        used
    };
    let step = if extent == FaultExtent::Quick { 9 } else { 1 };
    for pages in (used..).step_by(step) {
        let disk = small_disk(prepared, folder.path(), pages);
        let ended = prepared.run_child(folder.path(), "act", |_| ());
        let said = ended.report.unwrap_or_else(|| panic!("{}", ended.error));
        let is_enough = said.problems.is_empty() && said.refused.is_none();
        // A start while the disk is full must do no harm either.
        let _ = prepared.recover(folder.path());
        disk.remount(&format!("remount,nr_blocks={}", 1 << 20)).expect("a larger disk");
        let findings = check_after_errors(prepared, folder.path(), &said);
        if !is_enough {
            tally.record_error();
        }
        tally.record_findings(&format!("{} with {pages} pages", prepared.scenario.name), &findings);
        drop(disk);
        let _ = std::fs::remove_dir_all(folder.path().join("data"));
        assert!(!vault.join("Hub.md").exists(), "the disk is gone");
        if is_enough {
            break;
        }
    }
}

/// The vault's disk becomes read-only at a point, and writable again after the end.
pub(super) fn read_only(prepared: &PreparedScenario, extent: FaultExtent, tally: &FaultTally) {
    let folder = temp_folder();
    for at in extent.points_to_try(prepared.points) {
        let disk = small_disk(prepared, folder.path(), 1 << 20);
        let (ended, done) =
            run_paused_at(prepared, folder.path(), at, || disk.remount("remount,ro").is_ok());
        disk.remount("remount,rw").expect("writable again");
        // A file that is open for writing keeps its disk from it.
        if done {
            tally.record_error();
            let said = ended.report.unwrap_or_else(|| panic!("{}", ended.error));
            let mut findings = check_after_errors(prepared, folder.path(), &said);
            findings.retain(|finding| !super::syscall_faults::is_unremovable_temp_file(finding));
            tally.record_findings(
                &format!("{} read-only at {at}", prepared.scenario.name),
                &findings,
            );
        }
        drop(disk);
        let _ = std::fs::remove_dir_all(folder.path().join("data"));
    }
}

/// A user without rights to a folder of the vault: each folder in turn, and the whole.
pub(super) fn no_permission(prepared: &PreparedScenario, tally: &FaultTally) {
    let mut folders = vec![String::new()];
    folders.extend(prepared.changes.iter().filter_map(|change| {
        let folder = change.path.folder()?;
        matches!(prepared.scenario.before.0.get(folder), Some(super::folder_tree::TreeNode::Folder))
            .then(|| folder.to_owned())
    }));
    folders.sort_unstable();
    folders.dedup();
    for locked in folders {
        let stage = prepared.fresh_copy();
        chown_to_nobody(stage.path());
        let locked_folder = stage.path().join("vault").join(&locked);
        set_mode(&locked_folder, 0o555);
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        let plain = prepared.child_command(stage.path(), "act");
        command.arg(plain.get_program()).args(plain.get_args());
        let ended = ChildExit::from_output(&command.output().expect("setpriv starts"));
        set_mode(&locked_folder, 0o755);
        tally.record_error();
        let said = ended.report.unwrap_or_else(|| panic!("{}", ended.error));
        let mut findings = check_after_errors(prepared, stage.path(), &said);
        if !locked.is_empty() && said.problems.is_empty() && said.refused.is_none() {
            findings.push((super::checks::Damage::Untrue, "nothing was refused".to_owned()));
        }
        tally.record_findings(
            &format!("{} without rights to `{locked}`", prepared.scenario.name),
            &findings,
        );
    }
}

/// Runs the scene, holds it at a point, does `meanwhile`, and lets it go on.
fn run_paused_at(
    prepared: &PreparedScenario,
    folder: &Path,
    at: usize,
    meanwhile: impl FnOnce() -> bool,
) -> (ChildExit, bool) {
    let mut command = prepared.child_command(folder, "act");
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
    (ChildExit::from_output(&output), done)
}

fn check_after_errors(
    prepared: &PreparedScenario,
    folder: &Path,
    said: &ChildReport,
) -> Vec<DamageFinding> {
    let ledger = prepared.recover(folder);
    prepared.case().check_after_errors(&FolderTree::read_from(&folder.join("vault")), said, &ledger)
}

/// The scene with its vault on a small disk of its own.
fn small_disk(prepared: &PreparedScenario, folder: &Path, pages: usize) -> MountedFolder {
    let vault = folder.join("vault");
    std::fs::create_dir_all(&vault).expect("a folder");
    let options = format!("nr_blocks={pages},nr_inodes=0");
    let disk =
        MountedFolder::new(&["-t", "tmpfs", "-o", &options, "none"], &vault).expect("a disk");
    prepared.copy_into(folder);
    disk
}

fn used_pages(at: &Path) -> usize {
    let disk = rustix::fs::statvfs(at).expect("a mounted disk");
    let used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize;
    usize::try_from(used).expect("a small disk") / PAGE_BYTES
}

fn chown_to_nobody(folder: &Path) {
    chown(folder, Some(NOBODY_UID), Some(NOBODY_UID)).expect("given away");
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            chown_to_nobody(&path);
        } else {
            chown(&path, Some(NOBODY_UID), Some(NOBODY_UID)).expect("given away");
        }
    }
}

fn set_mode(folder: &Path, mode: u32) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).expect("the mode");
}
