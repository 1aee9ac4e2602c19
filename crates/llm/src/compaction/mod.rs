//! Makes room in a long conversation: its oldest exchanges are replaced by a shorter text for the model.
//!
//! It runs at rest from 70% of the budget on, and before a request from 80%. [`plan`] chooses the exchanges and writes each
//! as one line that keeps paths, ids and questions ([`outline`]). If the history still takes more than half of the budget,
//! a model summarizes the oldest of them that it has room for ([`summary_request`]); paths, ids and questions follow its
//! text, whatever it says, and a line for each exchange that it was not shown. The six newest exchanges, the open turn and an open question stay. Rows are not changed, and a summary that fails, is empty or is
//! not shorter has no effect. At rest the work is given up as soon as a message arrives.

mod counted_request;
mod job;
mod outline;
mod plan;
mod summary_request;
#[cfg(test)]
mod tests;

pub(crate) use counted_request::CountedRequest;
pub(crate) use job::{CompactionJob, CompactionResult, SummaryTrigger};
pub(crate) use plan::KeptTurns;
pub(crate) use summary_request::{excerpt_within, in_one_line};

/// The number of newest exchanges that are always sent as they were.
pub(crate) const MIN_KEPT_EXCHANGES: usize = 6;

/// When a conversation rests, room is made from this part of the budget on, in percent.
pub(crate) const IDLE_THRESHOLD_PERCENT: u32 = 70;

/// The same before a request.
pub(crate) const REQUEST_THRESHOLD_PERCENT: u32 = 80;

/// While no more than this part of the budget is taken, no summary of a model is needed, in
/// percent.
const SUMMARY_THRESHOLD_PERCENT: u32 = 50;

/// The tokens that a summary has at most.
const MAX_SUMMARY_TOKENS: u32 = 2_000;

/// The facts that are kept word for word beside a summary take this part of the budget at most.
const FACTS_SHARE: u32 = 8;
