//! The undo of one turn whose changes the user accepted together with moves that other turns planned: it leaves these
//! moves, and the links that they rewrote, as far as the text tells them apart.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use protocol::changes::history::UndoScope;
use protocol::{CallId, ChangeKind, ChangeSetId, Effect, EffectId, NotePath, TurnId, UserError};
use store::{EarlierPlan, Store};
use vault::merge::hunks;
use vault::undo::{EffectivePart, Hunks, LedgerView, Reverts, UndoRequest};

use super::undoable_hunks::{StandingMove, requested_hunks, undoable_hunks};
use crate::changes::history::{before_and_after, effective_changes};
use crate::support::blocking::run_blocking;

/// The extent of the undo of some turns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UndoExtent {
    /// How many notes it changes.
    pub(crate) notes: u32,
    /// Whether it includes changes of other turns.
    pub(crate) has_others: bool,
}

/// Measures the undo of these turns.
pub(crate) async fn undo_extent(store: &Store, turns: &[TurnId]) -> Result<UndoExtent, UserError> {
    let (mut paths, mut has_others) = (HashSet::new(), false);
    for turn in turns {
        let effects = changes_to_undo(store, turn).await?;
        has_others = has_others
            || effects.iter().any(|effect| !turns.contains(&effect.turn))
            || include_earlier_plans(store, turns, &effects).await?;
        paths.extend(effects.into_iter().map(|effect| effect.path));
    }
    Ok(UndoExtent { notes: u32::try_from(paths.len()).unwrap_or(u32::MAX), has_others })
}

