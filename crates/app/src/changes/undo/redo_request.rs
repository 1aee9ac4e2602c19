//! The effects that a redo undoes. One change of an undo may have undone several edits of a note: of those, a redo makes
//! again what it is about, and the others stay undone. Links of an edit that a move rewrote are made again with the move.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use protocol::changes::history::{AppliedBy, UndoAction, UndoScope};
use protocol::{CallId, ChangeKind, ChangeSetId, Effect, EffectId, UserError};
use store::RevertRow;
use vault::undo::{EffectivePart, Hunks, UndoDirection, UndoPlan, UndoRequest};

use super::rewritten_links::are_links_of_undone_moves;
use super::turn_scope::{hunks_to_undo, unit_of};
use crate::changes::NoteChanges;
use crate::changes::history::{before_and_after, effective_changes, find_effect};

/// The changes of an undo that a redo undoes.
#[derive(Default)]
struct ChangesToUndo {
    by_id: BTreeMap<EffectId, Effect>,
    /// Their groups that are redone as a whole: they undid a move.
    groups: HashSet<(ChangeSetId, CallId)>,
    /// The changes that undid links of an edit which stay undone with a move, each with that edit.
    links: HashSet<(EffectId, EffectId)>,
}

impl ChangesToUndo {
    /// Whether a change is of a group that is redone as a whole.
    fn is_grouped(&self, by: &Effect) -> bool {
        group(by).is_some_and(|group| self.groups.contains(&group))
    }

    /// Whether one of these changes undid only links of an edit, and they stay undone with the move that rewrote them.
    fn leaves_links(&self, by: &Effect, edit: &Effect) -> bool {
        !self.is_grouped(by) && self.links.contains(&(by.id.clone(), edit.id.clone()))
    }

    /// Whether an effect that was undone by one of these changes can stay undone when others of that change are redone:
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

impl NoteChanges {
    /// The request that applies these effects again, as far as they are undone; empty if none is. Other edits of the
    /// same notes that were undone with them stay undone.
    pub(super) async fn redo_request(&self, effects: &[Effect]) -> Result<UndoRequest, UserError> {
        let standings = effective_changes(&self.store).await?;
        let rows = self.store.reverts().await?;
        let stands = |effect: &EffectId| standings.effective_part(effect) != EffectivePart::Nothing;
        let in_scope: BTreeMap<&EffectId, &Effect> =
            effects.iter().map(|effect| (&effect.id, effect)).collect();
        let mut undoing = ChangesToUndo::default();
        let is_of_scope = |row: &&RevertRow| in_scope.contains_key(&row.effect) && stands(&row.by);
        for row in rows.iter().filter(is_of_scope).collect::<Vec<_>>() {
            let Some(effect) = in_scope.get(&row.effect) else { continue };
            if are_links_of_undone_moves(&self.store, row, effect, &in_scope, &standings).await? {
                undoing.links.insert((row.by.clone(), row.effect.clone()));
                continue;
            }
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
            let peers = unit_of(&self.store, &by).await?;
            for peer in peers.into_iter().filter(|peer| stands(&peer.id)) {
                request.effects.insert(peer.id.clone(), Hunks::All);
                undoing.by_id.insert(peer.id.clone(), peer);
            }
        }
        request.redone = self.edits_to_redo(&rows, &in_scope, &undoing).await?;
        Ok(request)
    }

    /// The request that applies an effect again after a conflict about it: alone if that is possible, otherwise with its
    /// unit.
    pub(super) async fn redo_request_about(
        &self,
        effect: &EffectId,
    ) -> Result<UndoRequest, UserError> {
        let effect = find_effect(&self.store, effect).await?;
        let unit = unit_of(&self.store, &effect).await?;
        let alone = self.redo_request(&[effect]).await?;
        if alone.effects.is_empty() { self.redo_request(&unit).await } else { Ok(alone) }
    }

