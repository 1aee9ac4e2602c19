//! What a turn did before it was cut: it goes on with what is left of its limits.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use protocol::{CallId, Message, Part, Role, TurnId};

use super::Kind;

/// What the stored rows of a turn hold. Empty for a turn that is new.
#[derive(Debug, Clone, Default)]
pub struct SoFar {
    /// Answers that called.
    pub(super) trips: u32,
    /// Its calls. Which of them failed is not held against the model: one that was cut did, too.
    pub(super) calls: BTreeSet<CallId>,
    /// Whether the user has heard something of it.
    pub(super) said: bool,
}

impl SoFar {
    /// Reads it from the history of the turn.
    #[must_use]
    pub fn of(
        turn: &TurnId,
        history: &[impl Borrow<Message>],
        kinds: &BTreeMap<String, Kind>,
    ) -> Self {
        let rows = || history.iter().map(Borrow::borrow).filter(|row: &&Message| row.turn == *turn);
        let parts = || rows().flat_map(|row| &row.parts);
        let failed: BTreeSet<&CallId> = parts()
            .filter_map(|part| match part {
                Part::Result { call, is_error: true, .. } => Some(call),
                _ => None,
            })
            .collect();
        let mut so_far = Self::default();
        for row in rows().filter(|row| row.role == Role::Assistant) {
            let calls: Vec<(&CallId, &String)> = row
                .parts
                .iter()
                .filter_map(|part| match part {
                    Part::Call { id, tool, .. } => Some((id, tool)),
                    _ => None,
                })
                .collect();
            let talked = |(id, tool): &(&CallId, &String)| {
                !failed.contains(id) && kinds.get(*tool) == Some(&Kind::Talk)
            };
            so_far.trips += u32::from(!calls.is_empty());
            // An answer without calls is stored only when it was paused.
            so_far.said |= calls.is_empty() || calls.iter().any(talked);
            so_far.calls.extend(calls.into_iter().map(|(id, _)| id.clone()));
        }
        so_far
    }
}
