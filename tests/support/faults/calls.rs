//! Kills before single system calls, and errors from them, with strace's hand in the process.
//!
//! strace counts calls by thread, so calls are picked by what they are about: all calls of one
//! group are one thread's.

use std::path::Path;

use protocol::Change;

use super::stage::Prepared;
use super::sweep::settled;
use super::tally::Tally;
use super::tree::Tree;
use super::verdict::{Case, Finding, Wrong};
use super::{Extent, each};

/// Calls that are counted together.
#[derive(Debug, Clone)]
struct Group {
    /// What they are about: a path below the run's folder, or anything.
    on: Option<String>,
    calls: &'static str,
}

/// How often, and from where on, they fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failing {
    Once,
    FromThenOn,
}

/// What the vault asks of the system, but for reading, writing and syncing bytes.
const NAMES: &str = "openat2,renameat2,unlinkat,mkdirat,fchmod,fsetxattr";
/// What changes a folder and can be refused.
const CHANGES: &str = "renameat2,unlinkat,mkdirat";
const ERRORS: [&str; 5] = ["EIO", "ENOSPC", "EROFS", "EDQUOT", "EINTR"];
const DATABASE: &str = "data/vault.db";
const LOG: &str = "data/vault.db-wal";
/// No scene makes more calls of a group.
const ENOUGH: usize = 4000;

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
pub(super) fn kills(prepared: &Prepared, extent: Extent, tally: &Tally) {
    for group in groups_of_kills() {
        let total = group.count(prepared);
        each(&extent.of(total), |&at| {
            let stage = prepared.stage();
            let inject = group.inject(stage.path(), &format!("signal=KILL:when={at}"));
            let (ended, calls) = prepared.traced(stage.path(), "act", &inject);
            if !ended.killed {
                return;
            }
            let site = group.site(&calls);
            tally.kill(&site);
            let run = format!("{} killed before {site} {at}", prepared.scene.name);
            tally.found(&run, &settled(prepared, stage.path()));
        });
    }
}

/// Lets each call fail once with each error, and then all from one on.
pub(super) fn errors(prepared: &Prepared, extent: Extent, tally: &Tally) {
    let mut runs = Vec::new();
    for group in groups_of_errors(prepared, extent) {
        let total = group.count(prepared);
        let wanted = if extent == Extent::Quick { &ERRORS[..1] } else { &ERRORS[..] };
        for error in wanted {
            runs.extend(
                extent.of(total).into_iter().map(|at| (group.clone(), *error, at, Failing::Once)),
            );
        }
    }
    let changes = Group { on: None, calls: CHANGES };
    let total = changes.count(prepared);
    for error in ["EROFS", "EIO"] {
        let from = extent.of(total).into_iter();
        runs.extend(from.map(|at| (changes.clone(), error, at, Failing::FromThenOn)));
    }
    each(&runs, |(group, error, at, failing)| {
        let stage = prepared.stage();
        let more = if *failing == Failing::FromThenOn { "+" } else { "" };
        let inject = group.inject(stage.path(), &format!("error={error}:when={at}{more}"));
        let (ended, calls) = prepared.traced(stage.path(), "act", &inject);
        if !calls.contains("INJECTED") {
            return;
        }
        tally.error();
        let run = format!("{} {error} from {} {at}{more}", prepared.scene.name, group.site(&calls));
        let Some(said) = ended.said else {
            tally.found(&run, &[(Wrong::Untrue, format!("it broke: {}", ended.error))]);
            return;
        };
        let ledger = prepared.recovered(stage.path());
        let found = Tree::at(&stage.path().join("vault"));
        // A folder that could not be read while the tool planned is not part of the plan.
        let is_planned = |change: &&Change| {
            ledger.is_empty() || ledger.iter().any(|(path, _)| path == change.path.as_str())
        };
        let planned: Vec<Change> = prepared.changes.iter().filter(is_planned).cloned().collect();
        let case = Case { changes: &planned, ..prepared.case() };
        let mut findings = case.after_errors(&found, &said, &ledger);
        if calls.lines().any(|line| line.contains("unlinkat") && line.contains("INJECTED")) {
            findings.retain(|finding| !is_kept_temp(finding));
        }
        tally.found(&run, &findings);
    });
}

/// A change that fails and is taken back, killed at every point of that.
pub(super) fn kills_while_taken_back(prepared: &Prepared, extent: Extent, tally: &Tally) {
    for group in [Group { on: None, calls: "renameat2" }, Group { on: None, calls: "fsync" }] {
        let total = group.count(prepared);
        // The last ones, when most has happened already.
        let failing: Vec<usize> = (total.saturating_sub(2).max(1)..=total).collect();
        for at in failing {
            killed_points(prepared, &group, at, extent, tally);
        }
    }
}

