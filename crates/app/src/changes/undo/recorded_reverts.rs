//! The record of how much of each effect an undo undoes, and of what is left of it.

use std::collections::BTreeSet;

use protocol::changes::history::{UndoAction, UndoConflict};
use protocol::{EffectId, NotePath, UserError};
use store::RevertRow;
use vault::undo::{EffectivePart, Hunks, UndoPlan};

use super::request_for;
use super::undoable_hunks::requested_hunks;
use crate::changes::NoteChanges;
use crate::changes::history::{before_and_after, effective_changes, find_effect};

/// A revert as `store` records it: the path of the change, the effect, and its hunks unless it is all of them.
type RecordedRevert = (NotePath, EffectId, Option<BTreeSet<usize>>);

impl NoteChanges {
    /// The reverts to record. An undo whose last hunks are undone is recorded as undone whole: only then do
    /// the changes count again that it had undone. Of an undo that is redone for some edits only, the same is recorded, and
    /// that all else which it had undone is undone by the redo.
    pub(super) async fn recorded_reverts(
        &self,
        plan: &UndoPlan,
    ) -> Result<Vec<RecordedRevert>, UserError> {
        let mut reverts = Vec::with_capacity(plan.undone.len());
        for undoing in &plan.undone {
            let hunks = match &undoing.hunks {
                Hunks::Some(some) if !self.completes_redo(&undoing.effect, some).await? => {
                    Some(some.clone())
                }
                Hunks::All | Hunks::Some(_) => None,
            };
            reverts.push((undoing.path.clone(), undoing.effect.clone(), hunks));
        }
        if plan.redone.is_empty() {
            return Ok(reverts);
        }
        let rows = self.store.reverts().await?;
        for redone in &plan.redone {
            add_revert(&mut reverts, (redone.path.clone(), redone.by.clone(), None));
            for row in rows.iter().filter(|row| row.by == redone.by) {
                let left = match self.hunks_left_undone(row, plan).await? {
                    Hunks::All => None,
                    Hunks::Some(left) if left.is_empty() => continue,
                    Hunks::Some(left) => Some(left),
                };
                add_revert(&mut reverts, (redone.path.clone(), row.effect.clone(), left));
            }
        }
        Ok(reverts)
    }

    /// As much of what a row undoes as the plan does not make again.
    async fn hunks_left_undone(
        &self,
        row: &RevertRow,
        plan: &UndoPlan,
    ) -> Result<Hunks, UserError> {
        let mut redone = plan.redone.iter();
        let redone = redone.find(|redone| redone.by == row.by && redone.effect == row.effect);
        let done = match redone.map(|redone| &redone.hunks) {
            None => return Ok(row.hunks.clone().map_or(Hunks::All, Hunks::Some)),
            Some(Hunks::All) => return Ok(Hunks::Some(BTreeSet::new())),
            Some(Hunks::Some(done)) => done,
        };
        let undone = match &row.hunks {
            Some(hunks) => hunks.clone(),
            None => self.hunk_places(&row.effect).await?,
        };
        Ok(Hunks::Some(undone.difference(done).copied().collect()))
    }

    /// The places of all hunks of an effect.
    async fn hunk_places(&self, effect: &EffectId) -> Result<BTreeSet<usize>, UserError> {
        let effect = find_effect(&self.store, effect).await?;
        let (before, after) = before_and_after(&self.store, &effect).await?;
        Ok((0..vault::merge::hunks(&before, &after).len()).collect())
    }

    /// Whether an effect undid others, and nothing of it is left without these hunks.
    async fn completes_redo(
        &self,
        effect: &EffectId,
        hunks: &BTreeSet<usize>,
    ) -> Result<bool, UserError> {
        let rows = self.store.reverts().await?;
        if rows.iter().all(|row| row.by != *effect) {
            return Ok(false);
        }
        let gone = match effective_changes(&self.store).await?.effective_part(effect) {
            EffectivePart::Nothing => return Ok(true),
            EffectivePart::Whole => BTreeSet::new(),
            EffectivePart::Without(gone) => gone,
        };
        let all = self.hunk_places(effect).await?;
        Ok(all.iter().all(|hunk| hunks.contains(hunk) || gone.contains(hunk)))
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
        for one in &shown {
            let asked = requested_hunks(&one.hunks);
            if action == UndoAction::Redo && self.makes_again(&one.effect, &asked).await? {
                let again = self.redo_request_about(&one.effect).await?;
                request.effects.extend(again.effects);
                for (by, edits) in again.redone {
                    request.redone.entry(by).or_default().extend(edits);
                }
            } else {
                request.effects.insert(one.effect.clone(), asked);
            }
        }
        let (_, present, _) = self.plan_undo(&request, action).await?;
        for conflict in &mut shown {
            if let Some(now) = present.iter().find(|now| now.effect == conflict.effect) {
                **conflict = now.clone();
            }
        }
        Ok(())
    }
}

/// Adds a revert to those of the same effect.
fn add_revert(reverts: &mut Vec<RecordedRevert>, (path, effect, hunks): RecordedRevert) {
    match reverts.iter_mut().find(|(_, other, _)| *other == effect) {
        None => reverts.push((path, effect, hunks)),
        Some((_, _, all)) => match (all, hunks) {
            (None, _) => {}
            (Some(some), Some(more)) => some.extend(more),
            (all, None) => *all = None,
        },
    }
}
