//! The effects that a redo undoes. One change of an undo may have undone several effects: those that the redo is not
//! about stay undone.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use protocol::changes::history::{UndoConflict, UndoScope};
use protocol::{CallId, ChangeKind, ChangeSetId, Effect, EffectId, UserError};
use store::RevertRow;
use vault::undo::{EffectivePart, Hunks, UndoRequest};

use crate::changes::history::{before_and_after, effective_changes, find_effect};
use crate::support::errors::store_error;
use crate::vault_session::VaultSession;

/// The changes of an undo that a redo undoes.
#[derive(Default)]
struct ChangesToUndo {
    by_id: BTreeMap<EffectId, Effect>,
    /// Their groups that are redone as a whole: they undid a move.
    groups: HashSet<(ChangeSetId, CallId)>,
}

impl ChangesToUndo {
    /// Whether a change is of a group that is redone as a whole.
    fn is_grouped(&self, by: &Effect) -> bool {
        group(by).is_some_and(|group| self.groups.contains(&group))
    }

    /// Whether an effect that was undone by one of these changes can be undone again on top of the redo of that change:
    /// both are about contents of a note that stays. Moves that were undone together are redone together.
    fn leaves_undone(&self, by: &Effect, effect: &Effect) -> bool {
        let are_edits = by.kind == ChangeKind::Replace && effect.kind == ChangeKind::Replace;
        let is_move = effect.unit.is_some() && self.is_grouped(by);
        let makes_or_trashes = |other: &Effect| {
            other.change_set == by.change_set
                && other.path == by.path
                && matches!(other.kind, ChangeKind::Create | ChangeKind::Trash)
        };
        are_edits && !is_move && !self.by_id.values().any(makes_or_trashes)
    }
}

/// The atomic group of an effect.
fn group(effect: &Effect) -> Option<(ChangeSetId, CallId)> {
    Some((effect.change_set.clone(), effect.unit.clone()?))
}

impl VaultSession {
    /// The request that applies these effects again, as far as they are undone; empty if none is. Other edits of the
    /// same notes that were undone with them are requested too: they are undone again, on top of the redo.
    pub(super) async fn redo_request(&self, effects: &[Effect]) -> Result<UndoRequest, UserError> {
        let standings = effective_changes(&self.store).await?;
        let rows = self.store.reverts().await.map_err(store_error)?;
        let stands = |effect: &EffectId| standings.effective_part(effect) != EffectivePart::Nothing;
        let in_scope: BTreeMap<&EffectId, &Effect> =
            effects.iter().map(|effect| (&effect.id, effect)).collect();
        let mut undoing = ChangesToUndo::default();
        let is_of_scope = |row: &&RevertRow| in_scope.contains_key(&row.effect) && stands(&row.by);
        for row in rows.iter().filter(is_of_scope).collect::<Vec<_>>() {
            let Some(effect) = in_scope.get(&row.effect) else { continue };
            let by = find_effect(&self.store, &row.by).await?;
            undoing.groups.extend(group(&by).filter(|_| effect.unit.is_some()));
            undoing.by_id.insert(by.id.clone(), by);
        }
        let mut request = UndoRequest::undo([]);
        for by in undoing.by_id.values().cloned().collect::<Vec<_>>() {
            if by.unit.is_some() && !undoing.is_grouped(&by) {
                // By its hunks: whole, the rest of its group would be redone with it.
                request.effects.insert(by.id.clone(), self.all_hunks(&by).await?);
                continue;
            }
            // With an earlier one of its group, all of the group is requested.
            if request.effects.contains_key(&by.id) {
                continue;
            }
            if by.unit.is_none() {
                request.effects.insert(by.id.clone(), Hunks::All);
                continue;
            }
            let scope = UndoScope::Effect { effect: by.id.clone(), hunks: Vec::new() };
            let peers = self.store.effects_in_scope(&scope).await.map_err(store_error)?;
            for peer in peers.into_iter().filter(|peer| stands(&peer.id)) {
                request.effects.insert(peer.id.clone(), Hunks::All);
                undoing.by_id.insert(peer.id.clone(), peer);
            }
        }
        let is_other = |row: &&RevertRow| {
            !in_scope.contains_key(&row.effect) && !undoing.by_id.contains_key(&row.effect)
        };
        for row in rows.iter().filter(is_other).collect::<Vec<_>>() {
            let Some(by) = undoing.by_id.get(&row.by) else { continue };
            let other = find_effect(&self.store, &row.effect).await?;
            if undoing.leaves_undone(by, &other) {
                self.add_undone_hunks(&mut request, row, &other).await?;
            }
        }
        Ok(request)
    }

    /// Requests as much of an effect as the row says is undone.
    async fn add_undone_hunks(
        &self,
        request: &mut UndoRequest,
        row: &RevertRow,
        effect: &Effect,
    ) -> Result<(), UserError> {
        let hunks = match &row.hunks {
            Some(hunks) => Hunks::Some(hunks.clone()),
            // Whole, the rest of its unit would be undone with it.
            None if effect.unit.is_some() => self.all_hunks(effect).await?,
            None => Hunks::All,
        };
        let none = || Hunks::Some(BTreeSet::new());
        let requested = request.effects.entry(effect.id.clone()).or_insert_with(none);
        match hunks {
            Hunks::All => *requested = Hunks::All,
            Hunks::Some(more) => {
                if let Hunks::Some(requested) = requested {
                    requested.extend(more);
                }
            }
        }
        Ok(())
    }

    async fn all_hunks(&self, effect: &Effect) -> Result<Hunks, UserError> {
        let (before, after) = before_and_after(&self.store, effect).await?;
        Ok(Hunks::Some((0..vault::merge::hunks(&before, &after).len()).collect()))
    }

    /// Leaves in the request what is not undone yet, and what stays undone on top of that: a later plan must not be
    /// about what an earlier one undid.
    pub(super) async fn drop_undone(&self, request: &mut UndoRequest) -> Result<(), UserError> {
        let standings = effective_changes(&self.store).await?;
        let rows = self.store.reverts().await.map_err(store_error)?;
        let stands = |effect: &EffectId| standings.effective_part(effect) != EffectivePart::Nothing;
        let left: BTreeSet<EffectId> =
            request.effects.keys().filter(|effect| stands(effect)).cloned().collect();
        let is_undone_by_left = |effect: &EffectId| {
            rows.iter().any(|row| row.effect == *effect && left.contains(&row.by))
        };
        request.effects.retain(|effect, _| left.contains(effect) || is_undone_by_left(effect));
        Ok(())
    }

    /// Leaves out conflicts about what stays undone where the redo around it has a conflict too: both are about the same
    /// lines. A conflict that asks which note is meant stays.
    pub(super) async fn without_repeated_conflicts(
        &self,
        mut conflicts: Vec<UndoConflict>,
    ) -> Result<Vec<UndoConflict>, UserError> {
        if conflicts.len() > 1 {
            let rows = self.store.reverts().await.map_err(store_error)?;
            let about: BTreeSet<EffectId> =
                conflicts.iter().map(|conflict| conflict.effect.clone()).collect();
            let is_repeated = |effect: &EffectId| {
                rows.iter().any(|row| row.effect == *effect && about.contains(&row.by))
            };
            conflicts.retain(|conflict| {
                !conflict.candidates.is_empty() || !is_repeated(&conflict.effect)
            });
        }
        Ok(conflicts)
    }
}
