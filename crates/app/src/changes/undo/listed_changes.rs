//! Finds the row of the list of changes in which a conflict is shown. The changes of an undo or a redo have no row there,
//! and a redo is often in conflict about a change of an undo.

use std::collections::{HashMap, HashSet};

use protocol::changes::history::{AppliedBy, UndoAction, UndoConflict, UndoScope};
use protocol::{ChangeSetId, Effect, EffectId, UserError};
use store::RevertRow;
use vault::undo::EffectivePart;

use super::turn_scope::unit_of;
use crate::changes::NoteChanges;
use crate::changes::history::{effective_changes, find_effect};

impl NoteChanges {
    /// Sets the listed change of each conflict. If there are several, it is the newest of those that the request is about.
    pub(super) async fn find_listed_changes(
        &self,
        conflicts: &mut [UndoConflict],
    ) -> Result<(), UserError> {
        if conflicts.is_empty() {
            return Ok(());
        }
        let own = self.store.user_change_sets().await?;
        let rows = self.store.reverts().await?;
        let standings = effective_changes(&self.store).await?;
        for conflict in conflicts {
            let listed = self.listed_changes(&conflict.effect, &own, &rows).await?;
            // A redo is about what is undone.
            let left_out = match conflict.action {
                UndoAction::Redo => EffectivePart::Whole,
                UndoAction::Undo | UndoAction::Reapply => EffectivePart::Nothing,
            };
            let is_requested = |effect: &EffectId| standings.effective_part(effect) != left_out;
            let newest =
                listed.into_iter().max_by_key(|effect| (is_requested(effect), effect.clone()));
            conflict.listed = newest.unwrap_or_else(|| conflict.effect.clone());
        }
        Ok(())
    }

    /// An effect if it is listed, otherwise the listed ones that it undid, directly or through the undo of an undo. If it is
    /// not recorded that it undid any, as for a link that was led to a moved note, those that its unit undid; otherwise those
    /// of its turn at its path.
    async fn listed_changes(
        &self,
        effect: &EffectId,
        own: &HashMap<ChangeSetId, AppliedBy>,
        rows: &[RevertRow],
    ) -> Result<Vec<EffectId>, UserError> {
        let is_own = |one: &Effect| {
            matches!(own.get(&one.change_set), Some(AppliedBy::Undo | AppliedBy::Reapply))
        };
        let (mut open, mut seen, mut listed) = (vec![effect.clone()], HashSet::new(), Vec::new());
        while let Some(one) = open.pop() {
            if !seen.insert(one.clone()) {
                continue;
            }
            let found = find_effect(&self.store, &one).await?;
            if !is_own(&found) {
                listed.push(one);
                continue;
            }
            let before = open.len();
            let undid = rows.iter().filter(|row| row.by == one);
            open.extend(undid.map(|row| row.effect.clone()));
            if open.len() == before && one == *effect {
                open.extend(unit_of(&self.store, &found).await?.into_iter().map(|peer| peer.id));
            }
        }
        if listed.is_empty() {
            let of = find_effect(&self.store, effect).await?;
            let scope = UndoScope::Turn { turn: of.turn };
            let of_turn = self.store.effects_in_scope(&scope).await?;
            let at_its_path = of_turn.iter().filter(|one| !is_own(one) && one.path == of.path);
            listed.extend(at_its_path.map(|one| one.id.clone()));
        }
        Ok(listed)
    }
}
