//! Kills while the user undoes and redoes changes, through the application's own API.
//!
//! A child process with the whole application undoes or redoes what a model did, and is killed at
//! each of its points; the application starts again, does the same deed and then the opposite. The
//! notes and what is listed as applied must agree after each of these.

mod checks;
mod child_process;
mod scenarios;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

pub use child_process::run as child;

use super::folder_tree::FolderTree;
use super::runner::{parse_last_line, temp_folder, was_killed};
use super::tally::FaultTally;
use super::{FaultExtent, for_each_parallel, syscall_faults};
use checks::UndoCase;
use child_process::{UndoChildReport, UndoSnapshot};
use scenarios::{UndoScenario, all_scenarios};

/// A deed that is ready to be done many times.
struct PreparedUndo {
    scenario: UndoScenario,
    /// How many fault points the process passes undisturbed, its start included.
    points: usize,
    case: UndoCase,
    program: PathBuf,
}

/// Kills a process at every point of every deed; then also the start after it; then the process
/// before every write of its database.
pub(super) fn kills(program: &Path, extent: FaultExtent, tally: &FaultTally) {
    let wanted = if extent == FaultExtent::Quick { 2 } else { usize::MAX };
    for deed in all_scenarios().into_iter().take(wanted) {
        let prepared = PreparedUndo::new(deed, program);
        for_each_parallel(&extent.points_to_try(prepared.points), |&at| {
            let stage = prepared.prepare_vault();
            if let Some(site) = prepared.run_killed(stage.path(), "act", at) {
                prepared.record_findings(stage.path(), &site, &format!("at {at}"), tally);
            }
        });
        // While the intents are open, and when some of them have happened.
        let spots = [prepared.points / 3, prepared.points * 2 / 3];
        for_each_parallel(&spots, |&at| prepared.kill_starts(at, extent, tally));
        if syscall_faults::unavailable().is_none() {
            prepared.kill_writes(extent, tally);
        }
        println!("  {}: points={}", prepared.scenario.name, prepared.points);
    }
    if let Some(why) = syscall_faults::unavailable() {
        tally.record_skip("kills of undo and redo at writes of the database", &why);
    }
    run_control(program, extent, tally);
}

/// The control, which must fail: an undo is recorded only after it has happened.
fn run_control(program: &Path, extent: FaultExtent, tally: &FaultTally) {
    let deed = all_scenarios().into_iter().next().expect("a deed");
    let prepared = PreparedUndo::new(deed, program);
    let stage = prepared.prepare_vault();
    let points = prepared.run_child(stage.path(), "careless").report.map_or(0, |said| said.points);
    let tried = match extent {
        FaultExtent::Quick => (points.saturating_sub(8).max(1)..=points).step_by(3).collect(),
        FaultExtent::Full => (1..=points).collect::<Vec<_>>(),
    };
    let caught = tried.iter().filter(|&&at| {
        let stage = prepared.prepare_vault();
        let Some(site) = prepared.run_killed(stage.path(), "careless", at) else { return false };
        let found = FolderTree::read_from(&stage.path().join("vault"));
        !prepared
            .case
            .check_after_kill(&site, &found, &prepared.restart_and_redo(stage.path()))
            .is_empty()
    });
    let caught = caught.count();
    let name =
        format!("an undo noted after the fact, wrong after {caught} of {} kills", tried.len());
    tally.record_control(&name, caught > 0);
}

impl PreparedUndo {
    /// Does the deed once, undisturbed; panics if that does not restore the notes.
    fn new(deed: UndoScenario, program: &Path) -> Self {
        let case = UndoCase::default();
        let mut prepared = Self { scenario: deed, points: 0, case, program: program.to_owned() };
        let untouched = prepared.prepare_vault();
        let before = prepared.run_undisturbed(untouched.path(), "look");
        let stage = prepared.prepare_vault();
        let acted = prepared.run_undisturbed(stage.path(), "act");
        let after = prepared.run_undisturbed(stage.path(), "look");
        prepared.points = acted.points;
        prepared.case = UndoCase {
            before: first_snapshot(before),
            after: first_snapshot(after),
            notes_if_reverted: prepared.scenario.expected_notes(),
            way: prepared.scenario.way,
        };
        let findings = prepared.case.check_undisturbed();
        assert!(findings.is_empty(), "{} undisturbed: {findings:?}", prepared.scenario.name);
        prepared
    }

