//! Queries while the index is being built, and their times.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::query_client::QueryProcess;
use super::timings::Timings;

/// The queries while the index was being built.
#[derive(Debug, Default)]
pub struct IndexBuildReport {
    /// The times until the answers, by what was asked for.
    pub answers: BTreeMap<&'static str, Timings>,
    /// How many files were told to be looked at, in the order of the answers.
    pub progress: Vec<usize>,
    /// How many files there were told to be, at the most.
    pub all: usize,
    /// Answers that were not what is there.
    pub complaints: Vec<String>,
}

/// A question whose answer is known: the kind, the words, and a part of the answer.
pub type KnownQuestion<'a> = (&'static str, &'a str, &'a str);

/// Opens `notes` over a data folder without an index and asks everything in turn until it stands.
pub fn query_during_build(
    program: &Path,
    data: &Path,
    notes: &Path,
    known: &[KnownQuestion<'_>],
) -> (QueryProcess, IndexBuildReport) {
    let mut asked = QueryProcess::start(program, data, notes);
    let mut seen = IndexBuildReport::default();
    loop {
        for (kind, words, expected) in known {
            let state = asked.ask("state", "");
            let [done, all] = state.as_slice() else { return (asked, seen) };
            seen.progress.push(done.parse().expect("a number"));
            seen.all = seen.all.max(all.parse().expect("a number"));
            let began = Instant::now();
            let answer = asked.ask(kind, words);
            seen.answers.entry(kind).or_default().add(began.elapsed());
            if !answer.iter().any(|one| one.contains(expected)) {
                seen.complaints.push(format!("{kind} {words}: {answer:?}"));
            }
        }
    }
}