    /// For changes that undid edits which stay undone, the edits that are made again. The same for an edit in several
    /// places: if some of them are in conflict, the others are recorded as made again.
    async fn edits_to_redo(
        &self,
        rows: &[RevertRow],
        in_scope: &BTreeMap<&EffectId, &Effect>,
        undoing: &ChangesToUndo,
    ) -> Result<BTreeMap<EffectId, BTreeMap<EffectId, Hunks>>, UserError> {
        let mut redone = BTreeMap::new();
        for by in undoing.by_id.values().filter(|by| by.kind == ChangeKind::Replace) {
            let (mut edits, mut others, mut are_edits) = (BTreeMap::new(), 0, true);
            for row in rows.iter().filter(|row| row.by == by.id) {
                let effect = find_effect(&self.store, &row.effect).await?;
                let stays_undone = match in_scope.contains_key(&row.effect) {
                    true => undoing.leaves_links(by, &effect),
                    false => undoing.leaves_undone(by, &effect),
                };
                if stays_undone {
                    others += 1;
                } else {
                    are_edits &= effect.kind == ChangeKind::Replace;
                    let hunks = row.hunks.clone().map_or(Hunks::All, Hunks::Some);
                    edits.insert(effect.id, hunks);
                }
            }
            if !are_edits {
                continue;
            }
            let is_whole = undoing.is_grouped(by);
            if others > 0 || (!is_whole && self.is_edit_in_several_places(&edits).await?) {
                redone.insert(by.id.clone(), edits);
            }
        }
        Ok(redone)
    }

    /// The request in which the edits that a change undid together are made again one by one, if there are several, or one
    /// in several places, and a plan of the request undoes only a part of that change; `None` if there is no such change.
    /// Recorded as a part of it, all of these edits would be listed as undone, or all as made again.
    pub(super) async fn redo_one_by_one(
        &self,
        request: &UndoRequest,
        plan: &UndoPlan,
    ) -> Result<Option<UndoRequest>, UserError> {
        let in_conflict: HashSet<&EffectId> =
            plan.conflicts.iter().map(|conflict| &conflict.effect).collect();
        let undone = plan.undone.iter().map(|undone| &undone.effect);
        let partly: HashSet<&EffectId> = undone.filter(|by| in_conflict.contains(by)).collect();
        if partly.is_empty() {
            return Ok(None);
        }
        let mut undid: BTreeMap<EffectId, BTreeMap<EffectId, Hunks>> = BTreeMap::new();
        let rows = self.store.reverts().await?;
        for row in rows.into_iter().filter(|row| partly.contains(&row.by)) {
            let hunks = row.hunks.map_or(Hunks::All, Hunks::Some);
            undid.entry(row.by).or_default().insert(row.effect, hunks);
        }
        let mut one_by_one = request.clone();
        for (by, edits) in undid {
            if edits.len() > 1 || self.is_edit_in_several_places(&edits).await? {
                one_by_one.whole_first.insert(by.clone());
                one_by_one.redone.insert(by, edits);
            }
        }
        Ok((one_by_one != *request).then_some(one_by_one))
    }

    /// Whether these are the hunks of one edit, and more than one.
    async fn is_edit_in_several_places(
        &self,
        edits: &BTreeMap<EffectId, Hunks>,
    ) -> Result<bool, UserError> {
        let mut all = edits.iter();
        let (Some((edit, hunks)), None) = (all.next(), all.next()) else { return Ok(false) };
        let hunks = match hunks {
            Hunks::Some(_) => hunks.clone(),
            Hunks::All => self.all_hunks(&find_effect(&self.store, edit).await?).await?,
        };
        Ok(matches!(hunks, Hunks::Some(places) if places.len() > 1))
    }

    /// Whether a redo that asked about these hunks of an effect makes them again; otherwise it undoes them, and the effect
    /// is of an undo.
    pub(super) async fn makes_again(
        &self,
        effect: &EffectId,
        asked: &Hunks,
    ) -> Result<bool, UserError> {
        let set = find_effect(&self.store, effect).await?.change_set;
        let own = self.store.user_change_sets().await?;
        if own.get(&set) != Some(&AppliedBy::Undo) {
            return Ok(true);
        }
        let standings = effective_changes(&self.store).await?;
        Ok(match (standings.effective_part(effect), asked) {
            (EffectivePart::Nothing, _) => true,
            // The undo of a redo was redone in part: of the redo, the hunks that are left are made again.
            (EffectivePart::Without(gone), Hunks::Some(asked)) => asked.is_subset(&gone),
            (EffectivePart::Whole | EffectivePart::Without(_), _) => false,
        })
    }

