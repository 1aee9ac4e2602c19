//! Undoes changes that were applied, in any order, whatever happened to the notes since.
//!
//! The inverse of a change is merged into the present note, wherever it is now. There is a
//! conflict, with both versions, only where the same lines were changed since; nothing is guessed.
//! The result is a [`ChangeSet`](protocol::ChangeSet) like any other, so an undo can itself be undone.

mod answer;
mod effective_part;
mod inverse;
mod ledger_index;
mod ledger_view;
mod locate;
mod plan;
mod plan_reader;
mod request;
mod requested_groups;
mod trace;

use std::collections::{BTreeSet, HashSet};
use std::mem::take;

use protocol::changes::history::UndoCandidate;
use protocol::{Change, ChangeKind, EffectId, MovedNote, NotePath, Renames, TrashedFile};

pub use answer::{ConflictAnswer, plan_answered_undo};
pub use effective_part::{EffectivePart, Revert, Reverts};
pub use ledger_view::LedgerView;
pub use locate::{VaultFile, VaultReader};
pub use plan::{
    ConflictLines, EffectConflict, EffectConflictReason, RedoneEffect, UndoPlan, UndoneEffect,
};
pub use request::{Hunks, UndoDirection, UndoRequest};

use inverse::UndoPlanner;
use plan_reader::PlanReader;

/// The present path of the note that an effect left, whoever moved it since; `None` when it is
/// gone, or when that is not certain. The ledger view begins with the effect and holds everything
/// that an undo of it needs. No other note is read, and the vault is listed once at most.
#[must_use]
pub fn current_path(
    ledger: &LedgerView,
    effect: &EffectId,
    notes: &dyn VaultReader,
) -> Option<NotePath> {
    path_of_note(ledger, effect, &PlanReader::new(notes))
}

/// The same for several effects, in their order. The vault is listed once at most for all of them.
#[must_use]
pub fn current_paths<'a>(
    ledger: &LedgerView,
    effects: impl IntoIterator<Item = &'a EffectId>,
    notes: &dyn VaultReader,
) -> Vec<Option<NotePath>> {
    let notes = PlanReader::new(notes);
    effects.into_iter().map(|effect| path_of_note(ledger, effect, &notes)).collect()
}

fn path_of_note(
    ledger: &LedgerView,
    effect: &EffectId,
    notes: &PlanReader<'_>,
) -> Option<NotePath> {
    let place = ledger.position_of(effect)?;
    let found = ledger.effect(place)?;
    let trace = ledger.trace(place, found.target.as_ref().unwrap_or(&found.path))?;
    ledger.certain_path(place, &trace, notes)
}

/// The file of the note that an effect left, if the note itself went to the trash and did not come back: where the note
/// is made again it gets the owner and the permissions of that file. The ledger view begins with the effect or earlier.
#[must_use]
pub fn file_in_trash(ledger: &LedgerView, effect: &EffectId) -> Option<TrashedFile> {
    let place = ledger.position_of(effect)?;
    let found = ledger.effect(place)?;
    let trace = ledger.trace(place, found.target.as_ref().unwrap_or(&found.path))?;
    ledger.effect(trace.trashed_at?)?.trashed_file()
}

/// Tells for each effect, in their order, whether the note that it left may be the one at the path: it is there, or that
/// is not certain. It is not where the note is elsewhere or in the trash. The ledger view begins with the earliest of the
/// effects and needs no contents. No note is read, and the vault is listed once at most for all of them.
#[must_use]
pub fn may_be_at<'a>(
    ledger: &LedgerView,
    places: impl IntoIterator<Item = (&'a EffectId, &'a NotePath)>,
    notes: &dyn VaultReader,
) -> Vec<bool> {
    let notes = PlanReader::new(notes);
    let may_be_there = |(effect, path): (&EffectId, &NotePath)| {
        let place = ledger.position_of(effect)?;
        let found = ledger.effect(place)?;
        let trace = ledger.trace(place, found.target.as_ref().unwrap_or(&found.path))?;
        Some(match ledger.path_of_file(&trace, &notes) {
            Some(here) => here == *path,
            // Its text could only tell for certain that it is at its recorded path.
            None => !trace.is_gone && trace.path == *path,
        })
    };
    places.into_iter().map(|place| may_be_there(place).unwrap_or(false)).collect()
}

