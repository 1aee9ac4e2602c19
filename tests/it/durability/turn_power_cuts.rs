//! The power is cut at durable steps of whole turns, with notes and database on one disk: after the next start
//! everything continues, nothing is lost and nothing is done twice.
//!
//! `./dev faults` cuts at many points; with the tests runs a sample (`STORY_STRIDE`). It needs the right to mount.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use testkit::fault_injection::PowerCutDisk;

use crate::durability::turn_sweep::{TurnSweepFixture, UndisturbedRun, run_undisturbed, stride};

/// Of the steps that the kills are tried at, so many-th.
const CUT_STRIDE: usize = 4;

const STORIES: [&str; 3] = ["t4", "t5", "t6"];

/// Nothing where the machine allows no mounts; CI does, so a skip there is seen in the output.
fn disk_or_skip() -> Option<PowerCutDisk> {
    match PowerCutDisk::new("ext4") {
        Ok(disk) => Some(disk),
        Err(why) => {
            println!("skipped: no disk whose power can be cut: {why}");
            None
        }
    }
}

/// Plays a story until it kills itself there, cuts the power and starts again; where it was, and what is not as it is
/// undisturbed.
async fn cut_power_at(
    disk: &mut PowerCutDisk,
    story: &str,
    at: usize,
    whole: &UndisturbedRun,
) -> (String, Vec<String>) {
    let stage = TurnSweepFixture::new_in(&disk.root(), story).await;
    disk.sync().expect("synced");
    let output = stage.run_story(story, &[("KILL_AT", at.to_string())]).await;
    let site = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    assert_eq!(output.status.signal(), Some(9), "{story}@{at}: {site}");
    disk.cut_power().expect("the disk is mounted again");
    let (_, wrong) = stage.check_resume(story, whole).await;
    stage.model.finish();
    (site, wrong)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_of_power_cuts_over_turns_comes_to_the_same_end() {
    let Some(mut disk) = disk_or_skip() else { return };
    let (mut sites, mut wrong, mut cuts) = (BTreeSet::new(), Vec::new(), 0);
    for story in STORIES {
        let whole = run_undisturbed(story).await;
        for at in (1..=whole.points).step_by(CUT_STRIDE * stride(story)) {
            let (site, found) = cut_power_at(&mut disk, story, at, &whole).await;
            wrong.extend(found.into_iter().map(|what| format!("{story}@{at} {site}: {what}")));
            sites.insert(site);
            cuts += 1;
        }
    }
    println!("kills={cuts} sites={} wrong={} by power cuts", sites.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(sites.len() >= 5, "{sites:?}");
}

/// The control: a disk that reports a sync that it did not do.
#[tokio::test(flavor = "multi_thread")]
async fn the_sweep_of_power_cuts_finds_a_disk_that_lies_about_syncing() {
    let Some(mut disk) = disk_or_skip() else { return };
    let whole = run_undisturbed("t4").await;
    let stage = TurnSweepFixture::new_in(&disk.root(), "t4").await;
    disk.sync().expect("synced");
    let mut lying = Command::new("strace");
    lying.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"]);
    lying.args(["-e", "inject=fsync,fdatasync:retval=0", env!("CARGO_BIN_EXE_story")]);
    let output = stage.run_command(lying, "t4", &[]).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(stage.has_notes_of(&whole), "the story came to its end");
    disk.cut_power().expect("the disk is mounted again");
    assert!(!stage.has_notes_of(&whole), "the lie was not found");
    stage.model.finish();
}
