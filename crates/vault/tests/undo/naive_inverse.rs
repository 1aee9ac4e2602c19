//! Inverses that look right and are not: what the oracle must catch.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{ChangeKind, EffectId, NotePath};
use vault::undo::{Hunks, UndoRequest};

use crate::oracle::{edits, without};
use crate::simulation::{LineId, SimulatedVault};

/// A way to undo an edit of lines `before` that left `after`, in a note with the lines `now`.
pub(crate) type NaiveInverse =
    fn(now: &[LineId], before: &[LineId], after: &[LineId], hunks: &Hunks) -> Vec<LineId>;

/// How often a careless inverse was tried, and its results.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct NaiveInverseScore {
    /// It did what the oracle says.
    pub(crate) right: usize,
    /// It left other lines than the oracle says.
    pub(crate) wrong: usize,
    /// It went on where the oracle has a conflict.
    pub(crate) guessed: usize,
}

impl NaiveInverseScore {
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            right: self.right + other.right,
            wrong: self.wrong + other.wrong,
            guessed: self.guessed + other.guessed,
        }
    }
}

/// Restores the whole text from before, whatever was written since.
pub(crate) fn whole_text_before(
    _: &[LineId],
    before: &[LineId],
    after: &[LineId],
    hunks: &Hunks,
) -> Vec<LineId> {
    match hunks {
        Hunks::All => before.to_vec(),
        Hunks::Some(hunks) => without(before, after, hunks),
    }
}

/// Undoes each hunk at the line at which it was made, whatever stands there now.
pub(crate) fn old_line_numbers(
    now: &[LineId],
    before: &[LineId],
    after: &[LineId],
    hunks: &Hunks,
) -> Vec<LineId> {
    let mut lines = now.to_vec();
    let (mut added, mut gone) = (0, 0);
    let mut places = Vec::new();
    for (number, edit) in edits(before, after).into_iter().enumerate() {
        places.push((number, edit.start() / 2 + added - gone, edit.new.len(), edit.gone.clone()));
        (added, gone) = (added + edit.new.len(), gone + edit.gone.len());
    }
    for (_, at, height, back) in places.into_iter().rev().filter(|place| hunks.contains(place.0)) {
        let from = at.min(lines.len());
        let to = (at + height).min(lines.len());
        lines.splice(from..to, back);
    }
    lines
}

/// All notes after `chosen` were undone with `inverse`, which is even given the present path of
/// each note; `None` when more than lines was changed.
pub(crate) fn undone(
    world: &SimulatedVault,
    request: &UndoRequest,
    chosen: &BTreeSet<EffectId>,
    inverse: NaiveInverse,
) -> Option<BTreeMap<NotePath, Vec<LineId>>> {
    let mut notes = world.notes.clone();
    for at in (0..world.ledger.len()).rev() {
        let effect = &world.ledger[at];
        if !chosen.contains(&effect.id) {
            continue;
        }
        if effect.kind != ChangeKind::Replace {
            return None;
        }
        let note = notes.values_mut().find(|note| note.identity == world.note_of_effect[at])?;
        let (before, after) = &world.lines[&effect.id];
        let hunks = request.effects.get(&effect.id).unwrap_or(&Hunks::All);
        note.lines = inverse(&note.lines, before, after, hunks);
    }
    Some(notes.into_iter().map(|(path, note)| (path, note.lines)).collect())
}
