//! The power goes: a file system on a loop device stops, and all that was not synced is gone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::Extent;
use super::disks::{Mounted, run};
use super::stage::Prepared;
use super::sweep::settled;
use super::tally::Tally;
use super::tree::Tree;
use super::verdict::Finding;

/// File systems whose way back after a power cut is known to hold what was synced.
pub(super) const DISKS: [&str; 2] = ["ext4", "xfs"];

/// A disk in a file, with the scene on it.
pub(super) struct Disk {
    all: TempDir,
    image: PathBuf,
    kind: &'static str,
}

impl Disk {
    /// Makes the disk and puts the scene on it; says why where the machine does not allow it.
    pub(super) fn new(prepared: &Prepared, kind: &'static str) -> Result<Self, String> {
        let all = tempfile::tempdir().map_err(|error| error.to_string())?;
        let disk = Self { image: all.path().join("first.img"), all, kind };
        let file = fs::File::create(&disk.image).map_err(|error| error.to_string())?;
        // The smallest that both take.
        file.set_len(320 << 20).map_err(|error| error.to_string())?;
        run(Command::new(format!("mkfs.{kind}")).arg("-q").arg(&disk.image))?;
        let at = disk.all.path().join("disk");
        fs::create_dir(&at).map_err(|error| error.to_string())?;
        let mounted = disk.mount(&disk.image)?;
        prepared.stage_in(&mounted.0);
        run(Command::new("sync").arg("-f").arg(&mounted.0))?;
        drop(mounted);
        Ok(disk)
    }

    fn mount(&self, image: &Path) -> Result<Mounted, String> {
        let image = image.to_string_lossy();
        Mounted::new(&["-o", "loop", "-t", self.kind, &image], &self.all.path().join("disk"))
    }

    /// A fresh copy, only where something is written.
    fn copy(&self) -> Result<PathBuf, String> {
        let copy = self.all.path().join("copy.img");
        run(Command::new("cp")
            .args(["--sparse=always", "--reflink=auto"])
            .arg(&self.image)
            .arg(&copy))?;
        Ok(copy)
    }
}

/// Cuts the power at points of the scene, and after its end.
pub(super) fn cuts(
    prepared: &Prepared,
    disk: &Disk,
    extent: Extent,
    tally: &Tally,
) -> Result<(), String> {
    let count = if extent == Extent::Quick { 2 } else { 24 };
    let points = (0..=count).map(|part| 1 + part * prepared.points / count);
    for at in points {
        let (site, findings) = cut(prepared, disk, |folder| {
            let ended = prepared.play(folder, "act", |command| {
                command.env("KILL_AT", at.to_string());
            });
            if ended.killed { ended.error } else { "the end".to_owned() }
        })?;
        tally.kill(&format!("power:{site}"));
        let run = format!("{} on {}, power cut at {at} {site}", prepared.scene.name, disk.kind);
        tally.found(&run, &findings);
    }
    Ok(())
}

/// What must be found wrong: a disk that says it synced and did not.
pub(super) fn control(prepared: &Prepared, disk: &Disk, tally: &Tally) -> Result<(), String> {
    let (_, findings) = cut(prepared, disk, |folder| {
        let lie = ["-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:retval=0"];
        let (ended, _) = prepared.traced(folder, "act", &lie.map(str::to_owned));
        let said = ended.said.unwrap_or_default();
        assert_eq!(said.done.len(), prepared.changes.len(), "{}", ended.error);
        String::new()
    })?;
    // All was told as done, so what is not there is lost.
    let name = format!("a disk that lies about syncing ({})", disk.kind);
    tally.control(&name, !findings.is_empty());
    Ok(())
}

fn cut(
    prepared: &Prepared,
    disk: &Disk,
    act: impl FnOnce(&Path) -> String,
) -> Result<(String, Vec<Finding>), String> {
    let image = disk.copy()?;
    let mounted = disk.mount(&image)?;
    let site = act(&mounted.0);
    run(Command::new("xfs_io").args(["-x", "-c", "shutdown"]).arg(&mounted.0))?;
    drop(mounted);
    let mounted = disk.mount(&image)?;
    let mut findings = settled(prepared, &mounted.0);
    if site.is_empty() || site == "the end" {
        let after = prepared.scene.before.after(&prepared.changes);
        if Tree::at(&mounted.0.join("vault")) != after {
            findings.push((super::verdict::Wrong::Lost, "what was told as done".to_owned()));
        }
    }
    Ok((site, findings))
}