/// That the user says which note an effect left: `chosen`. To be stored as a rename, after which the
/// effect can be undone there. `None` when its path has another file than the one that was shown, or none,
/// or when the effect is not known, or when it is about contents and none can be read there. A save that the watch
/// saw to replace the file keeps the note.
#[must_use]
pub fn identify_note(
    ledger: &LedgerView,
    effect: &EffectId,
    chosen: &UndoCandidate,
    notes: &dyn VaultReader,
) -> Option<MovedNote> {
    let place = ledger.position_of(effect)?;
    let found = ledger.effect(place)?;
    let trace = ledger.trace(place, found.target.as_ref().unwrap_or(&found.path))?;
    let UndoCandidate { path, file: shown } = chosen;
    let file = notes.file(path)?;
    // A folder has no contents, and a move carries what cannot be read too.
    if matches!(found.kind, ChangeKind::Create | ChangeKind::Replace | ChangeKind::Trash) {
        notes.bytes(path)?;
    }
    ledger.is_successor(*shown, file).then(|| MovedNote {
        from: trace.path,
        to: path.clone(),
        base: trace.file,
        file: Some(file),
    })
}

/// Plans how to undo the requested effects, newest first. A unit is undone whole or not at all; while its moves stand,
/// edits of it that are requested by their hunks are undone each by itself.
#[must_use]
pub fn plan_undo(ledger: &LedgerView, request: &UndoRequest, notes: &dyn VaultReader) -> UndoPlan {
    plan_on_top(ledger, request, &PlanReader::new(notes), None)
}

/// The same, on top of the user's answer to a conflict.
fn plan_on_top(
    ledger: &LedgerView,
    request: &UndoRequest,
    notes: &PlanReader<'_>,
    answer: Option<&ConflictAnswer>,
) -> UndoPlan {
    let mut taken = answer.map(|answer| answer.clone().into_plan(Hunks::All)).unwrap_or_default();
    let request = &match answer {
        Some(answer) => answer.without_redone_edit(request, &mut taken),
        None => request.clone(),
    };
    let is_answered = |effect: &EffectId| answer.is_some_and(|answer| answer.effect == *effect);
    let (mut way, mut restored) = (Renames::default(), BTreeSet::new());
    let groups = ledger.requested_groups(request);
    for unit in ledger.units(request, &groups) {
        let so_far = match unit.len() {
            // The attempt is kept in any case.
            1 => (take(&mut taken.changes), take(&mut way), take(&mut restored)),
            _ => (taken.changes.clone(), way.clone(), restored.clone()),
        };
        let mut attempt = UndoPlanner::new(ledger, (request, &groups), notes, so_far);
        // A note that the answer makes again is a new file, so nothing would tell that it is the note.
        let is_restored = |place: usize| {
            answer.is_some_and(ConflictAnswer::is_restored)
                && ledger.effect(place).is_some_and(|effect| is_answered(&effect.id))
        };
        for place in unit.iter().rev().filter(|place| !is_restored(**place)) {
            attempt.invert(*place);
        }
        let (mut attempt, later) = attempt.into_plan();
        if unit.len() == 1 || attempt.conflicts.is_empty() {
            (way, restored) = later;
            taken.changes = attempt.changes;
            attempt.undone.retain(|undone| !is_answered(&undone.effect));
            taken.undone.extend(attempt.undone);
            taken.redone.extend(attempt.redone);
            for (path, file) in attempt.files {
                taken.files.entry(path).or_insert(file);
            }
            for pair in attempt.moved {
                if !taken.moved.contains(&pair) {
                    taken.moved.push(pair);
                }
            }
        } else {
            // Nothing of the unit is undone, so all hunks are left.
            attempt.conflicts.iter_mut().for_each(|conflict| conflict.hunks = Hunks::All);
        }
        taken.conflicts.extend(attempt.conflicts);
    }
    taken.unit = unit_paths(ledger, &taken);
    taken
}

/// The paths of the changes that belong to the renames of a plan.
fn unit_paths(ledger: &LedgerView, plan: &UndoPlan) -> HashSet<NotePath> {
    if !plan.changes.is_unit() {
        return HashSet::new();
    }
    let renames = plan.changes.renames();
    let is_renamed = |change: &&Change| {
        change.is_rename() || renames.forward(&change.path).as_str() != change.path.as_str()
    };
    let of_units = ledger.effects().iter().filter(|effect| effect.unit.is_some());
    let of_units: HashSet<&EffectId> = of_units.map(|effect| &effect.id).collect();
    let undone = plan.undone.iter().map(|undone| (&undone.effect, &undone.path));
    let redone = plan.redone.iter().map(|redone| (&redone.effect, &redone.path));
    let linked = undone.chain(redone).filter(|(effect, _)| of_units.contains(effect));
    let renamed = plan.changes.changes().filter(is_renamed).map(|change| &change.path);
    renamed.chain(linked.map(|(_, path)| path)).cloned().collect()
}
