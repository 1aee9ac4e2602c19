//! Corpora: files of hostile cases that anybody may add to, run against the real thing.

mod cpu_load;
pub mod hostile_paths;
pub mod hub_frames;
pub mod memory_growth;
pub mod model_tasks;
pub mod note_scaling;
pub mod prompt_injection;
pub mod sse;

/// The result of a run.
#[derive(Debug)]
pub struct CorpusReport {
    /// `FAIL …` and `SKIP …`, one a case.
    pub lines: Vec<String>,
    /// The numbers, in one line.
    pub summary: String,
    /// Whether every case that ran holds.
    pub holds: bool,
}
