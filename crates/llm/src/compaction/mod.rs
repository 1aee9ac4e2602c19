//! Makes room in a long conversation: its oldest exchanges are put together, and a model is told that
//! in their place.
//!
//! [`plan`] says which exchanges, and writes each as one line that keeps paths, ids and questions
//! ([`record`]). Where those lines leave the exchanges too long still, a model sums them up
//! ([`asking`]); paths, ids and questions stand behind its words, whatever it says. The rows stay
//! as they are, and what comes to nothing changes nothing.

mod asking;
mod job;
mod plan;
mod record;
#[cfg(test)]
mod tests;

pub(crate) use asking::{hear, in_one_line, retold};
pub(crate) use job::{Job, Made, When};
pub(crate) use plan::Spared;

/// So many of the newest exchanges are always heard as they were.
pub(crate) const LEAST_KEPT: usize = 6;

/// When a conversation rests, room is made from this part of the budget on, in percent.
pub(crate) const AT_REST: u32 = 70;

/// The same before a request.
pub(crate) const BEFORE_A_REQUEST: u32 = 80;

/// With no more than this part of the budget taken, no model needs to sum up, in percent.
const ENOUGH: u32 = 50;

/// A summary has so many tokens at most.
const LONGEST_SUMMARY: u32 = 2_000;

/// What is kept word for word beside a summary takes this part of the budget at most.
const FACTS: u32 = 8;