    /// A vault in which a model has changed the notes. It is made again for each run: a copy of the
    /// folder would be another vault, and copies of its notes other notes.
    fn prepare_vault(&self) -> TempDir {
        let stage = temp_folder();
        for folder in ["vault", "data"] {
            fs::create_dir(stage.path().join(folder)).expect("a folder");
        }
        self.scenario.notes.write_to(&stage.path().join("vault"));
        let _ = self.run_undisturbed(stage.path(), "prepare");
        stage
    }

    /// Kills a process at its n-th point and names that; `None` when it does not come so far: what
    /// goes on beside the deed may pass a point less.
    fn run_killed(&self, folder: &Path, what: &str, at: usize) -> Option<String> {
        let mut command = self.command(folder, what);
        let output = command.env("KILL_AT", at.to_string()).output().expect("it starts");
        let site = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
        was_killed(&output).then(site)
    }

    /// Kills the process at its n-th point, and the start after that at each of its own.
    fn kill_starts(&self, at: usize, extent: FaultExtent, tally: &FaultTally) {
        for again in 1.. {
            let stage = self.prepare_vault();
            let first = self.run_killed(stage.path(), "act", at);
            let (Some(first), Some(second)) = (first, self.run_killed(stage.path(), "look", again))
            else {
                break;
            };
            let site = format!("{first}, then start:{second}");
            self.record_findings(stage.path(), &site, &format!("at {at}, then at {again}"), tally);
            if extent == FaultExtent::Quick && again >= 3 {
                break;
            }
        }
    }

    /// Kills the process before each write and sync of the database's log.
    fn kill_writes(&self, extent: FaultExtent, tally: &FaultTally) {
        let stage = self.prepare_vault();
        let _ = self.run_traced(stage.path(), "trace=pwrite64,fsync");
        let calls = fs::read_to_string(stage.path().join("calls")).expect("strace wrote");
        let wanted = match extent {
            FaultExtent::Quick => extent.spread_points(syscall_faults::max_thread_calls(&calls)),
            FaultExtent::Full => extent.points_to_try(syscall_faults::max_thread_calls(&calls)),
        };
        for_each_parallel(&wanted, |&at| {
            let stage = self.prepare_vault();
            let inject = format!("inject=pwrite64,fsync:signal=KILL:when={at}");
            if was_killed(&self.run_traced(stage.path(), &inject)) {
                self.record_findings(
                    stage.path(),
                    "write of the log",
                    &format!("at write {at}"),
                    tally,
                );
            }
        });
    }

    /// Does the deed under strace, which looks at the database's log alone.
    fn run_traced(&self, folder: &Path, what: &str) -> Output {
        let log = child_process::database_path(folder).with_extension("db-wal");
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", what, "-o"]).arg(folder.join("calls")).arg("-P").arg(log);
        let plain = self.command(folder, "act");
        command.arg(plain.get_program()).args(plain.get_args());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.output().expect("strace starts")
    }

    /// Records the damage after the application has started again.
    fn record_findings(&self, folder: &Path, site: &str, run: &str, tally: &FaultTally) {
        let last = site.rsplit(", then ").next().unwrap_or(site);
        tally.record_kill(&format!("{}:{last}", self.scenario.way.name()));
        let run = format!("{} killed {run} {site}", self.scenario.name);
        let found = FolderTree::read_from(&folder.join("vault"));
        tally.record_findings(
            &run,
            &self.case.check_after_kill(site, &found, &self.restart_and_redo(folder)),
        );
    }

    /// The state after the application has started again, the action was done again, and then its
    /// opposite.
    fn restart_and_redo(&self, folder: &Path) -> UndoChildReport {
        self.run_undisturbed(folder, "settle")
    }

    fn run_undisturbed(&self, folder: &Path, what: &str) -> UndoChildReport {
        let ended = self.run_child(folder, what);
        ended.report.unwrap_or_else(|| panic!("{} {what}: {}", self.scenario.name, ended.error))
    }

    fn run_child(&self, folder: &Path, what: &str) -> UndoChildExit {
        let output = self.command(folder, what).output().expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        UndoChildExit { report: parse_last_line(&output), error }
    }

    /// With nothing of the tester's own settings.
    fn command(&self, folder: &Path, what: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["deed", what]).arg(folder).arg(self.scenario.name).env("HOME", folder);
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "VAULTMATE_HUB_URL",
            "VAULTMATE_LOG",
            "DBUS_SESSION_BUS_ADDRESS",
        ] {
            command.env_remove(name);
        }
        command
    }
}

struct UndoChildExit {
    report: Option<UndoChildReport>,
    error: String,
}

fn first_snapshot(said: UndoChildReport) -> UndoSnapshot {
    said.moments.into_iter().next().expect("one moment")
}
