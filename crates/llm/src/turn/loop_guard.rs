//! Keeps a turn from calling without end.

use std::collections::BTreeMap;

use crate::context::model_texts;
use crate::model::ToolCall;

/// How often the same failing call with the same arguments runs.
const MAX_SAME_FAILURES: u32 = 2;

/// Counts the calls that ran and those that failed alike.
#[derive(Debug)]
pub(super) struct LoopGuard {
    limit: u32,
    ran: u32,
    failed: BTreeMap<(String, String), u32>,
}

impl LoopGuard {
    /// For a turn in which `ran` calls ran before it was cut.
    pub(super) const fn new(limit: u32, ran: u32) -> Self {
        Self { limit, ran, failed: BTreeMap::new() }
    }

    /// Counts a call that is about to run, or says why it shall not.
    pub(super) fn admit(&mut self, call: &ToolCall) -> Result<(), &'static str> {
        if self.is_used_up() {
            return Err(model_texts::TOO_MANY_CALLS);
        }
        if self.failed.get(&key(call)).is_some_and(|times| *times >= MAX_SAME_FAILURES) {
            return Err(model_texts::TWICE_FAILED);
        }
        self.ran += 1;
        Ok(())
    }

    /// Takes in how a call went. A success clears its record.
    pub(super) fn learn(&mut self, call: &ToolCall, is_error: bool) {
        if is_error {
            *self.failed.entry(key(call)).or_default() += 1;
        } else {
            self.failed.remove(&key(call));
        }
    }

    pub(super) const fn is_used_up(&self) -> bool {
        self.ran >= self.limit
    }

    pub(super) const fn ran(&self) -> u32 {
        self.ran
    }
}

fn key(call: &ToolCall) -> (String, String) {
    (call.tool.clone(), call.arguments.to_string())
}
