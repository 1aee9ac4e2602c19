//! Our own calls that added a hub message to the inbox note, for a model that may not see that note.
//!
//! They are planned over all notes, whatever the model of their turn may see, and it was told nothing of their outcome. So
//! such a call is no reason to withhold its turn, and nothing is left of it but that it was made.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{CallId, Message, MessagePart, NotePath, Role, TurnId};
use serde_json::{Map, Value};
use tools::plan_outcome::{self, PlanOutcome};

use crate::hub::fallback_capture::capture_call::{
    captured_path, captures_message, is_capture_call, outcome_in_saved_text,
};
use crate::privacy::hidden_names::REDACTED;

/// Stands for the summary of the plan.
const ADDED: &str = "add the message to the inbox note";

const NOT_ADDED: &str = "The message could not be added to the inbox note.";

const SAVED: &str = "Saved to the inbox note.";

const ADDED_FOR_REVIEW: &str = "Added to the inbox note as a change to review.";

/// The messages without what captures tell of hidden notes: names, outcomes and reasons of failures. `hides` knows the
/// hidden notes, and `reveals` the texts that tell of one.
pub(super) fn withhold_captures(
    mut rows: Vec<Message>,
    hides: impl Fn(&NotePath) -> bool,
    reveals: impl Fn(&str) -> bool,
) -> Vec<Message> {
    let captures = Captures::find(&rows, hides);
    for Message { turn, role, parts, .. } in &mut rows {
        for part in parts {
            match part {
                MessagePart::Call { id, arguments, .. } if captures.hides_call(turn, id) => {
                    *arguments = Value::Object(Map::new());
                }
                MessagePart::Result { call, output, is_error, speech }
                    if captures.hides_result(turn, call, output, &reveals) =>
                {
                    *output = withheld_outcome(output, *is_error);
                    *speech = None;
                }
                MessagePart::Text { text } if *role == Role::Assistant => {
                    if let Some(outcome) = captures.outcome_of_hidden(turn, text) {
                        withheld_end(outcome).clone_into(text);
                    }
                }
                _ => {}
            }
        }
    }
    rows
}

/// The calls of ours among some messages.
#[derive(Default)]
struct Captures {
    calls: BTreeMap<(TurnId, CallId), OwnCallKind>,
    /// By turn, the hidden note that a message was added to.
    hidden_notes: BTreeMap<TurnId, NotePath>,
}

/// The purpose of a call of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnCallKind {
    /// It adds a message to a hidden note.
    HiddenNote,
    /// It adds a message to a note that may be heard of.
    OpenNote,
    /// It adds no message.
    Other,
}

impl Captures {
    fn find(rows: &[Message], hides: impl Fn(&NotePath) -> bool) -> Self {
        let redacted = redacted_calls(rows);
        let mut found = Self::default();
        for row in rows {
            for part in &row.parts {
                let MessagePart::Call { id, tool, arguments } = part else { continue };
                if !is_capture_call(id) {
                    continue;
                }
                let kind = match captured_path(arguments) {
                    _ if !captures_message(id, tool) => OwnCallKind::Other,
                    Some(note) if !redacted.contains(&(&row.turn, id)) && !hides(&note) => {
                        OwnCallKind::OpenNote
                    }
                    note => {
                        let notes = note.map(|note| (row.turn.clone(), note));
                        found.hidden_notes.extend(notes);
                        OwnCallKind::HiddenNote
                    }
                };
                found.calls.insert((row.turn.clone(), id.clone()), kind);
            }
        }
        found
    }

    fn hides_call(&self, turn: &TurnId, call: &CallId) -> bool {
        is_capture_call(call) && self.kind(turn, call) == Some(OwnCallKind::HiddenNote)
    }

    fn hides_result(
        &self,
        turn: &TurnId,
        call: &CallId,
        output: &str,
        reveals: impl Fn(&str) -> bool,
    ) -> bool {
        is_capture_call(call)
            && match self.kind(turn, call) {
                // A result that is read without its call may be that of a capture.
                Some(OwnCallKind::HiddenNote) | None => true,
                Some(OwnCallKind::OpenNote) => reveals(output),
                Some(OwnCallKind::Other) => false,
            }
    }

    /// The outcome of the capture of the turn, if the text is ours and tells that of a hidden note.
    fn outcome_of_hidden(&self, turn: &TurnId, text: &str) -> Option<PlanOutcome> {
        self.hidden_notes.get(turn).and_then(|note| outcome_in_saved_text(text, note))
    }

    fn kind(&self, turn: &TurnId, call: &CallId) -> Option<OwnCallKind> {
        self.calls.get(&(turn.clone(), call.clone())).copied()
    }
}

/// The calls whose result lost a name when it was stored: their note was hidden by then. It may be renamed or deleted by
/// now, and no source tells of a captured note that is gone.
fn redacted_calls(rows: &[Message]) -> BTreeSet<(&TurnId, &CallId)> {
    let parts = rows.iter().flat_map(|row| row.parts.iter().map(move |part| (&row.turn, part)));
    let redacted = parts.filter_map(|(turn, part)| match part {
        MessagePart::Result { call, output, .. } if output.contains(REDACTED) => Some((turn, call)),
        _ => None,
    });
    redacted.collect()
}

/// The end of a turn without the name of the note.
const fn withheld_end(outcome: PlanOutcome) -> &'static str {
    match outcome {
        PlanOutcome::Applied => SAVED,
        PlanOutcome::Pending => ADDED_FOR_REVIEW,
    }
}

/// The outcome without its wording. Whether the message is saved or waits for review is left: the turn goes on with it.
fn withheld_outcome(output: &str, is_error: bool) -> String {
    match plan_outcome::parse(output) {
        _ if is_error => NOT_ADDED.to_owned(),
        PlanOutcome::Applied => plan_outcome::applied_text(ADDED),
        PlanOutcome::Pending => plan_outcome::pending_text(ADDED),
    }
}
