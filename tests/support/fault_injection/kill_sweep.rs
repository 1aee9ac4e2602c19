//! Kills at every named point: of a change, of its revert, and of the recovery after it.

use super::checks::{Damage, DamageFinding};
use super::folder_tree::FolderTree;
use super::runner::PreparedScenario;
use super::tally::FaultTally;
use super::{FaultExtent, for_each_parallel};

/// Kills a process at every point of the scene, and puts things right.
pub(super) fn kill_during_change(
    prepared: &PreparedScenario,
    extent: FaultExtent,
    tally: &FaultTally,
) {
    let points: Vec<usize> = extent.points_to_try(prepared.points);
    for_each_parallel(&points, |&at| {
        let stage = prepared.fresh_copy();
        let site = run_killed(prepared, stage.path(), "act", at, tally);
        let run = format!("{} killed at {at} {site}", prepared.scenario.name);
        tally.record_findings(&run, &findings_after_recovery(prepared, stage.path()));
    });
}

/// Kills the process, then the one that puts things right, at each of its points.
pub(super) fn kill_during_recovery(
    prepared: &PreparedScenario,
    extent: FaultExtent,
    tally: &FaultTally,
) {
    for_each_parallel(&extent.spread_points(prepared.points), |&at| {
        for again in 1.. {
            let stage = prepared.fresh_copy();
            let first = prepared.run_child(stage.path(), "act", |command| {
                command.env("KILL_AT", at.to_string());
            });
            assert!(first.killed, "{}", first.error);
            let second = prepared.run_child(stage.path(), "recover", |command| {
                command.env("KILL_AT", again.to_string());
            });
            if !second.killed {
                break;
            }
            tally.record_kill(&format!("recover:{}", second.error));
            let run = format!("{} killed at {at}, then at {again}", prepared.scenario.name);
            tally.record_findings(&run, &findings_after_recovery(prepared, stage.path()));
            if extent == FaultExtent::Quick && again >= 3 {
                break;
            }
        }
    });
}

/// The controls, which must fail: a ledger that keeps nothing, and a start that recovers nothing.
pub(super) fn run_controls(prepared: &PreparedScenario, extent: FaultExtent, tally: &FaultTally) {
    let caught = |what: &str, settle: bool| {
        extent.spread_points(prepared.points).into_iter().any(|at| {
            let stage = prepared.fresh_copy();
            let ended = prepared.run_child(stage.path(), what, |command| {
                command.env("KILL_AT", at.to_string());
            });
            let findings = if settle {
                findings_after_recovery(prepared, stage.path())
            } else {
                let looked = prepared.run_child(stage.path(), "look", |_| ());
                let ledger = looked.report.expect("an answer").ledger;
                prepared
                    .case()
                    .check_after_kill(&FolderTree::read_from(&stage.path().join("vault")), &ledger)
            };
            ended.killed && !findings.is_empty()
        })
    };
    tally.record_control("a ledger that keeps nothing", caught("careless", true));
    tally.record_control("a start without recovery", caught("act", false));
}

fn run_killed(
    prepared: &PreparedScenario,
    folder: &std::path::Path,
    what: &str,
    at: usize,
    tally: &FaultTally,
) -> String {
    let ended = prepared.run_child(folder, what, |command| {
        command.env("KILL_AT", at.to_string());
    });
    assert!(ended.killed, "{} was not killed at {at}: {}", prepared.scenario.name, ended.error);
    tally.record_kill(&ended.error);
    ended.error
}

/// Damage at the moment of the kill, and after recovery, twice.
pub(super) fn findings_after_recovery(
    prepared: &PreparedScenario,
    folder: &std::path::Path,
) -> Vec<DamageFinding> {
    let vault = folder.join("vault");
    let mut findings = prepared.case().check_before_recovery(&FolderTree::read_from(&vault));
    let ledger = prepared.recover(folder);
    let found = FolderTree::read_from(&vault);
    findings.extend(prepared.case().check_after_kill(&found, &ledger));
    if prepared.recover(folder) != ledger || FolderTree::read_from(&vault) != found {
        findings.push((Damage::Doubled, "a second recovery does more".to_owned()));
    }
    findings
}