    /// Whether to undo a scope is an undo or a redo. To undo the set of an undo is a redo; a redo is undone.
    pub(super) async fn action_to_undo(&self, scope: &UndoScope) -> Result<UndoAction, UserError> {
        let UndoScope::ChangeSet { change_set } = scope else { return Ok(UndoAction::Undo) };
        Ok(match self.is_undo(change_set).await? {
            true => UndoAction::Redo,
            false => UndoAction::Undo,
        })
    }

    /// Whether a set is of an undo. Sets of a redo are stored in the same way, but each undid a set of an undo.
    async fn is_undo(&self, set: &ChangeSetId) -> Result<bool, UserError> {
        let own = self.store.user_change_sets().await?;
        let rows = self.store.reverts().await?;
        let mut undid: BTreeMap<ChangeSetId, BTreeSet<ChangeSetId>> = BTreeMap::new();
        let mut open = vec![set.clone()];
        while let Some(next) = open.pop() {
            if own.get(&next) != Some(&AppliedBy::Undo) || undid.contains_key(&next) {
                continue;
            }
            let scope = UndoScope::ChangeSet { change_set: next.clone() };
            let effects = self.store.effects_in_scope(&scope).await?;
            let by: HashSet<&EffectId> = effects.iter().map(|effect| &effect.id).collect();
            let mut earlier = BTreeSet::new();
            for row in rows.iter().filter(|row| by.contains(&row.by)) {
                earlier.insert(find_effect(&self.store, &row.effect).await?.change_set);
            }
            open.extend(earlier.iter().cloned());
            undid.insert(next, earlier);
        }
        Ok(undo_sets(undid).contains(set))
    }

    async fn all_hunks(&self, effect: &Effect) -> Result<Hunks, UserError> {
        let (before, after) = before_and_after(&self.store, effect).await?;
        Ok(Hunks::Some((0..vault::merge::hunks(&before, &after).len()).collect()))
    }

    /// Leaves in the request what is not undone yet. Of an edit in several places these are the places that are left: one
    /// that came back with other links does not read as undone to the next plan. What is left of an edit that was made
    /// again in part stays for an answer of the user.
    pub(super) async fn drop_undone(&self, request: &mut UndoRequest) -> Result<(), UserError> {
        let standings = effective_changes(&self.store).await?;
        let UndoRequest { effects, redone, direction, .. } = request;
        for (id, asked) in std::mem::take(effects) {
            // What is reapplied was not undone, and edits that are made again have hunks of their own.
            let is_by_hunks = *direction == UndoDirection::Back && !redone.contains_key(&id);
            let left = match standings.effective_part(&id) {
                EffectivePart::Nothing => None,
                EffectivePart::Without(_) if is_by_hunks => {
                    let effect = find_effect(&self.store, &id).await?;
                    hunks_to_undo(&self.store, &standings, &effect, asked).await?
                }
                EffectivePart::Whole | EffectivePart::Without(_) => Some(asked),
            };
            effects.extend(left.map(|left| (id, left)));
        }
        redone.retain(|by, _| effects.contains_key(by));
        Ok(())
    }
}

/// The sets of undos, by the sets that each of these sets undid: a set that undid one of an undo is of a redo. The ids do
/// not tell which was first, because a clock may have gone back in between.
fn undo_sets(mut undid: BTreeMap<ChangeSetId, BTreeSet<ChangeSetId>>) -> BTreeSet<ChangeSetId> {
    let mut undos = BTreeSet::new();
    loop {
        let next = undid.iter().find(|(set, earlier)| {
            !earlier.iter().any(|one| one != *set && undid.contains_key(one))
        });
        let Some(next) = next.map(|(set, _)| set.clone()) else { return undos };
        let earlier = undid.remove(&next).unwrap_or_default();
        if earlier.is_disjoint(&undos) {
            undos.insert(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undo_is_told_from_a_redo_also_after_the_clock_went_back() {
        let undid = [("z", "of the assistant"), ("m", "z"), ("a", "m")];
        let undid = undid.map(|(set, earlier)| {
            (ChangeSetId::from(set), BTreeSet::from([ChangeSetId::from(earlier)]))
        });
        let undos = ["a", "z"].map(ChangeSetId::from);
        assert_eq!(undo_sets(undid.into()), BTreeSet::from(undos));
    }
}
