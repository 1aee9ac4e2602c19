//! Thirty tasks over the sample vault that a model works on with the real application, judged by
//! the end state: the files, the pending changes and the answer.
//!
//! `./dev bench tasks` runs them against any provider. The tests run them against a scripted model
//! that makes the calls of each task's `script`.

mod end_state;
mod script;
mod session;
mod task;

use std::time::Duration;

use protocol::Settings;

pub use script::start_scripted_model;
pub use session::{TaskOutcome, run_task};
pub use task::{ModelTask, ModelTaskList};

use super::CorpusReport;

/// Runs the tasks of `list` one after the other, each in a vault of its own, and prints a line for
/// each as soon as it has ended. `only` selects the tasks with this text in their id or kind.
///
/// The key of the provider comes from `key`, else from the provider's environment variable.
pub async fn run(
    list: &ModelTaskList,
    settings: &Settings,
    key: Option<&str>,
    only: &str,
) -> CorpusReport {
    let mut tally = TaskTally::default();
    for task in list.tasks.iter().filter(|it| it.id.contains(only) || it.kind.contains(only)) {
        let outcome = run_task(task, settings, key).await;
        let line = outcome_line(task, &outcome);
        println!("{line}");
        tally.add(&outcome, line);
    }
    tally.into_report()
}

#[derive(Debug, Default)]
struct TaskTally {
    run: usize,
    succeeded: usize,
    calls: usize,
    wasted: usize,
    input_tokens: u64,
    output_tokens: u64,
    time: Duration,
    failures: Vec<String>,
}

impl TaskTally {
    fn add(&mut self, outcome: &TaskOutcome, line: String) {
        self.run += 1;
        self.calls += outcome.calls;
        self.wasted += outcome.wasted;
        self.input_tokens += outcome.input_tokens;
        self.output_tokens += outcome.output_tokens;
        self.time += outcome.time;
        match outcome.failures.is_empty() {
            true => self.succeeded += 1,
            false => self.failures.push(line),
        }
    }

    fn into_report(self) -> CorpusReport {
        let Self { run, succeeded, calls, wasted, input_tokens, output_tokens, time, failures } =
            self;
        CorpusReport {
            summary: format!(
                "tasks={run} succeeded={succeeded} calls={calls} wasted={wasted} \
                 input_tokens={input_tokens} output_tokens={output_tokens} seconds={:.1}",
                time.as_secs_f64()
            ),
            holds: run > 0 && succeeded == run,
            lines: failures,
        }
    }
}

fn outcome_line(task: &ModelTask, outcome: &TaskOutcome) -> String {
    let TaskOutcome { calls, wasted, input_tokens, output_tokens, time, failures } = outcome;
    let status = if failures.is_empty() { "ok" } else { "FAIL" };
    let figures = format!(
        "{status:<4} {:<22} {:<10} calls={calls} wasted={wasted} input={input_tokens} \
         output={output_tokens} seconds={:.1}",
        task.id,
        task.kind,
        time.as_secs_f64()
    );
    match failures.is_empty() {
        true => figures,
        false => format!("{figures} {}", failures.join("; ").replace('\n', "\\n")),
    }
}
