//! Paths as a model may write them: each case has a vault of its own, the real tools and a deadline.

mod attacker;
mod case;
mod checks;
mod fixture;
mod naive_resolver;
mod product_tools;
mod race;
mod runner;
mod setup;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;

use async_trait::async_trait;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;

pub use case::{PathCase, PathCorpus};
pub use naive_resolver::NaiveResolver;
pub use product_tools::ProductTools;

use super::CorpusReport;
use case::PathOperation;
use runner::{CaseProblem, PathOutcome};

/// Resolves the paths: the product's tools, or the control that is expected to leak.
#[async_trait]
pub trait PathResolver: Send + Sync + Sized {
    /// Opens the vault at this folder.
    fn open(vault: &std::path::Path) -> Self;

    /// Whether there is a tool of this name.
    fn has(&self, tool: &str) -> bool;

    /// Calls a tool; a plan is applied at once.
    async fn call(&self, tool: &str, arguments: Value) -> ResolverAnswer;

    /// Why a refusal came by accident instead of from the path check; `None` if it did not.
    /// `to` is where a move with two paths leads.
    fn unrelated_refusal(
        &self,
        op: PathOperation,
        path: &str,
        to: Option<&str>,
        said: &str,
    ) -> Option<String>;
}

/// The answer of a call.
#[derive(Debug, Clone)]
pub struct ResolverAnswer {
    /// The text for the model.
    pub text: String,
    /// Whether it was refused.
    pub is_error: bool,
}

/// The user of the process while the cases run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessSharing {
    /// To this run: its memory is measured and every deadline is the corpus's own.
    Own,
    /// To other tests as well: memory says nothing, and deadlines are five times as long.
    Shared,
}

impl ProcessSharing {
    pub(super) const fn timeout_factor(self) -> u32 {
        match self {
            Self::Own => 1,
            Self::Shared => 5,
        }
    }
}

#[derive(Debug, Default)]
struct PathTally {
    run: usize,
    skipped: usize,
    escapes: usize,
    hangs: usize,
    wrong: usize,
    good: usize,
    positives: usize,
}

/// Runs the cases of `corpus`, or the one that is named.
pub async fn run<S: PathResolver>(
    corpus: &PathCorpus,
    only: Option<&str>,
    process: ProcessSharing,
) -> CorpusReport {
    let (mut tally, mut lines, mut missing) = (PathTally::default(), Vec::new(), BTreeSet::new());
    let wanted = corpus.cases.iter().filter(|case| only.is_none_or(|id| id == case.id));
    let wanted: Vec<&PathCase> = wanted.collect();
    // First what is measured, one after the other; then the races, which only take long.
    let (races, others): (Vec<&PathCase>, _) =
        wanted.iter().partition(|case| case.race().is_some());
    let mut tried = Vec::new();
    for case in others {
        tried.push(match corpus.unknown_variable() {
            Some(word) => (case.id.clone(), Err(CaseProblem::Unknown(word)), BTreeSet::new()),
            None => run_case::<S>(case.clone(), process).await,
        });
    }
    let races = races.into_iter().map(|case| run_case::<S>(case.clone(), process));
    tried.extend(stream::iter(races).buffer_unordered(parallel_cases()).collect::<Vec<_>>().await);
    for case in wanted {
        let Some(at) = tried.iter().position(|(id, ..)| *id == case.id) else { continue };
        let (_, outcome, lacking) = tried.swap_remove(at);
        missing.extend(lacking);
        tally.add(case, outcome, &mut lines);
    }
    if !missing.is_empty() {
        let tools: Vec<_> = missing.into_iter().collect();
        eprintln!("not run, because there is no such tool yet: {}", tools.join(", "));
    }
    let PathTally { run, skipped, escapes, hangs, wrong, good, positives } = tally;
    CorpusReport {
        lines,
        summary: format!(
            "paths run={run} skipped={skipped} escapes={escapes} hangs={hangs} wrong={wrong} \
             positives={good}/{positives}"
        ),
        holds: run > 0 && escapes + hangs + wrong == 0 && good == positives,
    }
}

type PathAttempt = (String, Result<PathOutcome, CaseProblem>, BTreeSet<&'static str>);

/// Runs one case. A case on which the runner itself fails is wrong, and the others go on.
async fn run_case<S: PathResolver>(case: PathCase, process: ProcessSharing) -> PathAttempt {
    let mut lacking = BTreeSet::new();
    let trial = runner::run::<S>(&case, process, &mut lacking);
    let outcome = AssertUnwindSafe(trial).catch_unwind().await;
    let outcome = outcome.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        Ok(PathOutcome::failed(format!("the runner failed: {}", words.unwrap_or_default())))
    });
    (case.id, outcome, lacking)
}

/// Each race has two sides that work; the other halves of the processors overlap.
fn parallel_cases() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get).clamp(1, 4)
}

impl PathTally {
    fn add(
        &mut self,
        case: &PathCase,
        outcome: Result<PathOutcome, CaseProblem>,
        lines: &mut Vec<String>,
    ) {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(CaseProblem::Skip(why)) => {
                self.skipped += 1;
                return lines.push(format!("SKIP {} {why}", case.id));
            }
            Err(CaseProblem::Unknown(word)) => PathOutcome::failed(format!("unknown word: {word}")),
        };
        self.run += 1;
        self.escapes += outcome.escapes;
        self.hangs += outcome.hangs;
        self.wrong += usize::from(outcome.wrong);
        let holds = outcome.complaints.is_empty();
        if case.expect == "allow" {
            self.positives += 1;
            self.good += usize::from(holds);
        }
        if !holds {
            let got = outcome.complaints.join("; ").replace('\n', " ");
            lines.push(format!("FAIL {} {} {got}", case.id, case.expect));
        }
    }
}
