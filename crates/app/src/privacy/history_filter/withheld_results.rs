//! The text in place of a result that is withheld. Only a call that reads may be repeated: a change would be there twice.

use std::collections::BTreeSet;

use protocol::{CallId, Message, MessagePart, TurnId};

use crate::privacy::withheld_plans::TurnCall;

const WITHHELD_RESULT: &str = "This result held notes that are private now, so it is withheld. Call the tool \
                      again for what may be seen.";

/// The same for a call that did more than read. Made again, a change would be there twice.
const WITHHELD_OUTCOME: &str = "This result is withheld: it may tell of notes that are private now. The call is \
                      done, and what it changed stays. Don’t make it again.";

const WITHHELD_FAILURE: &str =
    "This call failed, and the reason is withheld: it may tell of notes that are private now.";

/// Words the results that are withheld from these messages.
pub(super) struct WithheldResults {
    /// The calls that only read.
    repeatable: BTreeSet<TurnCall>,
}

impl WithheldResults {
    /// For the calls in these messages.
    pub(super) fn of_calls(rows: &[Message]) -> Self {
        let of = |row: &Message, part: &MessagePart| match part {
            MessagePart::Call { id, tool, .. } if tools::catalog::is_repeatable(tool) => {
                Some((row.turn.clone(), id.clone()))
            }
            _ => None,
        };
        let calls = rows.iter().flat_map(|row| row.parts.iter().filter_map(|part| of(row, part)));
        Self { repeatable: calls.collect() }
    }

    /// The text for the result of a call.
    pub(super) fn text(&self, turn: &TurnId, call: &CallId, is_error: bool) -> &'static str {
        match self.repeatable.contains(&(turn.clone(), call.clone())) {
            true => WITHHELD_RESULT,
            false if is_error => WITHHELD_FAILURE,
            false => WITHHELD_OUTCOME,
        }
    }
}
