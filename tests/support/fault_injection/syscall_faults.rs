//! Kills before single system calls, and errors from them, with strace's hand in the process.
//!
//! strace counts calls by thread, so calls are selected by their argument: all calls of one group
//! are one thread's.

use std::path::Path;

use protocol::Change;

use super::checks::{Damage, DamageFinding, FaultCase};
use super::folder_tree::FolderTree;
use super::kill_sweep::findings_after_recovery;
use super::runner::PreparedScenario;
use super::tally::FaultTally;
use super::{FaultExtent, for_each_parallel};

/// Calls that are counted together.
#[derive(Debug, Clone)]
struct SyscallGroup {
    /// Their argument: a path below the run's folder, or any.
    path: Option<String>,
    calls: &'static str,
}

/// How often, and from where on, they fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailureDuration {
    Once,
    FromThenOn,
}

/// The system calls of the vault, except for reading, writing and syncing bytes.
const NAME_SYSCALLS: &str = "openat2,renameat2,unlinkat,mkdirat,fchmod,fsetxattr";
/// The calls that change a folder and can be refused.
const FOLDER_CHANGE_SYSCALLS: &str = "renameat2,unlinkat,mkdirat";
const ERRORS: [&str; 5] = ["EIO", "ENOSPC", "EROFS", "EDQUOT", "EINTR"];
const DATABASE: &str = "data/vault.db";
const DATABASE_LOG: &str = "data/vault.db-wal";
/// No scene makes more calls of a group.
const MAX_CALLS_PER_GROUP: usize = 4000;

/// Whether strace is there and may look into processes.
pub(super) fn unavailable() -> Option<String> {
    let tried = std::process::Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "true"])
        .output();
    match tried {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(format!("strace does not start ({error}); install strace")),
    }
}

/// Kills the process before each call that changes anything.
pub(super) fn kills(prepared: &PreparedScenario, extent: FaultExtent, tally: &FaultTally) {
    for group in kill_groups() {
        let total = group.max_calls_per_thread(prepared);
        for_each_parallel(&extent.points_to_try(total), |&at| {
            let stage = prepared.fresh_copy();
            let inject = group.strace_arguments(stage.path(), &format!("signal=KILL:when={at}"));
            let (ended, calls) = prepared.run_child_traced(stage.path(), "act", &inject);
            if !ended.killed {
                return;
            }
            let site = group.last_call(&calls);
            tally.record_kill(&site);
            let run = format!("{} killed before {site} {at}", prepared.scenario.name);
            tally.record_findings(&run, &findings_after_recovery(prepared, stage.path()));
        });
    }
}

/// Lets each call fail once with each error, and then all from one on.
pub(super) fn errors(prepared: &PreparedScenario, extent: FaultExtent, tally: &FaultTally) {
    let mut runs = Vec::new();
    for group in error_groups(prepared, extent) {
        let total = group.max_calls_per_thread(prepared);
        let wanted = if extent == FaultExtent::Quick { &ERRORS[..1] } else { &ERRORS[..] };
        for error in wanted {
            runs.extend(
                extent
                    .points_to_try(total)
                    .into_iter()
                    .map(|at| (group.clone(), *error, at, FailureDuration::Once)),
            );
        }
    }
    let changes = SyscallGroup { path: None, calls: FOLDER_CHANGE_SYSCALLS };
    let total = changes.max_calls_per_thread(prepared);
    for error in ["EROFS", "EIO"] {
        let from = extent.points_to_try(total).into_iter();
        runs.extend(from.map(|at| (changes.clone(), error, at, FailureDuration::FromThenOn)));
    }
    for_each_parallel(&runs, |(group, error, at, failing)| {
        let stage = prepared.fresh_copy();
        let more = if *failing == FailureDuration::FromThenOn { "+" } else { "" };
        let inject =
            group.strace_arguments(stage.path(), &format!("error={error}:when={at}{more}"));
        let (ended, calls) = prepared.run_child_traced(stage.path(), "act", &inject);
        if !calls.contains("INJECTED") {
            return;
        }
        tally.record_error();
        let run = format!(
            "{} {error} from {} {at}{more}",
            prepared.scenario.name,
            group.last_call(&calls)
        );
        let Some(said) = ended.report else {
            tally.record_findings(&run, &[(Damage::Untrue, format!("it broke: {}", ended.error))]);
            return;
        };
        let ledger = prepared.recover(stage.path());
        let found = FolderTree::read_from(&stage.path().join("vault"));
        // A folder that could not be read while the tool planned is not part of the plan.
        let is_planned = |change: &&Change| {
            ledger.is_empty() || ledger.iter().any(|(path, _)| path == change.path.as_str())
        };
        let planned: Vec<Change> = prepared.changes.iter().filter(is_planned).cloned().collect();
        let case = FaultCase { changes: &planned, ..prepared.case() };
        let mut findings = case.check_after_errors(&found, &said, &ledger);
        if calls.lines().any(|line| line.contains("unlinkat") && line.contains("INJECTED")) {
            findings.retain(|finding| !is_unremovable_temp_file(finding));
        }
        tally.record_findings(&run, &findings);
    });
}

/// A change that fails and is reverted, killed at every point of that.
pub(super) fn kills_during_rollback(
    prepared: &PreparedScenario,
    extent: FaultExtent,
    tally: &FaultTally,
) {
    for group in [
        SyscallGroup { path: None, calls: "renameat2" },
        SyscallGroup { path: None, calls: "fsync" },
    ] {
        let total = group.max_calls_per_thread(prepared);
        // The last ones, when most has happened already.
        let failing: Vec<usize> = (total.saturating_sub(2).max(1)..=total).collect();
        for at in failing {
            kill_at_points(prepared, &group, at, extent, tally);
        }
    }
}

