//! The user's answer to a conflict in a unit: it completes the undo of the unit.

use protocol::{Change, ChangeKind, ChangeSet, EffectId, FileId};

use super::{Hunks, LedgerView, UndoPlan, UndoRequest, UndoneEffect, VaultReader, plan_on_top};
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
    let whole = plan_on_top(ledger, request, notes, Some(answer));
    if whole.conflicts.is_empty() {
        return whole;
    }
    // By its hunks: whole, the rest of its unit would go along.
    let left = match request.effects.get(&answer.effect) {
        Some(Hunks::Some(left)) => left.clone(),
        Some(Hunks::All) | None => (0..hunk_count(ledger, &answer.effect)).collect(),
    };
    let effects = [(answer.effect.clone(), Hunks::Some(left))].into();
    let alone = UndoRequest { effects, direction: request.direction };
    let mut plan = plan_on_top(ledger, &alone, notes, Some(answer));
    if !plan.conflicts.is_empty() {
        // It is asked about again, and is not undone before that.
        plan.undone.clear();
    }
    let others = whole.conflicts.into_iter().filter(|one| one.effect != answer.effect);
    plan.conflicts.iter_mut().for_each(|conflict| conflict.hunks = Hunks::All);
    plan.conflicts.extend(others);
    plan
}

fn hunk_count(ledger: &LedgerView, effect: &EffectId) -> usize {
    let effect = ledger.position_of(effect).and_then(|at| ledger.effect(at));
    let texts = effect.and_then(|effect| {
        let before = ledger.content(effect.before.as_ref())?;
        Some((before, ledger.content(effect.after.as_ref())?))
    });
    texts.map_or(0, |(before, after)| hunks(before, after).len())
}
