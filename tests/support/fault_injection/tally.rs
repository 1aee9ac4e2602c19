//! The totals of all runs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

use super::checks::{Damage, DamageFinding};

/// Counts over all runs; shared by the threads that run them.
#[derive(Debug, Default)]
pub(super) struct FaultTally {
    only: Option<String>,
    counts: Mutex<FaultCounts>,
}

#[derive(Debug, Default, Clone)]
struct FaultCounts {
    kills: usize,
    errors: usize,
    sites: BTreeMap<String, usize>,
    wrong: BTreeMap<Damage, usize>,
    controls: (usize, usize),
    skipped: Vec<String>,
}

impl FaultTally {
    /// Nothing yet; only classes with this word in their name are wanted.
    pub(super) fn new(only: Option<&str>) -> Self {
        Self { only: only.map(str::to_owned), counts: Mutex::default() }
    }

    /// Whether a class is to be run.
    pub(super) fn wants(&self, class: &str) -> bool {
        self.only.as_ref().is_none_or(|only| class.contains(only.as_str()))
    }

    /// A process was killed at `site`.
    pub(super) fn record_kill(&self, site: &str) {
        self.with(|counts| {
            counts.kills += 1;
            *counts.sites.entry(site.to_owned()).or_default() += 1;
        });
    }

    /// A process met an error.
    pub(super) fn record_error(&self) {
        self.with(|counts| counts.errors += 1);
    }

    /// Records the damage after `run`; printed at once.
    pub(super) fn record_findings(&self, run: &str, findings: &[DamageFinding]) {
        for (wrong, what) in findings {
            println!("WRONG {run}: {wrong:?} {what}");
            self.with(|counts| *counts.wrong.entry(*wrong).or_default() += 1);
        }
    }

    /// A control was tried; it must be caught.
    pub(super) fn record_control(&self, name: &str, caught: bool) {
        println!("control {name}: {}", if caught { "caught" } else { "NOT CAUGHT" });
        self.with(|counts| {
            counts.controls.0 += usize::from(caught);
            counts.controls.1 += 1;
        });
    }

    /// The machine does not allow this class.
    pub(super) fn record_skip(&self, class: &str, why: &str) {
        println!("skipped: {class}: {why}");
        self.with(|counts| counts.skipped.push(class.to_owned()));
    }

    /// How many kills and errors there were so far.
    pub(super) fn kill_and_error_counts(&self) -> (usize, usize) {
        self.with(|counts| (counts.kills, counts.errors))
    }

    /// Prints where processes were killed, and the last line; says whether all holds.
    pub(super) fn print_summary(&self) -> bool {
        let counts = self.with(|counts| counts.clone());
        for (site, kills) in &counts.sites {
            println!("site {site} kills={kills}");
        }
        let has_tried = self.has_tried_enough(&counts);
        if !has_tried {
            println!("This run shows nothing: no process was killed.");
        }
        println!("{counts}");
        has_tried && counts.wrong.is_empty() && counts.controls.0 == counts.controls.1
    }

    /// Some classes that can be wanted alone kill no process: their errors count.
    fn has_tried_enough(&self, counts: &FaultCounts) -> bool {
        counts.kills > 0 || (self.only.is_some() && counts.errors > 0)
    }

    fn with<T>(&self, work: impl FnOnce(&mut FaultCounts) -> T) -> T {
        work(&mut self.counts.lock().expect("no thread panicked"))
    }
}

impl fmt::Display for FaultCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |wrong| self.wrong.get(&wrong).copied().unwrap_or_default();
        write!(
            f,
            "kills={} sites={} lost={} doubled={} torn={} litter={} untrue={} errors={} \
             controls={}/{} skipped={}",
            self.kills,
            self.sites.len(),
            of(Damage::Lost),
            of(Damage::Doubled),
            of(Damage::Torn),
            of(Damage::Litter),
            of(Damage::Untrue),
            self.errors,
            self.controls.0,
            self.controls.1,
            self.skipped.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_what_was_recorded_and_each_kind_of_failure_fails_the_run() {
        let tally = FaultTally::new(None);
        tally.record_kill("store.intend.before");
        tally.record_skip("a read-only file system", "no right to mount");
        tally.record_skip("a full disk", "no right to mount");
        tally.record_control("no ledger", true);
        assert!(tally.print_summary(), "skipped classes are told and fail nothing");
        assert_eq!(
            tally.with(|counts| counts.to_string()),
            "kills=1 sites=1 lost=0 doubled=0 torn=0 litter=0 untrue=0 errors=0 controls=1/1 \
             skipped=2"
        );

        let doubled = FaultTally::new(None);
        doubled.record_kill("store.intend.before");
        doubled.record_findings("run 1", &[(Damage::Doubled, "a line stands twice".to_owned())]);
        assert!(!doubled.print_summary());
        assert!(doubled.with(|counts| counts.to_string()).contains(" doubled=1 "));

        let uncaught = FaultTally::new(None);
        uncaught.record_kill("store.intend.before");
        uncaught.record_control("no ledger", false);
        assert!(!uncaught.print_summary());
        assert!(uncaught.with(|counts| counts.to_string()).contains(" controls=0/1 "));
    }

    #[test]
    fn a_run_in_which_nothing_was_killed_does_not_hold() {
        let all = FaultTally::new(None);
        assert!(!all.print_summary());
        all.record_error();
        assert!(!all.print_summary(), "errors alone");
        all.record_kill("store.intend.before");
        assert!(all.print_summary(), "the control");

        let only = FaultTally::new(Some("a full disk"));
        assert!(!only.print_summary());
        only.record_error();
        assert!(only.print_summary(), "a class of errors kills no process");
    }
}
