//! Makes room in a long conversation: its oldest exchanges are put together, and a model is told that
//! in their place.
//!
//! [`plan`] says which exchanges, and writes each as one line that keeps paths, ids and questions
//! ([`outline`]). Where those lines leave the exchanges too long still, a model sums them up
//! ([`summary_request`]); paths, ids and questions stand behind its words, whatever it says. The rows stay
//! as they are, and what comes to nothing changes nothing.

mod job;
mod outline;
mod plan;
mod summary_request;
#[cfg(test)]
mod tests;

pub(crate) use job::{CompactionJob, CompactionResult, SummaryTrigger};
pub(crate) use plan::KeptTurns;
pub(crate) use summary_request::{collect_answer, excerpt_within, in_one_line};

/// So many of the newest exchanges are always heard as they were.
pub(crate) const MIN_KEPT_EXCHANGES: usize = 6;

/// When a conversation rests, room is made from this part of the budget on, in percent.
pub(crate) const IDLE_THRESHOLD_PERCENT: u32 = 70;

/// The same before a request.
pub(crate) const REQUEST_THRESHOLD_PERCENT: u32 = 80;

/// With no more than this part of the budget taken, no model needs to sum up, in percent.
const SUMMARY_THRESHOLD_PERCENT: u32 = 50;

/// A summary has so many tokens at most.
const MAX_SUMMARY_TOKENS: u32 = 2_000;

/// What is kept word for word beside a summary takes this part of the budget at most.
const FACTS_SHARE: u32 = 8;
