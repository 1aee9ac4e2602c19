//! An undo of a move rewrites the links to it, also in notes that another turn edited with the same unit. The hunks of
//! such an edit in which the move only rewrote links are undone with the move, and are recorded as undone. A redo of the
//! edit leaves them undone while the move is.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use protocol::{ChangeKind, Effect, EffectId, NotePath, UserError};
use store::{RevertRow, Store};
use vault::merge::hunks;
use vault::undo::{
    EffectConflict, EffectConflictReason, EffectivePart, Hunks, LedgerView, Reverts, UndoPlan,
    UndoRequest, UndoneEffect, VaultReader, current_path, current_paths,
};

use super::turn_scope::{is_move, unit_of};
use super::undoable_hunks::{StandingMove, undoable_hunks};
use crate::changes::history::{before_and_after, effective_changes};
use crate::changes::link_repair::LinkedChanges;
use crate::support::blocking::run_blocking;

/// The moves that a plan undoes, and the edits of their units that it leaves in notes whose links it rewrites.
#[derive(Default)]
pub(super) struct RewrittenLinks {
    moves: Vec<Effect>,
    /// Each with the present path of its note.
    edits: Vec<(Effect, NotePath)>,
}

impl RewrittenLinks {
    /// Finds them for a plan that undoes these effects and rewrites links in the notes at these paths.
    pub(super) fn find(
        ledger: &LedgerView,
        undone: &[UndoneEffect],
        rewritten: &[NotePath],
        notes: &dyn VaultReader,
    ) -> Self {
        let undone: HashSet<&EffectId> = undone.iter().map(|one| &one.effect).collect();
        let rewritten: HashSet<&NotePath> = rewritten.iter().collect();
        let is_undone_move = |effect: &&Effect| {
            is_move(effect.kind) && effect.unit.is_some() && undone.contains(&effect.id)
        };
        let moves: Vec<Effect> = ledger.effects().iter().filter(is_undone_move).cloned().collect();
        let is_left = |effect: &&Effect| {
            effect.kind == ChangeKind::Replace
                && effect.purged.is_none()
                && !undone.contains(&effect.id)
                && moves.iter().any(|one| are_of_one_unit(one, effect))
        };
        let left: Vec<&Effect> = ledger.effects().iter().filter(is_left).collect();
        let paths = current_paths(ledger, left.iter().map(|edit| &edit.id), notes);
        let with_path = |(edit, path): (&Effect, Option<NotePath>)| {
            let path = path.filter(|path| rewritten.contains(path))?;
            Some((edit.clone(), path))
        };
        let edits = left.into_iter().zip(paths).filter_map(with_path).collect();
        Self { moves, edits }
    }

    /// The hunks of these edits that are undone with the moves, as the plan is to record them.
    pub(super) async fn undone_hunks(self, store: &Store) -> Result<Vec<UndoneEffect>, UserError> {
        let mut undone = Vec::new();
        if self.edits.is_empty() {
            return Ok(undone);
        }
        let standings = effective_changes(store).await?;
        for (edit, path) in self.edits {
            let gone = match standings.effective_part(&edit.id) {
                EffectivePart::Nothing => continue,
                EffectivePart::Whole => BTreeSet::new(),
                EffectivePart::Without(gone) => gone,
            };
            let moves = self.moves.iter().filter(|one| are_of_one_unit(one, &edit));
            let moves: Vec<StandingMove> = moves.filter_map(StandingMove::of).collect();
            let (before, after) = before_and_after(store, &edit).await?;
            let note = edit.path.clone();
            let find = move || {
                let undoable = undoable_hunks(&note, (&before, &after), &moves)?;
                let all = 0..hunks(&before, &after).len();
                let is_of_moves = |hunk: &usize| !undoable.contains(hunk) && !gone.contains(hunk);
                Some(all.filter(is_of_moves).collect::<BTreeSet<usize>>())
            };
            if let Some(links) = run_blocking(find).await?.filter(|links| !links.is_empty()) {
                undone.push(UndoneEffect { effect: edit.id, path, hunks: Hunks::Some(links) });
            }
        }
        Ok(undone)
    }
}

