//! The record of how much of each effect an undo undoes, and of what is left of it.

use std::collections::BTreeSet;

use protocol::changes::history::{UndoAction, UndoConflict};
use protocol::{EffectId, NotePath, UserError};
use vault::undo::{EffectivePart, Hunks, UndoneEffect};

use super::conflicts::requested_hunks;
use super::request_for;
use crate::changes::history::{before_and_after, effective_changes, find_effect};
use crate::support::errors::store_error;
use crate::vault_session::VaultSession;

/// A revert as `store` records it: the path of the change, the effect, and its hunks unless it is all of them.
type RecordedRevert = (NotePath, EffectId, Option<BTreeSet<usize>>);

impl VaultSession {
    /// The reverts to record. An undo whose last hunks are undone is recorded as undone whole: only then do
    /// the changes count again that it had undone.
    pub(super) async fn recorded_reverts(
        &self,
        undone: &[UndoneEffect],
    ) -> Result<Vec<RecordedRevert>, UserError> {
        let mut reverts = Vec::with_capacity(undone.len());
        for undoing in undone {
            let hunks = match &undoing.hunks {
                Hunks::Some(some) if !self.completes_redo(&undoing.effect, some).await? => {
                    Some(some.clone())
                }
                Hunks::All | Hunks::Some(_) => None,
            };
            reverts.push((undoing.path.clone(), undoing.effect.clone(), hunks));
        }
        Ok(reverts)
    }

    /// Whether an effect undid others, and nothing of it is left without these hunks.
    async fn completes_redo(
        &self,
        effect: &EffectId,
        hunks: &BTreeSet<usize>,
    ) -> Result<bool, UserError> {
        let rows = self.store.reverts().await.map_err(store_error)?;
        if rows.iter().all(|row| row.by != *effect) {
            return Ok(false);
        }
        let gone = match effective_changes(&self.store).await?.effective_part(effect) {
            EffectivePart::Nothing => return Ok(true),
            EffectivePart::Whole => BTreeSet::new(),
            EffectivePart::Without(gone) => gone,
        };
        let (before, after) =
            before_and_after(&self.store, &find_effect(&self.store, effect).await?).await?;
        let mut all = 0..vault::merge::hunks(&before, &after).len();
        Ok(all.all(|hunk| hunks.contains(&hunk) || gone.contains(&hunk)))
    }

    /// Shows the places of conflicts in the notes as they are after the undo, which may have moved the lines. A
    /// conflict that is not there any more stays as it was, and its answer is refused.
    pub(super) async fn update_places(
        &self,
        action: UndoAction,
        conflicts: &mut [UndoConflict],
    ) -> Result<(), UserError> {
        let shown = conflicts.iter_mut().filter(|conflict| conflict.shown.is_some());
        let mut shown: Vec<_> = shown.collect();
        if shown.is_empty() {
            return Ok(());
        }
        let mut request = request_for(action, []);
        let left = shown.iter().map(|one| (one.effect.clone(), requested_hunks(&one.hunks)));
        request.effects.extend(left);
        let (_, present, _) = self.plan_undo(&request, action).await?;
        for conflict in &mut shown {
            if let Some(now) = present.iter().find(|now| now.effect == conflict.effect) {
                **conflict = now.clone();
            }
        }
        Ok(())
    }
}
