//! Makes room in a long conversation: its oldest exchanges are replaced by a shorter text for the model.
//!
//! It runs at rest from 70% of the budget on, and before a request from 80%. [`plan`] chooses the exchanges and writes each
//! as one line that keeps paths, ids and questions ([`outline`]). If the history still takes more than half of the budget,
//! a model summarizes the oldest of them that it has room for ([`summary_request`]); paths, ids and questions follow its
//! text, whatever it says, and a line for each exchange that it was not shown. The six newest exchanges, the open turn and an open question stay. Rows are not changed, and a summary that fails, is empty or is
//! not shorter has no effect. At rest the work is given up as soon as a message arrives.

mod counted_request;
mod job;
mod limits;
mod outline;
mod plan;
mod summary_request;
#[cfg(test)]
mod tests;

pub(crate) use counted_request::CountedRequest;
pub(crate) use job::{CompactionJob, CompactionResult, SummaryTrigger};
pub(crate) use limits::{IDLE_THRESHOLD_PERCENT, MIN_KEPT_EXCHANGES, REQUEST_THRESHOLD_PERCENT};
pub(crate) use plan::KeptTurns;
pub(crate) use summary_request::{excerpt_within, in_one_line};
