//! Undoes an edit of a note, hunk by hunk where its lines were changed since, and reapplies text.

use std::collections::BTreeSet;

use protocol::{Change, ChangeKind, ContentHash, Effect, NotePath};

use super::{LocatedNote, MissingNote, UndoPlanner};
use crate::merge::{DiffHunk, LineOrder, MergeConflict, hunks, merge_in_order, revert_hunks};
use crate::undo::{ConflictLines, EffectConflict, EffectConflictReason, Hunks, UndoDirection};

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
        let wanted = self.requested_hunks(effect);
        let found = match self.find_note(place, effect) {
            Ok(found) => found,
            Err(MissingNote::Gone(_) | MissingNote::Unsure(_))
                if !self.is_trashed(place, effect)
                    && self.are_left_to_moves(effect, &wanted_hunks(before, after, &wanted)) =>
            {
                return;
            }
            Err(missing) => return self.add_missing_note(place, effect, missing),
        };
        let reverted = without_hunks(before, after, &wanted);
        let order = LineOrder::from_versions(self.ledger.versions(place));
        let mut merged = merge_in_order(after, &found.bytes, &reverted, &order);
        if !merged.conflicts.is_empty() {
            let wanted = wanted_hunks(before, after, &wanted);
            merged.conflicts.retain(|conflict| {
                let is_in = |(_, hunk): &&(usize, DiffHunk)| conflict.contains(&hunk.after);
                let inside: Vec<(usize, DiffHunk)> = wanted.iter().filter(is_in).cloned().collect();
                !self.are_left_to_moves(effect, &inside)
            });
        }
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

    /// Whether the ledger had the note of an effect trashed. It comes back as it was, without the links of now.
    fn is_trashed(&self, place: usize, effect: &Effect) -> bool {
        self.ledger.trace(place, &effect.path).is_some_and(|trace| trace.is_gone)
    }

    /// Whether moves that are undone too only rewrote links in these hunks, of which there is one at least.
    fn are_left_to_moves(&self, edit: &Effect, hunks: &[(usize, DiffHunk)]) -> bool {
        let links = self.ledger.link_hunks(&edit.id);
        links.is_some_and(|links| {
            !hunks.is_empty()
                && self.groups.undo_move_with(edit)
                && hunks.iter().all(|(place, _)| links.contains(place))
        })
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

    /// The text in which a note that is gone can be made again: its last one, with what is requested of the edit done in
    /// it. An answer writes exactly this. Where later changes rewrote lines of the edit, they stay as they were last, so
    /// that no line that the ledger has is lost.
    pub(super) fn text_to_restore(&self, place: usize, effect: &Effect) -> Option<Vec<u8>> {
        if let Some(wanted) = self.request.redone_hunks(&effect.id) {
            return self.text_to_restore_with(place, effect, wanted);
        }
        let before = self.ledger.content(effect.before.as_ref());
        let after = self.ledger.content(effect.after.as_ref());
        let edit = before.zip(after).filter(|_| effect.kind == ChangeKind::Replace);
        match (self.request.direction, edit) {
            (UndoDirection::Back, Some((before, after))) => {
                let reverted = without_hunks(before, after, &self.requested_hunks(effect));
                Some(self.last_text_with((place, effect), after, &reverted))
            }
            (UndoDirection::Again, Some((before, after))) => {
                Some(self.last_text_with((place, effect), before, after))
            }
            (UndoDirection::Back, None) => before.map(<[u8]>::to_vec),
            (UndoDirection::Again, None) => after.map(<[u8]>::to_vec),
        }
    }

    /// The last text of the note of an effect, with the changes from `base` to `wanted` of all lines that nothing else
    /// changed. If no later text is known, it is `wanted`.
    pub(super) fn last_text_with(
        &self,
        (place, effect): (usize, &Effect),
        base: &[u8],
        wanted: &[u8],
    ) -> Vec<u8> {
        let left_at = effect.target.as_ref().unwrap_or(&effect.path);
        // The trace never leads to another note that had its path or its name in the trash.
        let trace = self.ledger.trace(place, left_at);
        let traced = trace.and_then(|trace| self.ledger.content(trace.text.as_ref()));
        let last = traced.or_else(|| self.ledger.newest_version(place)).unwrap_or(base);
        let order = LineOrder::from_versions(self.ledger.versions(place));
        merge_in_order(base, last, wanted, &order).bytes
    }
}

/// The text of a note after an edit, with these hunks of the edit undone.
fn without_hunks(before: &[u8], after: &[u8], undone: &Hunks) -> Vec<u8> {
    match undone {
        Hunks::All => before.to_vec(),
        Hunks::Some(some) => revert_hunks(before, after, some),
    }
}

/// The wanted hunks of an edit with their places among all.
fn wanted_hunks(before: &[u8], after: &[u8], wanted: &Hunks) -> Vec<(usize, DiffHunk)> {
    let all = hunks(before, after).into_iter().enumerate();
    all.filter(|(place, _)| wanted.contains(*place)).collect()
}

/// The wanted hunks that a merge undid, and those that its conflicts left.
fn split_hunks(
    before: &[u8],
    after: &[u8],
    wanted: Hunks,
    conflicts: &[MergeConflict],
) -> (Hunks, Hunks) {
    let all = wanted_hunks(before, after, &wanted).into_iter();
    let is_left = |hunk: &DiffHunk| conflicts.iter().any(|one| one.contains(&hunk.after));
    let (left, undone): (Vec<_>, Vec<_>) = all.partition(|(_, hunk)| is_left(hunk));
    let places = |some: Vec<(usize, DiffHunk)>| some.into_iter().map(|(place, _)| place).collect();
    match left.is_empty() {
        true => (Hunks::Some(BTreeSet::new()), wanted),
        false => (Hunks::Some(places(undone)), Hunks::Some(places(left))),
    }
}