fn kill_at_points(
    prepared: &PreparedScenario,
    group: &SyscallGroup,
    at: usize,
    extent: FaultExtent,
    tally: &FaultTally,
) {
    let error = format!("error=EIO:when={at}");
    let stage = prepared.fresh_copy();
    let inject = group.strace_arguments(stage.path(), &error);
    let (ended, calls) = prepared.run_child_traced(stage.path(), "act", &inject);
    let points = ended.report.map_or(0, |said| said.points);
    if !calls.contains("INJECTED") || points == 0 {
        return;
    }
    let points: Vec<usize> = match extent {
        FaultExtent::Full => (1..=points).collect(),
        FaultExtent::Quick => (points.saturating_sub(16).max(1)..=points).step_by(5).collect(),
    };
    for_each_parallel(&points, |&kill| {
        let stage = prepared.fresh_copy();
        let mut inject = group.strace_arguments(stage.path(), &error);
        inject.extend(["-E".to_owned(), format!("KILL_AT={kill}")]);
        let (ended, _) = prepared.run_child_traced(stage.path(), "act", &inject);
        if !ended.killed {
            return;
        }
        tally.record_kill(&format!("reverted:{}", ended.error));
        let run = format!(
            "{} EIO from {} {at}, killed at {kill} {}",
            prepared.scenario.name, group.calls, ended.error
        );
        let mut findings = prepared
            .case()
            .check_before_recovery(&FolderTree::read_from(&stage.path().join("vault")));
        let ledger = prepared.recover(stage.path());
        let found = FolderTree::read_from(&stage.path().join("vault"));
        findings.extend(prepared.case().check_after_errors(&found, &Default::default(), &ledger));
        tally.record_findings(&run, &findings);
    });
}

fn kill_groups() -> Vec<SyscallGroup> {
    let on = |path: &str, calls| SyscallGroup { path: Some(path.to_owned()), calls };
    vec![
        SyscallGroup { path: None, calls: NAME_SYSCALLS },
        SyscallGroup { path: None, calls: "fsync" },
        SyscallGroup { path: None, calls: "unlink,ftruncate" },
        on(DATABASE_LOG, "pwrite64,fsync,ftruncate"),
        on(DATABASE, "pwrite64,fsync,ftruncate"),
    ]
}

fn error_groups(prepared: &PreparedScenario, extent: FaultExtent) -> Vec<SyscallGroup> {
    let on = |path: &str, calls| SyscallGroup { path: Some(path.to_owned()), calls };
    let mut groups = vec![
        SyscallGroup { path: None, calls: NAME_SYSCALLS },
        on("vault", "fsync"),
        on("vault/.trash", "fsync"),
        on(DATABASE_LOG, "pwrite64,fsync"),
    ];
    let mut folders: Vec<_> =
        prepared.changes.iter().filter_map(|change| change.path.folder()).collect();
    folders.sort_unstable();
    folders.dedup();
    let folders = folders.into_iter().take(if extent == FaultExtent::Quick { 1 } else { 4 });
    groups.extend(folders.map(|folder| on(&format!("vault/{folder}"), "fsync")));
    let temps = prepared.temp_files();
    let few = temps.len().div_ceil(if extent == FaultExtent::Quick { 1 } else { 4 }).max(1);
    groups
        .extend(temps.iter().step_by(few).map(|temp| on(&format!("vault/{temp}"), "write,fsync")));
    groups
}

impl SyscallGroup {
    fn strace_arguments(&self, folder: &Path, how: &str) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(on) = &self.path {
            words.extend(["-P".to_owned(), folder.join(on).to_string_lossy().into_owned()]);
        }
        words.extend(["-e".to_owned(), format!("trace={}", self.calls)]);
        if !how.is_empty() {
            words.extend(["-e".to_owned(), format!("inject={}:{how}", self.calls)]);
        }
        words
    }

    /// How many such calls the busiest thread makes.
    fn max_calls_per_thread(&self, prepared: &PreparedScenario) -> usize {
        let stage = prepared.fresh_copy();
        let (_, calls) = prepared.run_child_traced(
            stage.path(),
            "act",
            &self.strace_arguments(stage.path(), ""),
        );
        max_thread_calls(&calls).min(MAX_CALLS_PER_GROUP)
    }

    /// The last call that was begun, and what it was about.
    fn last_call(&self, calls: &str) -> String {
        let called = calls.lines().rev().find_map(|line| {
            let (name, _) = line.split_once(' ')?.1.trim_start().split_once('(')?;
            self.calls.split(',').any(|call| call == name).then(|| name.to_owned())
        });
        let about = match self.path.as_deref() {
            Some(DATABASE_LOG) => "log:",
            Some(DATABASE) => "database:",
            _ => "",
        };
        format!("call:{about}{}", called.unwrap_or_default())
    }
}

/// How many calls the thread made that made most, by what strace wrote.
pub(super) fn max_thread_calls(calls: &str) -> usize {
    let mut threads = std::collections::BTreeMap::<&str, usize>::new();
    for line in calls.lines().filter(|line| line.contains('(') && !line.contains("resumed")) {
        *threads.entry(line.split(' ').next().unwrap_or_default()).or_default() += 1;
    }
    threads.into_values().max().unwrap_or_default()
}

/// A temporary file whose removal was refused stays: it is hidden, and nothing reads it.
pub(super) fn is_unremovable_temp_file((wrong, what): &DamageFinding) -> bool {
    let name = what.rsplit('/').next().unwrap_or_default();
    *wrong == Damage::Litter && name.starts_with(".vaultmate-") && name.ends_with(".tmp")
}
