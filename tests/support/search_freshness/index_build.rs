//! What can be asked while the index is being built, and within what time.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::query_client::QueryProcess;
use super::timings::Timings;

/// What was asked while the index was being built.
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

/// A question whose answer is known: the door, the words, and what has to be in the answer.
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
        for (door, words, expected) in known {
            let state = asked.ask("state", "");
            let [done, all] = state.as_slice() else { return (asked, seen) };
            seen.progress.push(done.parse().expect("a number"));
            seen.all = seen.all.max(all.parse().expect("a number"));
            let began = Instant::now();
            let answer = asked.ask(door, words);
            seen.answers.entry(door).or_default().add(began.elapsed());
            if !answer.iter().any(|one| one.contains(expected)) {
                seen.complaints.push(format!("{door} {words}: {answer:?}"));
            }
        }
    }
}
