//! The work of a turn before it was interrupted: it continues with the rest of its limits.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use protocol::{CallId, Message, MessagePart, Role, TurnId};

use super::tool_kind::ToolKind;

/// The contents of the stored rows of a turn. Empty for a turn that is new.
#[derive(Debug, Clone, Default)]
pub struct ResumeState {
    /// Answers that called.
    pub(super) trips: u32,
    /// Its calls. Which of them failed is not held against the model: one that was cut did, too.
    pub(super) calls: BTreeSet<CallId>,
    /// Whether the user has heard something of it.
    pub(super) said: bool,
}

impl ResumeState {
    /// Reads it from the history of the turn.
    #[must_use]
    pub fn from_history(
        turn: &TurnId,
        history: &[impl Borrow<Message>],
        kinds: &BTreeMap<String, ToolKind>,
    ) -> Self {
        let rows = || history.iter().map(Borrow::borrow).filter(|row: &&Message| row.turn == *turn);
        let parts = || rows().flat_map(|row| &row.parts);
        let failed: BTreeSet<&CallId> = parts()
            .filter_map(|part| match part {
                MessagePart::Result { call, is_error: true, .. } => Some(call),
                _ => None,
            })
            .collect();
        let mut so_far = Self::default();
        for row in rows().filter(|row| row.role == Role::Assistant) {
            let calls: Vec<(&CallId, &String)> = row
                .parts
                .iter()
                .filter_map(|part| match part {
                    MessagePart::Call { id, tool, .. } => Some((id, tool)),
                    _ => None,
                })
                .collect();
            let talked = |(id, tool): &(&CallId, &String)| {
                !failed.contains(id) && kinds.get(*tool) == Some(&ToolKind::Talk)
            };
            so_far.trips += u32::from(!calls.is_empty());
            // An answer without calls is stored only when it was paused.
            so_far.said |= calls.is_empty() || calls.iter().any(talked);
            so_far.calls.extend(calls.into_iter().map(|(id, _)| id.clone()));
        }
        so_far
    }
}
