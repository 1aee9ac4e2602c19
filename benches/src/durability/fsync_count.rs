//! How often the disk is asked to be sure: counted from outside, in a process of its own.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::durability::vault_and_ledger::VaultAndLedger;
use crate::sample_notes::{note_name, note_text};

/// How many notes the counted process makes, and how many it edits.
const NOTES: usize = 20;

/// The syncs of one phase: of files in the vault's folder, and of the folder itself.
#[derive(Debug, Default, PartialEq, Eq)]
struct VaultSyncs {
    files: usize,
    folders: usize,
}

/// Counts the syncs of every made and every edited note; whether each took one of the file and one
/// of the folder. Those of the database lie outside the vault.
pub(crate) fn print() -> bool {
    let counted = ["create", "edit"].map(|phase| (phase, count_syncs(phase)));
    let mut met = true;
    for (phase, counted) in counted {
        match counted {
            Ok(VaultSyncs { files, folders }) => {
                let exact = files == NOTES && folders == NOTES;
                met &= exact;
                let result = if exact { "ok" } else { "MISSED" };
                println!(
                    "fsyncs_per_{phase} file={:.2} folder={:.2} bar=1 {result} notes={NOTES}",
                    syncs_per_note(files),
                    syncs_per_note(folders)
                );
            }
            Err(why) => {
                met = false;
                println!("fsyncs_per_{phase} bar=1 MISSED not counted: {why}");
            }
        }
    }
    met
}

fn syncs_per_note(syncs: usize) -> f64 {
    f64::from(u32::try_from(syncs).unwrap_or(u32::MAX)) / f64::from(NOTES as u32)
}

fn count_syncs(phase: &str) -> Result<VaultSyncs, Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    let (vault, trace) = (place.path().join("vault"), place.path().join("trace"));
    std::fs::create_dir(&vault)?;
    if phase == "edit" {
        for number in 0..NOTES {
            std::fs::write(vault.join(note_name(number)), note_text(number, 0))?;
        }
    }
    let done = Command::new("strace")
        .args(["-f", "-y", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,syncfs,sync", "-o"])
        .arg(&trace)
        .arg(std::env::current_exe()?)
        .args(["work", phase])
        .arg(place.path())
        .status()
        .map_err(|error| format!("strace cannot be run: {error}"))?;
    if !done.success() {
        return Err(format!("the counted process ended with {done}").into());
    }
    Ok(parse_trace(&std::fs::read_to_string(trace)?, &vault))
}

fn parse_trace(trace: &str, vault: &Path) -> VaultSyncs {
    let (folder, inside) = (format!("<{}>", vault.display()), format!("<{}/", vault.display()));
    let calls = || trace.lines().filter(|line| line.contains("sync("));
    VaultSyncs {
        files: calls().filter(|line| line.contains(&inside)).count(),
        folders: calls().filter(|line| line.contains(&folder)).count(),
    }
}

/// The work of the counted process: it makes or edits notes, one by one.
pub(crate) async fn run_phase(phase: &str, place: &Path) -> Result<(), Box<dyn Error>> {
    let ours = VaultAndLedger::open(&place.join("vault"), &place.join("vault.db")).await?;
    for number in 0..NOTES {
        let before = (phase == "edit").then(|| note_text(number, 0));
        ours.edit([(&*note_name(number), before.as_deref(), &*note_text(number, 1))]).await?;
    }
    Ok(())
}
