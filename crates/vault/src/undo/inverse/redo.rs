//! Makes edits again that were undone together with others, which stay undone: each edit is merged into the present
//! note as it was made, so nothing is written but its own lines.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{Change, ContentHash, Effect, EffectId};

use super::UndoPlanner;
use super::written_lines::WrittenLines;
use crate::merge::{DiffHunk, HunkSide, LineOrder, MergeConflict, assemble, hunks, merge_in_order};
use crate::undo::{ConflictLines, EffectConflictReason, Hunks, RedoneEffect};

impl UndoPlanner<'_> {
    /// Undoes the undo of several edits as a whole. If only a part of that is possible, the edits are made again one by
    /// one instead, so that each is recorded by itself; but only where the note gets the same text: that of an edit may
    /// be no longer stored, or have links to where notes were before a move. Nor are they where two are in conflict
    /// about one line: the user would be asked twice about it, once with a text that the other edit replaced.
    pub(super) fn redo_whole_first(
        &mut self,
        place: usize,
        by: &Effect,
        edits: &BTreeMap<EffectId, Hunks>,
    ) {
        let (mut whole, mut one_by_one) = (self.clone(), self.clone());
        whole.invert_edit(place, by);
        one_by_one.redo_edits(by, edits);
        let is_partial =
            whole.undone.len() > self.undone.len() && whole.conflicts.len() > self.conflicts.len();
        let asked = one_by_one.conflicts.get(self.conflicts.len()..).unwrap_or_default();
        let is_same = one_by_one.planned == whole.planned
            && one_by_one.redone.len() > self.redone.len()
            && !asked.is_empty()
            && asked.iter().all(|one| one.why == EffectConflictReason::Changed);
        *self = match is_partial && is_same && !one_by_one.asks_twice(by, edits) {
            true => Self { undone: whole.undone, ..one_by_one },
            false => whole,
        };
    }

    /// Whether two edits that this plan could not make again are in conflict about one line of the note.
    fn asks_twice(&self, by: &Effect, edits: &BTreeMap<EffectId, Hunks>) -> bool {
        // The conflicts name lines of different texts: each edit was merged into the result of those before it.
        let mut again = self.clone();
        again.redo_edits(by, edits);
        let asked: Vec<Vec<&ConflictLines>> = again
            .conflicts
            .iter()
            .skip(self.conflicts.len())
            .map(|one| one.lines.iter().filter(|lines| self.asks_about(&one.effect, lines)))
            .map(Iterator::collect)
            .collect();
        let later = |at: usize| asked.iter().skip(at + 1);
        asked.iter().enumerate().any(|(at, one)| later(at).any(|other| share_line(one, other)))
    }

    /// Whether a conflict of this plan about an edit is about the same text. Of the text that the other edits left, an
    /// edit may be in conflict with more.
    fn asks_about(&self, edit: &EffectId, lines: &ConflictLines) -> bool {
        let is_same = |own: &ConflictLines| own.now == lines.now && own.restored == lines.restored;
        let mut of_edit = self.conflicts.iter().filter(|conflict| conflict.effect == *edit);
        of_edit.any(|conflict| conflict.lines.iter().any(is_same))
    }

    /// Makes some of the edits again that `by` undid, oldest first.
    pub(super) fn redo_edits(&mut self, by: &Effect, edits: &BTreeMap<EffectId, Hunks>) {
        let position = |(edit, hunks)| Some((self.ledger.position_of(edit)?, hunks));
        let mut oldest_first: Vec<(usize, &Hunks)> = edits.iter().filter_map(position).collect();
        oldest_first.sort_by_key(|(place, _)| *place);
        for (place, hunks) in oldest_first {
            if let Some(edit) = self.ledger.effect(place) {
                self.redo_edit(by, (place, edit), hunks);
            }
        }
    }

    fn redo_edit(&mut self, by: &Effect, (place, edit): (usize, &Effect), wanted: &Hunks) {
        let written = self.written_lines(by);
        let Some((undone, after)) = self.undone_and_redone(edit, wanted, &written) else {
            return self.add_conflict(place, edit, EffectConflictReason::Purged);
        };
        let found = match self.find_note(place, edit) {
            Ok(found) => found,
            Err(missing) => return self.add_missing_note(place, edit, missing),
        };
        let order = LineOrder::from_versions(self.ledger.versions(place));
        let merged = merge_in_order(&undone, &found.bytes, after, &order);
        let is_written = merged.bytes != found.bytes;
        let (done, left) = match merged.conflicts.as_slice() {
            [] => (Some(wanted.clone()), Hunks::Some(BTreeSet::new())),
            conflicts if is_written => split_redone_hunks(&undone, after, wanted, conflicts),
            // They are recorded with the answer to the others.
            _ => (None, wanted.clone()),
        };
        let (path, at) = (found.path_now.clone(), ContentHash::of(&found.bytes));
        let is_planned = if is_written {
            self.record_move(&found);
            self.pin_file(&found.path_now, &found.path_now, &found.trace);
            let change = Change::replace(found.path_after, found.bytes, merged.bytes);
            self.add_change(edit, found.path_now, change).is_some()
        } else {
            true
        };
        if let Some(hunks) = done.filter(|_| is_planned) {
            let (by, effect) = (by.id.clone(), edit.id.clone());
            self.redone.push(RedoneEffect { by, effect, path: path.clone(), hunks });
        }
        self.add_changed_lines(edit, (path, at), merged.conflicts, left);
    }

    fn written_lines(&self, by: &Effect) -> WrittenLines<'_> {
        let old = self.ledger.content(by.before.as_ref());
        let versions = old.zip(self.ledger.content(by.after.as_ref()));
        versions.map(|(old, new)| WrittenLines::between(old, new)).unwrap_or_default()
    }

    /// The text of an edit with these hunks undone, and with them. Undone lines have their links as `written`: the undo may
    /// have rewritten them.
    fn undone_and_redone(
        &self,
        edit: &Effect,
        wanted: &Hunks,
        written: &WrittenLines<'_>,
    ) -> Option<(Vec<u8>, &[u8])> {
        let before = self.ledger.content(edit.before.as_ref())?;
        let after = self.ledger.content(edit.after.as_ref())?;
        let (made, lines) = (hunks(before, after), split_lines(before));
        let undone = assemble(before, after, |number| match wanted {
            Hunks::Some(some) if !some.contains(&number) => HunkSide::New,
            Hunks::All | Hunks::Some(_) => {
                let hunk = made.get(number).and_then(|hunk| lines.get(hunk.before.clone()));
                HunkSide::Other(written.with_written_targets(&hunk.unwrap_or_default().concat()))
            }
        });
        Some((undone, after))
    }

    /// The last text of a note that is gone, with an edit made again.
    pub(super) fn text_to_restore_with(
        &self,
        place: usize,
        edit: &Effect,
        wanted: &Hunks,
    ) -> Option<Vec<u8>> {
        let (undone, after) = self.undone_and_redone(edit, wanted, &WrittenLines::default())?;
        Some(self.last_text_with((place, edit), &undone, after))
    }
}

