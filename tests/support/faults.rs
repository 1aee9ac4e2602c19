//! The plug pulled, and the disk made to fail, at every step of every change.
//!
//! A child process carries out one order over the real vault and the real database, and dies or
//! meets an error on its way; another one puts things right; then the folder is held against what
//! the ledger says. `./dev faults` runs it.

mod calls;
mod child;
mod disks;
mod power;
mod scene;
mod stage;
mod sweep;
mod taking_back;
mod tally;
mod tree;
mod verdict;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

pub use child::run as child;
pub use taking_back::child as deed;

use scene::scenes;
use stage::Prepared;
use tally::Tally;

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A sample, in well under a minute.
    Quick,
    /// Everything.
    Full,
}

impl Extent {
    /// Which of so many points are tried.
    fn of(self, points: usize) -> Vec<usize> {
        let stride = match self {
            Self::Quick => (points / 6).max(1),
            // Of the longest, whose steps repeat, every fifth: that hits each kind of step.
            Self::Full if points > 1000 => 5,
            Self::Full => 1,
        };
        (1..=points).step_by(stride).collect()
    }

    /// A few of so many points, spread over them.
    fn few(self, points: usize) -> Vec<usize> {
        let count = if self == Self::Quick { 2 } else { 8 };
        (1..=count).map(|part| 1 + part * (points - 1) / (count + 1)).collect()
    }
}

/// Runs all classes, or those with the word `only` in their names, with `program`, which is the
/// binary itself; says whether all holds.
#[must_use]
pub fn run(extent: Extent, only: Option<&str>, program: &Path) -> bool {
    let tally = Tally::new(only);
    class("kills of undo and redo", &tally, || taking_back::kills(program, extent, &tally));
    let prepared: Vec<_> =
        scenes().into_iter().map(|scene| Prepared::new(scene, program)).collect();
    class("kills at named points", &tally, || {
        for prepared in &prepared {
            sweep::kills(prepared, extent, &tally);
            println!("  {}: points={}", prepared.scene.name, prepared.points);
        }
    });
    class("kills of a recovery", &tally, || {
        let small = prepared.iter().filter(|prepared| prepared.points < 200);
        // The edits differ in what they plan, not in how it is carried out.
        let skipped = if extent == Extent::Quick { 6 } else { 0 };
        for prepared in small.skip(skipped) {
            sweep::kills_of_recovery(prepared, extent, &tally);
        }
    });
    match calls::unavailable() {
        Some(why) => tally.skip("kills and errors at single calls", &why),
        None => at_calls(&prepared, extent, &tally),
    }
    on_disks(&prepared, extent, &tally);
    let mixed = |prepared: &&Prepared| prepared.scene.name == "all at once";
    sweep::controls(prepared.iter().find(mixed).expect("a mixed scene"), extent, &tally);
    tally.close()
}

fn at_calls(prepared: &[Prepared], extent: Extent, tally: &Tally) {
    let small = || prepared.iter().filter(|prepared| prepared.points < 200);
    let acts = || small().filter(|prepared| !prepared.scene.name.starts_with("edit"));
    let few = if extent == Extent::Quick { 6 } else { 0 };
    class("kills at single calls", tally, || {
        for prepared in acts().skip(few) {
            calls::kills(prepared, extent, tally);
        }
    });
    class("kills while a change is taken back", tally, || {
        for prepared in acts().filter(|prepared| prepared.case().unit) {
            calls::kills_while_taken_back(prepared, extent, tally);
        }
    });
    class("errors from single calls", tally, || {
        for prepared in acts().skip(few) {
            calls::errors(prepared, extent, tally);
        }
    });
}

fn on_disks(prepared: &[Prepared], extent: Extent, tally: &Tally) {
    let named = |name: &str| {
        prepared.iter().find(|prepared| prepared.scene.name == name).expect("a scene of this name")
    };
    let (sixty, links) = (named("sixty notes"), named("two hundred links"));
    if let Some(why) = disks::unavailable() {
        for class in ["a full disk", "a disk that becomes read-only", "power cuts"] {
            tally.skip(class, &why);
        }
    } else {
        class("a full disk", tally, || {
            let all = [named("create"), named("several moves"), sixty, links];
            // The largest takes longest and shows the same as the one before it.
            for prepared in &all[..if extent == Extent::Quick { 3 } else { 4 }] {
                disks::full(prepared, extent, tally);
            }
        });
        class("a disk that becomes read-only", tally, || {
            for prepared in [named("all at once"), named("several moves")] {
                disks::read_only(prepared, extent, tally);
            }
        });
        let kinds = if extent == Extent::Quick { &power::DISKS[..1] } else { &power::DISKS[..] };
        for kind in kinds {
            class(&format!("power cuts on {kind}"), tally, || {
                for prepared in [named("several moves"), sixty] {
                    if let Err(why) = powerless(prepared, kind, extent, tally) {
                        tally.skip(&format!("power cuts on {kind}"), &why);
                    }
                }
            });
        }
    }
    if !rustix::process::geteuid().is_root() {
        tally.skip("no rights", "only root can become another user; run it as root");
        return;
    }
    class("no rights", tally, || {
        for prepared in [named("append"), named("several moves"), named("all at once"), sixty] {
            disks::no_rights(prepared, tally);
        }
    });
}

fn powerless(
    prepared: &Prepared,
    kind: &'static str,
    extent: Extent,
    tally: &Tally,
) -> Result<(), String> {
    let disk = power::Disk::new(prepared, kind)?;
    power::cuts(prepared, &disk, extent, tally)?;
    match calls::unavailable() {
        Some(_) => Ok(()),
        None => power::control(prepared, &disk, tally),
    }
}

/// One class of faults, with a line of its own.
fn class(name: &str, tally: &Tally, work: impl FnOnce()) {
    if !tally.wants(name) {
        return;
    }
    let (before, began) = (tally.so_far(), Instant::now());
    work();
    let after = tally.so_far();
    println!(
        "{name}: kills={} errors={} seconds={}",
        after.0 - before.0,
        after.1 - before.1,
        began.elapsed().as_secs()
    );
}

/// Does `work` for each item, on two threads.
fn each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
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
