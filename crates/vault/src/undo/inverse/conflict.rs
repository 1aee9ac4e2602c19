//! The conflicts of an undo: notes that are gone, not certain, or not readable.

use protocol::changes::history::UndoCandidate;
use protocol::{Effect, NotePath};

use super::{MissingNote, UndoPlanner};
use crate::undo::plan_reader::NoteDigest;
use crate::undo::{ConflictLines, EffectConflict, EffectConflictReason, Hunks};

impl UndoPlanner<'_> {
    pub(super) fn requested_hunks(&self, effect: &Effect) -> Hunks {
        let undone = self.request.effects.get(&effect.id);
        undone.or_else(|| self.request.redone_hunks(&effect.id)).cloned().unwrap_or(Hunks::All)
    }

    /// A conflict about all that was requested of an effect.
    pub(super) fn conflict(
        &self,
        effect: &Effect,
        path: NotePath,
        why: EffectConflictReason,
    ) -> EffectConflict {
        let hunks = match self.groups.undo_move_with(effect) {
            true => Hunks::All,
            false => self.requested_hunks(effect),
        };
        EffectConflict {
            effect: effect.id.clone(),
            path,
            why,
            hunks,
            note: None,
            lines: Vec::new(),
            candidates: Vec::new(),
        }
    }

    pub(super) fn add_conflict(
        &mut self,
        place: usize,
        effect: &Effect,
        why: EffectConflictReason,
    ) {
        self.add_conflict_with_candidates(place, effect, why, Vec::new());
    }

    /// The note of an effect is not there, or nobody knows which it is.
    pub(super) fn add_missing_note(&mut self, place: usize, effect: &Effect, missing: MissingNote) {
        match missing {
            MissingNote::Gone(candidates) => {
                let why = self.missing_reason(place, effect, &candidates);
                self.add_conflict_with_candidates(place, effect, why, candidates);
            }
            MissingNote::Unsure(candidates) => self.add_conflict_with_candidates(
                place,
                effect,
                EffectConflictReason::Unsure,
                candidates,
            ),
            MissingNote::MadeAgain => {
                self.add_conflict(place, effect, EffectConflictReason::Entangled);
            }
            MissingNote::Unreadable(path) => {
                let why = EffectConflictReason::Unreadable;
                self.conflicts.push(self.conflict(effect, path, why));
            }
        }
    }

    /// A note that is gone can be restored only where nothing is in its place.
    fn missing_reason(
        &self,
        place: usize,
        effect: &Effect,
        candidates: &[UndoCandidate],
    ) -> EffectConflictReason {
        let left_at = effect.target.as_ref().unwrap_or(&effect.path);
        let trashed = self.ledger.trace(place, left_at).filter(|trace| trace.is_gone);
        match trashed.filter(|trace| self.notes.file(&trace.path).is_some()) {
            None => EffectConflictReason::Gone,
            Some(_) if candidates.is_empty() => EffectConflictReason::Taken,
            Some(_) => EffectConflictReason::Unsure,
        }
    }

    /// A note that was made and is gone needs no undo, unless one that says the same may be it, or one with its name that
    /// says most of it: somebody saved it as a new file and moved that. What came into the place of one that we trashed
    /// is another note.
    pub(super) fn add_missing_creation(
        &mut self,
        place: usize,
        effect: &Effect,
        made: &[u8],
        missing: MissingNote,
    ) {
        match missing {
            MissingNote::Gone(mut candidates) => {
                let trace = self.ledger.trace(place, &effect.path);
                if trace.is_some_and(|trace| trace.is_gone) {
                    return;
                }
                let said = NoteDigest::of(made);
                candidates.retain(|note| {
                    self.notes.digest(&note.path).is_some_and(|held| {
                        let has_name = note.path.name() == effect.path.name();
                        held.content == said.content
                            || (has_name && said.mostly_shared_lines(&held).is_some())
                    })
                });
                if !candidates.is_empty() {
                    self.add_conflict_with_candidates(
                        place,
                        effect,
                        EffectConflictReason::Gone,
                        candidates,
                    );
                }
            }
            other => self.add_missing_note(place, effect, other),
        }
    }

    fn add_conflict_with_candidates(
        &mut self,
        place: usize,
        effect: &Effect,
        why: EffectConflictReason,
        candidates: Vec<UndoCandidate>,
    ) {
        let left_at = effect.target.as_ref().unwrap_or(&effect.path);
        let trace = self.ledger.trace(place, left_at);
        let path = trace.map_or_else(|| left_at.clone(), |trace| trace.path);
        let back = match why {
            EffectConflictReason::Gone | EffectConflictReason::Taken => {
                self.text_to_restore(place, effect)
            }
            _ => None,
        };
        let now = self.notes.bytes(&path).unwrap_or_default();
        let lines = |back| ConflictLines { line: 0, now, restored: back };
        let lines = back.map(lines).into_iter().collect();
        let conflict = self.conflict(effect, path, why);
        self.conflicts.push(EffectConflict { lines, candidates, ..conflict });
    }
}
