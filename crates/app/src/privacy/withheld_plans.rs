//! Pending changes that were planned by turns which were told more than a turn may hear.
//!
//! The text that a turn planned may repeat what it was told, as its answers may. A turn that is not sent
//! the call that planned a change is not shown the change.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use protocol::{CallId, ConversationId, MessagePart, OpenTurn, TurnId, UserError};
use store::PlannedChangeRow;

use super::history_filter::hidden_titles::HiddenTitles;
use super::planned_names::PlannedNames;
use super::{PrivacyGuard, PrivacyView};
use crate::support::errors::store_error;

/// A call, by the turn that made it.
pub(crate) type TurnCall = (TurnId, CallId);

impl PrivacyGuard {
    /// The calls behind these pending changes of the turn's conversation that the turn may not hear.
    pub(crate) async fn withheld_plans(
        &self,
        turn: &OpenTurn,
        pending: &[PlannedChangeRow],
    ) -> Result<BTreeSet<TurnCall>, UserError> {
        let view = self.turn_view(&turn.turn).await?;
        let calls = pending.iter().map(|row| (row.turn.clone(), row.call.clone())).collect();
        self.withheld_calls(&view, &turn.conversation, calls).await
    }

    /// Those of these calls, by which a conversation planned changes, that are withheld at this view.
    pub(super) async fn withheld_calls(
        &self,
        view: &Arc<PrivacyView>,
        conversation: &ConversationId,
        calls: Vec<TurnCall>,
    ) -> Result<BTreeSet<TurnCall>, UserError> {
        let Some(store) = self.effect_history.get().filter(|_| !view.hides_nothing()) else {
            return Ok(BTreeSet::new());
        };
        let (mut judged, mut heard) = (HashSet::new(), BTreeSet::new());
        // The last turns first: their branch mostly holds the others.
        for (turn, _) in calls.iter().rev() {
            if judged.contains(turn) {
                continue;
            }
            let rows = store.history(conversation, turn).await.map_err(store_error)?;
            let turns: BTreeSet<&TurnId> = rows.iter().map(|row| &row.turn).collect();
            let turns: Vec<&TurnId> = turns.into_iter().collect();
            let sources = store.turn_sources(&turns).await.map_err(store_error)?;
            let told = self.with_planned_notes(view, &rows, &sources).await?;
            let gone = self.missing_in_rows(view, &rows, &told.all).await?;
            // Only the calls count, which have no names and titles of this kind.
            let (names, titles) = (PlannedNames::default(), HiddenTitles::default());
            let filtered =
                self.filter_messages(view, rows.clone(), told, gone, names, titles).await?;
            for (before, after) in rows.iter().zip(&filtered) {
                heard.extend(before.parts.iter().filter_map(|part| match part {
                    MessagePart::Call { id, .. } if after.parts.contains(part) => {
                        Some((before.turn.clone(), id.clone()))
                    }
                    _ => None,
                }));
            }
            judged.extend(rows.into_iter().map(|row| row.turn));
            judged.insert(turn.clone());
        }
        Ok(calls.into_iter().filter(|call| !heard.contains(call)).collect())
    }
}