/// Whether one of these effects includes a change that another turn than these planned while the same set was pending:
/// the effect of two plans for a note is of the turn that planned last.
async fn include_earlier_plans(
    store: &Store,
    turns: &[TurnId],
    effects: &[Effect],
) -> Result<bool, UserError> {
    let sets: HashSet<(&ChangeSetId, &TurnId)> =
        effects.iter().map(|effect| (&effect.change_set, &effect.turn)).collect();
    for (set, turn) in sets {
        let mut plans = store.plans_before(set, turn).await?;
        plans.retain(|plan| !turns.contains(&plan.turn));
        if plans.is_empty() {
            continue;
        }
        let scope = UndoScope::ChangeSet { change_set: set.clone() };
        let whole = store.effects_in_scope(&scope).await?;
        let earlier = EarlierPlans::new(plans, whole);
        let mut own = effects.iter().filter(|one| one.change_set == *set && one.turn == *turn);
        if own.any(|effect| earlier.has_one_for(effect)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The plans of other turns for the notes of a change set. Each may be about thousands of them.
struct EarlierPlans {
    moves: HashSet<NotePath>,
    edits: HashSet<NotePath>,
    /// The targets of the moves of the set, by the path before.
    targets: HashMap<NotePath, Vec<NotePath>>,
}

impl EarlierPlans {
    fn new(plans: Vec<EarlierPlan>, set: Vec<Effect>) -> Self {
        let (moves, edits): (Vec<_>, Vec<_>) = plans.into_iter().partition(|plan| plan.is_move);
        let mut targets: HashMap<NotePath, Vec<NotePath>> = HashMap::new();
        for moved in set {
            if let Some(to) = moved.target {
                targets.entry(moved.path).or_default().push(to);
            }
        }
        let paths = |plans: Vec<EarlierPlan>| plans.into_iter().map(|plan| plan.path).collect();
        Self { moves: paths(moves), edits: paths(edits), targets }
    }

    /// Whether one is about the note of an effect in the same way as the effect. A call names a note by where the
    /// moves of the set have put it by then.
    fn has_one_for(&self, effect: &Effect) -> bool {
        let planned = match effect.kind {
            ChangeKind::Create | ChangeKind::Replace => &self.edits,
            kind if is_move(kind) => &self.moves,
            _ => return false,
        };
        let is_planned_after_move = |from: &NotePath| {
            let mut targets = self.targets.get(from).into_iter().flatten();
            targets
                .any(|to| effect.path.after_move(from, to).is_some_and(|at| planned.contains(&at)))
        };
        planned.contains(&effect.path)
            || is_planned_after_move(&effect.path)
            || effect.path.folders().any(|folder| is_planned_after_move(&folder))
    }
}

/// The changes that an undo of a turn undoes, at least in part; of other turns too where they belong together.
async fn changes_to_undo(store: &Store, turn: &TurnId) -> Result<Vec<Effect>, UserError> {
    let scope = UndoScope::Turn { turn: turn.clone() };
    let effects = store.effects_in_scope(&scope).await?;
    let wanted = parts_to_undo(store, &scope, &effects).await?;
    let mut known: BTreeMap<EffectId, Effect> = BTreeMap::new();
    for effect in effects.into_iter().filter(|one| wanted.effects.contains_key(&one.id)) {
        if effect.unit.is_some() && !known.contains_key(&effect.id) {
            let unit = unit_of(store, &effect).await?;
            known.extend(unit.into_iter().map(|peer| (peer.id.clone(), peer)));
        }
        known.insert(effect.id.clone(), effect);
    }
    let standings = effective_changes(store).await?;
    let mut ledger = LedgerView::new(known.values().cloned().collect());
    for effect in known.values() {
        if is_undone(store, &standings, effect).await? {
            ledger.add_undone(effect.id.clone());
        }
    }
    Ok(ledger.undone_with(&wanted).cloned().collect())
}

/// The request for the parts of a scope that are not undone yet. The undo of a turn leaves the moves of others.
pub(super) async fn parts_to_undo(
    store: &Store,
    scope: &UndoScope,
    effects: &[Effect],
) -> Result<UndoRequest, UserError> {
    let standings = effective_changes(store).await?;
    let mut wanted = UndoRequest::undo([]);
    for effect in effects {
        let asked = match scope {
            UndoScope::Effect { effect: one, hunks } if *one == effect.id => requested_hunks(hunks),
            // Hunks are of one note, and leave the others of its unit alone.
            UndoScope::Effect { hunks, .. } if !hunks.is_empty() => continue,
            _ => Hunks::All,
        };
        if let Some(left) = hunks_to_undo(store, &standings, effect, asked).await? {
            wanted.effects.insert(effect.id.clone(), left);
        }
    }
    if matches!(scope, UndoScope::Turn { .. }) {
        leave_other_moves(store, &standings, effects, &mut wanted).await?;
    }
    Ok(wanted)
}

/// As much of what is asked of an effect as is not undone yet; `None` if nothing of it is left.
pub(super) async fn hunks_to_undo(
    store: &Store,
    standings: &Reverts,
    effect: &Effect,
    asked: Hunks,
) -> Result<Option<Hunks>, UserError> {
    let left = match standings.effective_part(&effect.id) {
        EffectivePart::Nothing => return Ok(None),
        EffectivePart::Whole => asked,
        // It cannot be undone at all; the plan says so.
        EffectivePart::Without(_) if effect.purged.is_some() => asked,
        EffectivePart::Without(gone) => {
            let (before, after) = before_and_after(store, effect).await?;
            let all = 0..vault::merge::hunks(&before, &after).len();
            let is_left = |hunk: &usize| asked.contains(*hunk) && !gone.contains(hunk);
            Hunks::Some(all.filter(is_left).collect())
        }
    };
    Ok(Some(left).filter(|left| *left != Hunks::Some(BTreeSet::new())))
}

/// Whether nothing of an effect is left, also where its hunks were undone one by one.
pub(super) async fn is_undone(
    store: &Store,
    standings: &Reverts,
    effect: &Effect,
) -> Result<bool, UserError> {
    match standings.effective_part(&effect.id) {
        EffectivePart::Nothing => Ok(true),
        EffectivePart::Without(gone) if effect.purged.is_none() => {
            let (before, after) = before_and_after(store, effect).await?;
            Ok((0..hunks(&before, &after).len()).all(|hunk| gone.contains(&hunk)))
        }
        EffectivePart::Whole | EffectivePart::Without(_) => Ok(false),
    }
}

/// Requests by their hunks those edits of a turn that can be undone while a move of another turn in their unit stands:
/// whole, they would be undone together with it. Hunks in which the move only rewrote links are left to the move.
pub(super) async fn leave_other_moves(
    store: &Store,
    standings: &Reverts,
    effects: &[Effect],
    wanted: &mut UndoRequest,
) -> Result<(), UserError> {
    let mut units: HashMap<(&ChangeSetId, &CallId), Vec<&Effect>> = HashMap::new();
    for effect in effects.iter().filter(|one| wanted.effects.contains_key(&one.id)) {
        if let Some(unit) = &effect.unit {
            units.entry((&effect.change_set, unit)).or_default().push(effect);
        }
    }
    for own in units.into_values() {
        let Some(first) = own.first() else { continue };
        if own.iter().any(|effect| is_move(effect.kind)) {
            continue;
        }
        let peers = unit_of(store, first).await?;
        let stands = |peer: &&Effect| standings.effective_part(&peer.id) != EffectivePart::Nothing;
        let moves: Vec<StandingMove> =
            peers.iter().filter(stands).filter_map(StandingMove::of).collect();
        if moves.is_empty() {
            continue;
        }
        for (effect, places) in hunks_of_edits(store, &own, &moves).await?.unwrap_or_default() {
            let places: BTreeSet<usize> = match wanted.effects.get(&effect) {
                Some(Hunks::Some(left)) => left.intersection(&places).copied().collect(),
                Some(Hunks::All) | None => places,
            };
            match places.is_empty() {
                true => wanted.effects.remove(&effect),
                false => wanted.effects.insert(effect, Hunks::Some(places)),
            };
        }
    }
    Ok(())
}

/// All effects of the unit of an effect.
pub(super) async fn unit_of(store: &Store, effect: &Effect) -> Result<Vec<Effect>, UserError> {
    let scope = UndoScope::Effect { effect: effect.id.clone(), hunks: Vec::new() };
    Ok(store.effects_in_scope(&scope).await?)
}

/// The hunks of each of these edits that are undone while the moves stand; `None` if one of the effects needs the moves
/// to be undone with it.
async fn hunks_of_edits(
    store: &Store,
    effects: &[&Effect],
    moves: &[StandingMove],
) -> Result<Option<Vec<(EffectId, BTreeSet<usize>)>>, UserError> {
    let mut edits = Vec::new();
    for effect in effects {
        match effect.kind {
            ChangeKind::Create | ChangeKind::MakeFolder => {}
            ChangeKind::Replace if effect.purged.is_none() => {
                let (before, after) = before_and_after(store, effect).await?;
                let (path, moves) = (effect.path.clone(), moves.to_vec());
                let judge = move || undoable_hunks(&path, (&before, &after), &moves);
                let Some(places) = run_blocking(judge).await? else { return Ok(None) };
                edits.push((effect.id.clone(), places));
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(edits))
}

pub(super) const fn is_move(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::Rename | ChangeKind::RenameFolder)
}
