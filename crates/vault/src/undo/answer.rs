//! The user's answer to a conflict in a unit: it completes the undo of the unit.

use protocol::{Change, ChangeKind, ChangeSet, EffectId, FileId};

use super::plan_reader::PlanReader;
use super::{
    Hunks, LedgerView, RedoneEffect, UndoPlan, UndoRequest, UndoneEffect, VaultReader, plan_on_top,
};
use crate::merge::hunks;

/// The version that the user chose for the note of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictAnswer {
    /// The effect that could not be undone.
    pub effect: EffectId,
    /// The change that writes the version.
    pub change: Change,
    /// The file that the change is about; `None` for a note that is made again.
    pub file: Option<FileId>,
}

impl ConflictAnswer {
    /// The plan that does no more than the answer says, which undoes these hunks of the effect.
    #[must_use]
    pub fn into_plan(self, hunks: Hunks) -> UndoPlan {
        let (effect, path) = (self.effect, self.change.path.clone());
        UndoPlan {
            undone: vec![UndoneEffect { effect, path: path.clone(), hunks }],
            files: self.file.map(|file| (path, file)).into_iter().collect(),
            changes: ChangeSet::one(self.change),
            ..UndoPlan::default()
        }
    }

    /// If the answer is about an edit that is made again, that is not recorded as an undo of it. The plan is about the
    /// rest of the request: it finds the edit made, unless its note is a new file, where nothing tells that it is the note.
    pub(super) fn without_redone_edit(
        &self,
        request: &UndoRequest,
        plan: &mut UndoPlan,
    ) -> UndoRequest {
        let mut rest = request.clone();
        if request.redone_hunks(&self.effect).is_none() {
            return rest;
        }
        plan.undone.clear();
        if self.is_restored() {
            plan.redone = self.redone_edit(request, &Hunks::All);
            rest.redone.values_mut().for_each(|edits| drop(edits.remove(&self.effect)));
        }
        rest
    }

    /// The edit that the answer makes again, by each effect that had undone it; nothing if the request asks for no such
    /// edit.
    #[must_use]
    pub fn redone_edit(&self, request: &UndoRequest, hunks: &Hunks) -> Vec<RedoneEffect> {
        let undid = request.redone.iter().filter(|(_, edits)| edits.contains_key(&self.effect));
        let redone = |(by, _): (&EffectId, _)| RedoneEffect {
            by: by.clone(),
            effect: self.effect.clone(),
            path: self.change.path.clone(),
            hunks: hunks.clone(),
        };
        undid.map(redone).collect()
    }

    /// Whether it makes a note again that is gone.
    pub(super) fn is_restored(&self) -> bool {
        self.change.kind() == ChangeKind::Create
    }
}

/// Plans the answer together with the undo of the requested effects, which are those of its unit that are left. If
/// another conflict stands in the way of the unit, only the answered effect is undone, whole, and the plan has the
/// other conflicts.
#[must_use]
pub fn plan_answered_undo(
    ledger: &LedgerView,
    request: &UndoRequest,
    notes: &dyn VaultReader,
    answer: &ConflictAnswer,
) -> UndoPlan {
    let notes = &PlanReader::new(notes);
    let whole = plan_on_top(ledger, request, notes, Some(answer));
    if whole.conflicts.is_empty() {
        return whole;
    }
    let alone = request_alone(ledger, request, answer);
    let mut plan = plan_on_top(ledger, &alone, notes, Some(answer));
    if !plan.conflicts.is_empty() {
        // It is asked about again, and is not undone before that.
        plan.undone.clear();
        plan.redone.clear();
    }
    let others = whole.conflicts.into_iter().filter(|one| one.effect != answer.effect);
    plan.conflicts.iter_mut().for_each(|conflict| conflict.hunks = Hunks::All);
    plan.conflicts.extend(others);
    plan
}

/// The request without the rest of the unit of an answered effect. It is by hunks: whole, that rest would go along.
fn request_alone(
    ledger: &LedgerView,
    request: &UndoRequest,
    answer: &ConflictAnswer,
) -> UndoRequest {
    let mut alone = UndoRequest { direction: request.direction, ..UndoRequest::undo([]) };
    for (by, edits) in &request.redone {
        if let Some(hunks) = edits.get(&answer.effect) {
            let edit = [(answer.effect.clone(), hunks.clone())].into();
            alone.redone.insert(by.clone(), edit);
        }
    }
    let undone: Vec<&EffectId> = match alone.redone.is_empty() {
        true => vec![&answer.effect],
        false => alone.redone.keys().collect(),
    };
    let by_hunks = |effect: &EffectId| match request.effects.get(effect) {
        Some(Hunks::Some(left)) => left.clone(),
        Some(Hunks::All) | None => (0..hunk_count(ledger, effect)).collect(),
    };
    let effects = undone.into_iter().map(|one| (one.clone(), Hunks::Some(by_hunks(one))));
    alone.effects = effects.collect();
    alone
}

fn hunk_count(ledger: &LedgerView, effect: &EffectId) -> usize {
    let effect = ledger.position_of(effect).and_then(|at| ledger.effect(at));
    let texts = effect.and_then(|effect| {
        let before = ledger.content(effect.before.as_ref())?;
        Some((before, ledger.content(effect.after.as_ref())?))
    });
    texts.map_or(0, |(before, after)| hunks(before, after).len())
}
