//! Undoes an edit of a note, hunk by hunk where its lines were changed since, and reapplies text.

use std::collections::BTreeSet;

use protocol::{Change, ChangeKind, ContentHash, Effect, NotePath};

use super::{LocatedNote, MissingNote, UndoPlanner};
use crate::merge::{DiffHunk, LineOrder, MergeConflict, hunks, merge_in_order, revert_hunks};
use crate::undo::{ConflictLines, EffectConflict, EffectConflictReason, Hunks};

impl UndoPlanner<'_> {
    /// Makes the text of a note again that another program overwrote.
    pub(super) fn reapply(&mut self, place: usize, effect: &Effect) {
        let before = match effect.kind {
            ChangeKind::Replace => self.ledger.content(effect.before.as_ref()),
            ChangeKind::Create => Some(&[][..]),
            _ => return,
        };
        let (Some(before), Some(after)) = (before, self.ledger.content(effect.after.as_ref()))
        else {
            return self.add_conflict(place, effect, EffectConflictReason::Purged);
        };
        match self.find_note(place, effect) {
            Ok(found) => {
                let order = LineOrder::from_versions(self.ledger.versions(place));
                let merged = merge_in_order(before, &found.bytes, after, &order);
                let at = (found.path_now.clone(), ContentHash::of(&found.bytes));
                self.plan_merged(effect, found, merged.bytes, Hunks::All);
                self.add_changed_lines(effect, at, merged.conflicts, Hunks::All);
            }
            Err(MissingNote::Gone(_)) if effect.kind == ChangeKind::Create => {
                self.recreate_note(place, effect, after);
            }
            Err(missing) => self.add_missing_note(place, effect, missing),
        }
    }

    pub(super) fn invert_edit(&mut self, place: usize, effect: &Effect) {
        let texts = (
            self.ledger.content(effect.before.as_ref()),
            self.ledger.content(effect.after.as_ref()),
        );
        let (Some(before), Some(after)) = texts else {
            return self.add_conflict(place, effect, EffectConflictReason::Purged);
        };
        let found = match self.find_note(place, effect) {
            Ok(found) => found,
            Err(missing) => return self.add_missing_note(place, effect, missing),
        };
        let wanted = self.requested_hunks(effect);
        let reverted = match &wanted {
            Hunks::All => before.to_vec(),
            Hunks::Some(some) => revert_hunks(before, after, some),
        };
        let order = LineOrder::from_versions(self.ledger.versions(place));
        let merged = merge_in_order(after, &found.bytes, &reverted, &order);
        let (undone, left) = match merged.conflicts.is_empty() {
            true => (wanted, Hunks::Some(BTreeSet::new())),
            false => split_hunks(before, after, wanted, &merged.conflicts),
        };
        // Hunks that are undone without a change of the note are recorded with the answer to the others.
        let is_written = merged.bytes != found.bytes;
        let left = if is_written { left } else { self.requested_hunks(effect) };
        let at = (found.path_now.clone(), ContentHash::of(&found.bytes));
        self.plan_merged(effect, found, merged.bytes, undone);
        self.add_changed_lines(effect, at, merged.conflicts, left);
    }

    /// Plans the merged bytes, which undo these hunks.
    fn plan_merged(&mut self, effect: &Effect, found: LocatedNote, bytes: Vec<u8>, hunks: Hunks) {
        if bytes == found.bytes {
            return;
        }
        self.record_move(&found);
        self.pin_file(&found.path_now, &found.path_now, &found.trace);
        let change = Change::replace(found.path_after, found.bytes, bytes);
        self.plan_change(effect, hunks, found.path_now, change);
    }

    /// Adds the conflict about lines of a note that were changed since, if there are any.
    pub(super) fn add_changed_lines(
        &mut self,
        effect: &Effect,
        (path, note): (NotePath, ContentHash),
        lines: Vec<MergeConflict>,
        hunks: Hunks,
    ) {
        if lines.is_empty() {
            return;
        }
        let place = |conflict: MergeConflict| ConflictLines {
            line: conflict.line,
            now: conflict.ours,
            restored: conflict.theirs,
        };
        let conflict = self.conflict(effect, path, EffectConflictReason::Changed);
        let lines = lines.into_iter().map(place).collect();
        self.conflicts.push(EffectConflict { lines, hunks, note: Some(note), ..conflict });
    }

    /// The text of a note that is gone, as the request would leave it.
    pub(super) fn text_to_restore(&self, place: usize, effect: &Effect) -> Option<Vec<u8>> {
        if let Some(wanted) = self.request.redone_hunks(&effect.id) {
            return self.text_to_restore_with(place, effect, wanted);
        }
        let before = self.ledger.content(effect.before.as_ref())?;
        let Hunks::Some(wanted) = self.requested_hunks(effect) else {
            return Some(before.to_vec());
        };
        let after = self.ledger.content(effect.after.as_ref())?;
        let reverted = revert_hunks(before, after, &wanted);
        let last = self.ledger.newest_version(place).unwrap_or(after);
        let order = LineOrder::from_versions(self.ledger.versions(place));
        let merged = merge_in_order(after, last, &reverted, &order).without_conflicts();
        Some(merged.unwrap_or(reverted))
    }
}

/// The wanted hunks that a merge undid, and those that its conflicts left.
fn split_hunks(
    before: &[u8],
    after: &[u8],
    wanted: Hunks,
    conflicts: &[MergeConflict],
) -> (Hunks, Hunks) {
    let all = hunks(before, after).into_iter().enumerate();
    let all = all.filter(|(place, _)| wanted.contains(*place));
    let is_left = |hunk: &DiffHunk| conflicts.iter().any(|one| one.contains(&hunk.after));
    let (left, undone): (Vec<_>, Vec<_>) = all.partition(|(_, hunk)| is_left(hunk));
    let places = |some: Vec<(usize, DiffHunk)>| some.into_iter().map(|(place, _)| place).collect();
    match left.is_empty() {
        true => (Hunks::Some(BTreeSet::new()), wanted),
        false => (Hunks::Some(places(undone)), Hunks::Some(places(left))),
    }
}
