//! The plug pulled, and the disk made to fail, at every step of every change.
//!
//! A child process carries out one order over the real vault and the real database, and dies or
//! meets an error on its way; another one puts things right; then the folder is held against what
//! the ledger says. `./dev faults` runs it.

mod checks;
mod child_process;
mod disk_faults;
pub mod fault_points;
mod folder_tree;
mod kill_sweep;
mod power_cuts;
mod runner;
mod scenarios;
mod syscall_faults;
mod tally;
mod undo_kills;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

pub use child_process::run as child;
pub use power_cuts::PowerCutDisk;
pub use undo_kills::child as deed;

use runner::PreparedScenario;
use scenarios::all_scenarios;
use tally::FaultTally;

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultExtent {
    /// A sample, in well under a minute.
    Quick,
    /// Everything.
    Full,
}

impl FaultExtent {
    /// Which of so many points are tried.
    fn points_to_try(self, points: usize) -> Vec<usize> {
        let stride = match self {
            Self::Quick => (points / 6).max(1),
            // Of the longest, whose steps repeat, every fifth: that hits each kind of step.
            Self::Full if points > 1000 => 5,
            Self::Full => 1,
        };
        (1..=points).step_by(stride).collect()
    }

    /// A few of so many points, spread over them.
    fn spread_points(self, points: usize) -> Vec<usize> {
        let count = if self == Self::Quick { 2 } else { 8 };
        (1..=count).map(|part| 1 + part * (points - 1) / (count + 1)).collect()
    }
}

/// Runs all classes, or those with the word `only` in their names, with `program`, which is the
/// binary itself; says whether all holds.
#[must_use]
pub fn run(extent: FaultExtent, only: Option<&str>, program: &Path) -> bool {
    let tally = FaultTally::new(only);
    run_class("kills of undo and redo", &tally, || undo_kills::kills(program, extent, &tally));
    let prepared: Vec<_> =
        all_scenarios().into_iter().map(|scene| PreparedScenario::new(scene, program)).collect();
    run_class("kills at named points", &tally, || {
        for prepared in &prepared {
            kill_sweep::kill_during_change(prepared, extent, &tally);
            println!("  {}: points={}", prepared.scenario.name, prepared.points);
        }
    });
    run_class("kills of a recovery", &tally, || {
        let small = prepared.iter().filter(|prepared| prepared.points < 200);
        // The edits differ in what they plan, not in how it is carried out.
        let skipped = if extent == FaultExtent::Quick { 6 } else { 0 };
        for prepared in small.skip(skipped) {
            kill_sweep::kill_during_recovery(prepared, extent, &tally);
        }
    });
    match syscall_faults::unavailable() {
        Some(why) => tally.record_skip("kills and errors at single calls", &why),
        None => run_syscall_faults(&prepared, extent, &tally),
    }
    run_disk_faults(&prepared, extent, &tally);
    let mixed = |prepared: &&PreparedScenario| prepared.scenario.name == "all at once";
    kill_sweep::run_controls(prepared.iter().find(mixed).expect("a mixed scene"), extent, &tally);
    tally.print_summary()
}

fn run_syscall_faults(prepared: &[PreparedScenario], extent: FaultExtent, tally: &FaultTally) {
    let small = || prepared.iter().filter(|prepared| prepared.points < 200);
    let acts = || small().filter(|prepared| !prepared.scenario.name.starts_with("edit"));
    let few = if extent == FaultExtent::Quick { 6 } else { 0 };
    run_class("kills at single calls", tally, || {
        for prepared in acts().skip(few) {
            syscall_faults::kills(prepared, extent, tally);
        }
    });
    run_class("kills while a change is reverted", tally, || {
        for prepared in acts().filter(|prepared| prepared.case().is_atomic) {
            syscall_faults::kills_during_rollback(prepared, extent, tally);
        }
    });
    run_class("errors from single calls", tally, || {
        for prepared in acts().skip(few) {
            syscall_faults::errors(prepared, extent, tally);
        }
    });
}

fn run_disk_faults(prepared: &[PreparedScenario], extent: FaultExtent, tally: &FaultTally) {
    let named = |name: &str| {
        prepared
            .iter()
            .find(|prepared| prepared.scenario.name == name)
            .expect("a scene of this name")
    };
    let (sixty, links) = (named("sixty notes"), named("two hundred links"));
    if let Some(why) = disk_faults::unavailable() {
        for class in ["a full disk", "a disk that becomes read-only", "power cuts"] {
            tally.record_skip(class, &why);
        }
    } else {
        run_class("a full disk", tally, || {
            let all = [named("create"), named("several moves"), sixty, links];
            // The largest takes longest and shows the same as the one before it.
            for prepared in &all[..if extent == FaultExtent::Quick { 3 } else { 4 }] {
                disk_faults::disk_full(prepared, extent, tally);
            }
        });
        run_class("a disk that becomes read-only", tally, || {
            for prepared in [named("all at once"), named("several moves")] {
                disk_faults::read_only(prepared, extent, tally);
            }
        });
        let kinds = if extent == FaultExtent::Quick {
            &power_cuts::FILE_SYSTEMS[..1]
        } else {
            &power_cuts::FILE_SYSTEMS[..]
        };
        for kind in kinds {
            run_class(&format!("power cuts on {kind}"), tally, || {
                for prepared in [named("several moves"), sixty] {
                    if let Err(why) = run_power_cuts(prepared, kind, extent, tally) {
                        tally.record_skip(&format!("power cuts on {kind}"), &why);
                    }
                }
            });
        }
    }
    if !rustix::process::geteuid().is_root() {
        tally.record_skip("no rights", "only root can become another user; run it as root");
        return;
    }
    run_class("no rights", tally, || {
        for prepared in [named("append"), named("several moves"), named("all at once"), sixty] {
            disk_faults::no_permission(prepared, tally);
        }
    });
}

fn run_power_cuts(
    prepared: &PreparedScenario,
    kind: &'static str,
    extent: FaultExtent,
    tally: &FaultTally,
) -> Result<(), String> {
    let disk = power_cuts::LoopDisk::new(prepared, kind)?;
    power_cuts::cut_at_points(prepared, &disk, extent, tally)?;
    match syscall_faults::unavailable() {
        Some(_) => Ok(()),
        None => power_cuts::run_control(prepared, &disk, tally),
    }
}

/// One class of faults, with a line of its own.
fn run_class(name: &str, tally: &FaultTally, work: impl FnOnce()) {
    if !tally.wants(name) {
        return;
    }
    let (before, began) = (tally.kill_and_error_counts(), Instant::now());
    work();
    let after = tally.kill_and_error_counts();
    println!(
        "{name}: kills={} errors={} seconds={}",
        after.0 - before.0,
        after.1 - before.1,
        began.elapsed().as_secs()
    );
}

/// Does `work` for each item, on two threads.
fn for_each_parallel<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::SeqCst)) {
            work(item);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(worker);
        }
    });
}