fn killed_points(prepared: &Prepared, group: &Group, at: usize, extent: Extent, tally: &Tally) {
    let error = format!("error=EIO:when={at}");
    let stage = prepared.stage();
    let inject = group.inject(stage.path(), &error);
    let (ended, calls) = prepared.traced(stage.path(), "act", &inject);
    let points = ended.said.map_or(0, |said| said.points);
    if !calls.contains("INJECTED") || points == 0 {
        return;
    }
    let points: Vec<usize> = match extent {
        Extent::Full => (1..=points).collect(),
        Extent::Quick => (points.saturating_sub(16).max(1)..=points).step_by(5).collect(),
    };
    each(&points, |&kill| {
        let stage = prepared.stage();
        let mut inject = group.inject(stage.path(), &error);
        inject.extend(["-E".to_owned(), format!("KILL_AT={kill}")]);
        let (ended, _) = prepared.traced(stage.path(), "act", &inject);
        if !ended.killed {
            return;
        }
        tally.kill(&format!("taken back:{}", ended.error));
        let run = format!(
            "{} EIO from {} {at}, killed at {kill} {}",
            prepared.scene.name, group.calls, ended.error
        );
        let mut findings = prepared.case().in_the_moment(&Tree::at(&stage.path().join("vault")));
        let ledger = prepared.recovered(stage.path());
        let found = Tree::at(&stage.path().join("vault"));
        findings.extend(prepared.case().after_errors(&found, &Default::default(), &ledger));
        tally.found(&run, &findings);
    });
}

fn groups_of_kills() -> Vec<Group> {
    let on = |path: &str, calls| Group { on: Some(path.to_owned()), calls };
    vec![
        Group { on: None, calls: NAMES },
        Group { on: None, calls: "fsync" },
        Group { on: None, calls: "unlink,ftruncate" },
        on(LOG, "pwrite64,fsync,ftruncate"),
        on(DATABASE, "pwrite64,fsync,ftruncate"),
    ]
}

fn groups_of_errors(prepared: &Prepared, extent: Extent) -> Vec<Group> {
    let on = |path: &str, calls| Group { on: Some(path.to_owned()), calls };
    let mut groups = vec![
        Group { on: None, calls: NAMES },
        on("vault", "fsync"),
        on("vault/.trash", "fsync"),
        on(LOG, "pwrite64,fsync"),
    ];
    let mut folders: Vec<_> =
        prepared.changes.iter().filter_map(|change| change.path.folder()).collect();
    folders.sort_unstable();
    folders.dedup();
    let folders = folders.into_iter().take(if extent == Extent::Quick { 1 } else { 4 });
    groups.extend(folders.map(|folder| on(&format!("vault/{folder}"), "fsync")));
    let temps = prepared.temps();
    let few = temps.len().div_ceil(if extent == Extent::Quick { 1 } else { 4 }).max(1);
    groups
        .extend(temps.iter().step_by(few).map(|temp| on(&format!("vault/{temp}"), "write,fsync")));
    groups
}

impl Group {
    fn inject(&self, folder: &Path, how: &str) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(on) = &self.on {
            words.extend(["-P".to_owned(), folder.join(on).to_string_lossy().into_owned()]);
        }
        words.extend(["-e".to_owned(), format!("trace={}", self.calls)]);
        if !how.is_empty() {
            words.extend(["-e".to_owned(), format!("inject={}:{how}", self.calls)]);
        }
        words
    }

    /// How many such calls the busiest thread makes.
    fn count(&self, prepared: &Prepared) -> usize {
        let stage = prepared.stage();
        let (_, calls) = prepared.traced(stage.path(), "act", &self.inject(stage.path(), ""));
        busiest(&calls).min(ENOUGH)
    }

    /// The last call that was begun, and what it was about.
    fn site(&self, calls: &str) -> String {
        let called = calls.lines().rev().find_map(|line| {
            let (name, _) = line.split_once(' ')?.1.trim_start().split_once('(')?;
            self.calls.split(',').any(|call| call == name).then(|| name.to_owned())
        });
        let about = match self.on.as_deref() {
            Some(LOG) => "log:",
            Some(DATABASE) => "database:",
            _ => "",
        };
        format!("call:{about}{}", called.unwrap_or_default())
    }
}

/// How many calls the thread made that made most, by what strace wrote.
pub(super) fn busiest(calls: &str) -> usize {
    let mut threads = std::collections::BTreeMap::<&str, usize>::new();
    for line in calls.lines().filter(|line| line.contains('(') && !line.contains("resumed")) {
        *threads.entry(line.split(' ').next().unwrap_or_default()).or_default() += 1;
    }
    threads.into_values().max().unwrap_or_default()
}

/// A temporary file whose removal was refused stays: it is hidden, and nothing reads it.
pub(super) fn is_kept_temp((wrong, what): &Finding) -> bool {
    let name = what.rsplit('/').next().unwrap_or_default();
    *wrong == Wrong::Litter && name.starts_with(".vaultmate-") && name.ends_with(".tmp")
}