/// The hunks of an edit in which moves of its unit only rewrote links.
pub(super) struct LinkHunks {
    pub(super) edit: EffectId,
    pub(super) hunks: BTreeSet<usize>,
    moves: Vec<EffectId>,
}

impl LinkHunks {
    /// Whether the links of these hunks are led back with a plan: it undoes the moves, and its link updates keep the
    /// links of the note. One that is gone has none.
    pub(super) fn are_led_back(
        &self,
        ledger: &LedgerView,
        undone: &[UndoneEffect],
        updates: &LinkedChanges,
        notes: &dyn VaultReader,
    ) -> bool {
        let is_undone = |effect: &EffectId| undone.iter().any(|one| one.effect == *effect);
        let note = current_path(ledger, &self.edit, notes);
        self.moves.iter().all(is_undone) && note.is_none_or(|note| updates.keep_links_of(&note))
    }
}

/// The hunks in which moves only rewrote links, of the edits that keep a plan from undoing these moves: the user changed
/// their lines, or the note is gone.
pub(super) fn link_hunks_in_conflict(
    ledger: &LedgerView,
    request: &UndoRequest,
    plan: &UndoPlan,
) -> Vec<LinkHunks> {
    let is_met = |conflict: &&EffectConflict| {
        use EffectConflictReason::{Changed, Gone, Unsure};
        matches!(conflict.why, Changed | Gone | Unsure)
    };
    let met: HashSet<&EffectId> =
        plan.conflicts.iter().filter(is_met).map(|conflict| &conflict.effect).collect();
    let effects: Vec<&Effect> = ledger.undone_with(request).collect();
    let is_of_edit =
        |effect: &&&Effect| effect.kind == ChangeKind::Replace && met.contains(&effect.id);
    let link_hunks = |edit: &&Effect| {
        let of_unit = effects.iter().filter(|one| are_of_one_unit(one, edit));
        let moved: Vec<&Effect> = of_unit.copied().filter(|one| is_move(one.kind)).collect();
        let moves: Vec<StandingMove> =
            moved.iter().filter_map(|one| StandingMove::of(one)).collect();
        let before = ledger.content(edit.before.as_ref())?;
        let after = ledger.content(edit.after.as_ref())?;
        let undoable = undoable_hunks(&edit.path, (before, after), &moves)?;
        let links = (0..hunks(before, after).len()).filter(|hunk| !undoable.contains(hunk));
        let links: BTreeSet<usize> = links.collect();
        (!links.is_empty()).then(|| LinkHunks {
            edit: edit.id.clone(),
            hunks: links,
            moves: moved.iter().map(|one| one.id.clone()).collect(),
        })
    };
    effects.iter().filter(is_of_edit).filter_map(link_hunks).collect()
}

/// Whether a row undoes only links of an edit that moves of its unit rewrote, and these moves stay undone: none of them is
/// among the effects that are redone.
pub(super) async fn are_links_of_undone_moves(
    store: &Store,
    row: &RevertRow,
    edit: &Effect,
    redone: &BTreeMap<&EffectId, &Effect>,
    standings: &Reverts,
) -> Result<bool, UserError> {
    let Some(undone) = row.hunks.clone() else { return Ok(false) };
    if edit.kind != ChangeKind::Replace || edit.unit.is_none() || edit.purged.is_some() {
        return Ok(false);
    }
    let unit = unit_of(store, edit).await?;
    let stays_undone = |one: &&Effect| {
        is_move(one.kind)
            && !redone.contains_key(&one.id)
            && standings.effective_part(&one.id) == EffectivePart::Nothing
    };
    let moves = unit.iter().filter(stays_undone);
    let moves: Vec<StandingMove> = moves.filter_map(StandingMove::of).collect();
    if moves.is_empty() {
        return Ok(false);
    }
    let (before, after) = before_and_after(store, edit).await?;
    let note = edit.path.clone();
    let judge = move || {
        let undoable = undoable_hunks(&note, (&before, &after), &moves);
        undoable.is_some_and(|undoable| undone.is_disjoint(&undoable))
    };
    run_blocking(judge).await
}

fn are_of_one_unit(one: &Effect, other: &Effect) -> bool {
    one.unit.is_some() && one.unit == other.unit && one.change_set == other.change_set
}