/// Whether two conflicts about one text of a note have a line in common.
fn share_line(one: &[&ConflictLines], other: &[&ConflictLines]) -> bool {
    let lines = |place: &ConflictLines| place.line..place.line + split_lines(&place.now).len();
    let meets = |first: &ConflictLines, second: &ConflictLines| {
        let (first, second) = (lines(first), lines(second));
        first.start == second.start || (first.start < second.end && second.start < first.end)
    };
    one.iter().any(|first| other.iter().any(|second| meets(first, second)))
}

fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The wanted hunks that a merge made again, if it made any, and those that its conflicts left. Hunks that cannot be told
/// apart are left together.
fn split_redone_hunks(
    undone: &[u8],
    after: &[u8],
    wanted: &Hunks,
    conflicts: &[MergeConflict],
) -> (Option<Hunks>, Hunks) {
    let made = hunks(undone, after);
    let places: Vec<usize> = match wanted {
        Hunks::All => (0..made.len()).collect(),
        Hunks::Some(some) => some.iter().copied().collect(),
    };
    if places.len() != made.len() {
        return (None, wanted.clone());
    }
    let is_left = |hunk: &DiffHunk| conflicts.iter().any(|one| one.contains(&hunk.before));
    let (left, done): (Vec<_>, Vec<_>) =
        places.into_iter().zip(made).partition(|(_, hunk)| is_left(hunk));
    let places = |some: Vec<(usize, _)>| some.into_iter().map(|(place, _)| place).collect();
    (Some(Hunks::Some(places(done))), Hunks::Some(places(left)))
}
