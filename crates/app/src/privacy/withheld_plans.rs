//! Pending changes that were planned by turns which were told more than a turn may hear.
//!
//! The text that a turn planned may repeat what it was told, as its answers may. A turn that is not sent
//! the call that planned a change is not shown the change.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use protocol::{CallId, ConversationId, Message, MessagePart, OpenTurn, TurnId, UserError};
use store::PlannedChangeRow;

use super::history_filter::hidden_titles::HiddenTitles;
use super::history_filter::mentioned_turn_cache::MentionedTurnCache;
use super::planned_names::PlannedNames;
use super::{PrivacyGuard, PrivacyView};

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
        let cache = self.mentioned_turn_cache(&turn.turn);
        let calls = pending.iter().map(|row| (row.turn.clone(), row.call.clone())).collect();
        self.withheld_calls(&view, &turn.conversation, calls, &cache).await
    }

    /// Those of these calls, by which a conversation planned changes, that are withheld at this view. A turn that was
    /// told a hidden title is withheld with its calls.
    pub(super) async fn withheld_calls(
        &self,
        view: &Arc<PrivacyView>,
        conversation: &ConversationId,
        calls: Vec<TurnCall>,
        cache: &MentionedTurnCache,
    ) -> Result<BTreeSet<TurnCall>, UserError> {
        let Some(branches) = self.branches_of_calls(view, conversation, &calls).await? else {
            return Ok(BTreeSet::new());
        };
        let mut heard = BTreeSet::new();
        for rows in branches {
            let titles = self.hidden_titles(view, &rows, cache).await?;
            heard.extend(self.heard_calls(view, rows, titles).await?);
        }
        Ok(calls.into_iter().filter(|call| !heard.contains(call)).collect())
    }

    /// The same for a mentioned conversation. The conversations that it mentions are judged with it, so their titles
    /// withhold nothing here.
    pub(super) async fn withheld_calls_of_mentioned(
        &self,
        view: &Arc<PrivacyView>,
        conversation: &ConversationId,
        calls: Vec<TurnCall>,
    ) -> Result<BTreeSet<TurnCall>, UserError> {
        let Some(branches) = self.branches_of_calls(view, conversation, &calls).await? else {
            return Ok(BTreeSet::new());
        };
        let mut heard = BTreeSet::new();
        for rows in branches {
            heard.extend(self.heard_calls(view, rows, HiddenTitles::default()).await?);
        }
        Ok(calls.into_iter().filter(|call| !heard.contains(call)).collect())
    }

    /// Branches of a conversation that hold all turns of these calls; `None` where nothing is hidden.
    async fn branches_of_calls(
        &self,
        view: &PrivacyView,
        conversation: &ConversationId,
        calls: &[TurnCall],
    ) -> Result<Option<Vec<Vec<Message>>>, UserError> {
        let Some(store) = self.effect_history.get().filter(|_| !view.hides_nothing()) else {
            return Ok(None);
        };
        let (mut read, mut branches) = (HashSet::new(), Vec::new());
        // The last turns first: their branch mostly holds the others.
        for (turn, _) in calls.iter().rev() {
            if !read.insert(turn.clone()) {
                continue;
            }
            let rows = store.history(conversation, turn).await?;
            read.extend(rows.iter().map(|row| row.turn.clone()));
            branches.push(rows);
        }
        Ok(Some(branches))
    }

    /// The calls in a branch that are heard at this view.
    async fn heard_calls(
        &self,
        view: &Arc<PrivacyView>,
        rows: Vec<Message>,
        titles: HiddenTitles,
    ) -> Result<Vec<TurnCall>, UserError> {
        let Some(store) = self.effect_history.get() else { return Ok(Vec::new()) };
        let turns: BTreeSet<&TurnId> = rows.iter().map(|row| &row.turn).collect();
        let turns: Vec<&TurnId> = turns.into_iter().collect();
        let sources = store.turn_sources(&turns).await?;
        let told = self.with_planned_notes(view, &rows, &sources).await?;
        let gone = self.missing_in_rows(view, &rows, &told.all).await?;
        // Only the calls count, which have no names of changes.
        let names = PlannedNames::default();
        let filtered = self.filter_messages(view, rows.clone(), told, gone, names, titles).await?;
        let of_message = |(before, after): (&Message, &Message)| -> Vec<TurnCall> {
            let heard = before.parts.iter().filter_map(|part| match part {
                MessagePart::Call { id, .. } if after.parts.contains(part) => {
                    Some((before.turn.clone(), id.clone()))
                }
                _ => None,
            });
            heard.collect()
        };
        Ok(rows.iter().zip(&filtered).flat_map(of_message).collect())
    }
}
