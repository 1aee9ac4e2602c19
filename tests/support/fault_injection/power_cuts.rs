//! The power goes: a file system on a loop device stops, and all that was not synced is gone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::FaultExtent;
use super::checks::DamageFinding;
use super::disk_faults::{MountedFolder, run_command};
use super::folder_tree::FolderTree;
use super::kill_sweep::findings_after_recovery;
use super::runner::PreparedScenario;
use super::tally::FaultTally;

/// A file system of its own on a loop device, whose power can be cut. Unmounted and deleted on drop.
#[derive(Debug)]
pub struct PowerCutDisk {
    mounted: Option<MountedFolder>,
    image: PathBuf,
    kind: &'static str,
    all: TempDir,
}

impl PowerCutDisk {
    /// Makes and mounts an empty file system of this kind, such as `ext4`. The error says why this machine does not
    /// allow it.
    pub fn new(kind: &'static str) -> Result<Self, String> {
        // Without this command the power cannot be cut.
        run_command(Command::new("xfs_io").arg("-V"))?;
        let all = tempfile::tempdir().map_err(|error| error.to_string())?;
        let image = all.path().join("disk.img");
        make_file_system(&image, kind)?;
        fs::create_dir(all.path().join("disk")).map_err(|error| error.to_string())?;
        let mut disk = Self { mounted: None, image, kind, all };
        disk.mount()?;
        Ok(disk)
    }

    /// The folder; it has the same path after a power cut.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.all.path().join("disk")
    }

    /// Returns when all that was written is on the disk.
    pub fn sync(&self) -> Result<(), String> {
        run_command(Command::new("sync").arg("-f").arg(self.root()))
    }

    /// Cuts the power and mounts the disk again. No process may have a file of it open.
    pub fn cut_power(&mut self) -> Result<(), String> {
        cut_power_of(&self.root())?;
        drop(self.mounted.take());
        self.mount()
    }

    fn mount(&mut self) -> Result<(), String> {
        let image = self.image.to_string_lossy();
        let options = ["-o", "loop", "-t", self.kind, &image];
        self.mounted = Some(MountedFolder::new(&options, &self.root())?);
        Ok(())
    }
}

fn make_file_system(image: &Path, kind: &str) -> Result<(), String> {
    let file = fs::File::create(image).map_err(|error| error.to_string())?;
    // The smallest that both kinds take.
    file.set_len(320 << 20).map_err(|error| error.to_string())?;
    run_command(Command::new(format!("mkfs.{kind}")).arg("-q").arg(image))
}

/// From here on nothing that was not synced gets to the disk.
fn cut_power_of(mounted: &Path) -> Result<(), String> {
    run_command(Command::new("xfs_io").args(["-x", "-c", "shutdown"]).arg(mounted))
}

/// File systems whose way back after a power cut is known to hold what was synced.
pub(super) const FILE_SYSTEMS: [&str; 2] = ["ext4", "xfs"];

/// A disk in a file, with the scene on it.
pub(super) struct LoopDisk {
    all: TempDir,
    image: PathBuf,
    kind: &'static str,
}

impl LoopDisk {
    /// Makes the disk and puts the scene on it; says why where the machine does not allow it.
    pub(super) fn new(prepared: &PreparedScenario, kind: &'static str) -> Result<Self, String> {
        let all = tempfile::tempdir().map_err(|error| error.to_string())?;
        let disk = Self { image: all.path().join("first.img"), all, kind };
        make_file_system(&disk.image, kind)?;
        let at = disk.all.path().join("disk");
        fs::create_dir(&at).map_err(|error| error.to_string())?;
        let mounted = disk.mount(&disk.image)?;
        prepared.copy_into(&mounted.0);
        run_command(Command::new("sync").arg("-f").arg(&mounted.0))?;
        drop(mounted);
        Ok(disk)
    }

    fn mount(&self, image: &Path) -> Result<MountedFolder, String> {
        let image = image.to_string_lossy();
        MountedFolder::new(&["-o", "loop", "-t", self.kind, &image], &self.all.path().join("disk"))
    }

    /// A fresh copy, only where something is written.
    fn copy_image(&self) -> Result<PathBuf, String> {
        let copy = self.all.path().join("copy.img");
        run_command(
            Command::new("cp")
                .args(["--sparse=always", "--reflink=auto"])
                .arg(&self.image)
                .arg(&copy),
        )?;
        Ok(copy)
    }
}

/// Cuts the power at points of the scene, and after its end.
pub(super) fn cut_at_points(
    prepared: &PreparedScenario,
    disk: &LoopDisk,
    extent: FaultExtent,
    tally: &FaultTally,
) -> Result<(), String> {
    let count = if extent == FaultExtent::Quick { 2 } else { 24 };
    let points = (0..=count).map(|part| 1 + part * prepared.points / count);
    for at in points {
        let (site, findings) = cut_power(prepared, disk, |folder| {
            let ended = prepared.run_child(folder, "act", |command| {
                command.env("KILL_AT", at.to_string());
            });
            if ended.killed { ended.error } else { "the end".to_owned() }
        })?;
        tally.record_kill(&format!("power:{site}"));
        let run = format!("{} on {}, power cut at {at} {site}", prepared.scenario.name, disk.kind);
        tally.record_findings(&run, &findings);
    }
    Ok(())
}

/// The control, which must fail: a disk that reports a sync that it did not do.
pub(super) fn run_control(
    prepared: &PreparedScenario,
    disk: &LoopDisk,
    tally: &FaultTally,
) -> Result<(), String> {
    let (_, findings) = cut_power(prepared, disk, |folder| {
        let lie = ["-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:retval=0"];
        let (ended, _) = prepared.run_child_traced(folder, "act", &lie.map(str::to_owned));
        let said = ended.report.unwrap_or_default();
        assert_eq!(said.done.len(), prepared.changes.len(), "{}", ended.error);
        String::new()
    })?;
    // All was told as done, so what is not there is lost.
    let name = format!("a disk that lies about syncing ({})", disk.kind);
    tally.record_control(&name, !findings.is_empty());
    Ok(())
}

fn cut_power(
    prepared: &PreparedScenario,
    disk: &LoopDisk,
    act: impl FnOnce(&Path) -> String,
) -> Result<(String, Vec<DamageFinding>), String> {
    let image = disk.copy_image()?;
    let mounted = disk.mount(&image)?;
    let site = act(&mounted.0);
    cut_power_of(&mounted.0)?;
    drop(mounted);
    let mounted = disk.mount(&image)?;
    let mut findings = findings_after_recovery(prepared, &mounted.0);
    if site.is_empty() || site == "the end" {
        let after = prepared.scenario.before.after_changes(&prepared.changes);
        if FolderTree::read_from(&mounted.0.join("vault")) != after {
            findings.push((super::checks::Damage::Lost, "what was told as done".to_owned()));
        }
    }
    Ok((site, findings))
}
