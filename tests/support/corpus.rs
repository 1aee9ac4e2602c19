//! Corpora: files of hostile cases that anybody may add to, run against the real thing.

pub mod frames;
pub mod injection;
mod load;
mod memory;
pub mod notes;
pub mod paths;
pub mod sse;

/// What a run came to.
#[derive(Debug)]
pub struct Report {
    /// `FAIL …` and `SKIP …`, one a case.
    pub lines: Vec<String>,
    /// The numbers, in one line.
    pub summary: String,
    /// Whether every case that ran holds.
    pub holds: bool,
}
