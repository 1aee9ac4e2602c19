//! Kills at every named point: of a change, of its taking back, and of the recovery after it.

use super::stage::Prepared;
use super::tally::Tally;
use super::tree::Tree;
use super::verdict::{Finding, Wrong};
use super::{Extent, each};

/// Kills a process at every point of the scene, and puts things right.
pub(super) fn kills(prepared: &Prepared, extent: Extent, tally: &Tally) {
    let points: Vec<usize> = extent.of(prepared.points);
    each(&points, |&at| {
        let stage = prepared.stage();
        let site = killed(prepared, stage.path(), "act", at, tally);
        let run = format!("{} killed at {at} {site}", prepared.scene.name);
        tally.found(&run, &settled(prepared, stage.path()));
    });
}

/// Kills the process, then the one that puts things right, at each of its points.
pub(super) fn kills_of_recovery(prepared: &Prepared, extent: Extent, tally: &Tally) {
    each(&extent.few(prepared.points), |&at| {
        for again in 1.. {
            let stage = prepared.stage();
            let first = prepared.play(stage.path(), "act", |command| {
                command.env("KILL_AT", at.to_string());
            });
            assert!(first.killed, "{}", first.error);
            let second = prepared.play(stage.path(), "recover", |command| {
                command.env("KILL_AT", again.to_string());
            });
            if !second.killed {
                break;
            }
            tally.kill(&format!("recover:{}", second.error));
            let run = format!("{} killed at {at}, then at {again}", prepared.scene.name);
            tally.found(&run, &settled(prepared, stage.path()));
            if extent == Extent::Quick && again >= 3 {
                break;
            }
        }
    });
}

/// What must be found wrong: a ledger that forgets, and a start that puts nothing right.
pub(super) fn controls(prepared: &Prepared, extent: Extent, tally: &Tally) {
    let caught = |what: &str, settle: bool| {
        extent.few(prepared.points).into_iter().any(|at| {
            let stage = prepared.stage();
            let ended = prepared.play(stage.path(), what, |command| {
                command.env("KILL_AT", at.to_string());
            });
            let findings = if settle {
                settled(prepared, stage.path())
            } else {
                let looked = prepared.play(stage.path(), "look", |_| ());
                let ledger = looked.said.expect("an answer").ledger;
                prepared.case().after_kill(&Tree::at(&stage.path().join("vault")), &ledger)
            };
            ended.killed && !findings.is_empty()
        })
    };
    tally.control("a ledger that forgets", caught("careless", true));
    tally.control("a start without recovery", caught("act", false));
}

fn killed(
    prepared: &Prepared,
    folder: &std::path::Path,
    what: &str,
    at: usize,
    tally: &Tally,
) -> String {
    let ended = prepared.play(folder, what, |command| {
        command.env("KILL_AT", at.to_string());
    });
    assert!(ended.killed, "{} was not killed at {at}: {}", prepared.scene.name, ended.error);
    tally.kill(&ended.error);
    ended.error
}

/// What is wrong in the moment, and after things were put right, twice.
pub(super) fn settled(prepared: &Prepared, folder: &std::path::Path) -> Vec<Finding> {
    let vault = folder.join("vault");
    let mut findings = prepared.case().in_the_moment(&Tree::at(&vault));
    let ledger = prepared.recovered(folder);
    let found = Tree::at(&vault);
    findings.extend(prepared.case().after_kill(&found, &ledger));
    if prepared.recovered(folder) != ledger || Tree::at(&vault) != found {
        findings.push((Wrong::Doubled, "a second recovery does more".to_owned()));
    }
    findings
}
