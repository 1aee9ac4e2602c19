//! The plan of an undo, and what it leaves.

use std::collections::{HashMap, HashSet};

use protocol::changes::history::UndoCandidate;
use protocol::{Change, ChangeKind, ChangeSet, ContentHash, EffectId, FileId, MovedNote, NotePath};

use super::request::Hunks;

/// The plan of an undo. Nothing is written yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UndoPlan {
    /// The changes that do it.
    pub changes: ChangeSet,
    /// The paths of those changes that happen all or not at all: what is renamed, contents of it, and the inverses of
    /// effects that were of a unit. The others happen each for itself, so each can be redone for itself. Empty if
    /// nothing is renamed.
    pub unit: HashSet<NotePath>,
    /// The effects that are undone, at least in part.
    pub undone: Vec<UndoneEffect>,
    /// The edits that are made again, at least in part, while others stay undone that were undone with them. If the change
    /// that had undone them is in `undone` too, their lines are those that it removed.
    pub redone: Vec<RedoneEffect>,
    /// The effects that cannot be undone without a guess.
    pub conflicts: Vec<EffectConflict>,
    /// Of the changes that are about a note which the ledger knows by its file, that file: they are to be
    /// made on no other.
    pub files: HashMap<NotePath, FileId>,
    /// Notes that it changes and that were renamed without us. To be stored as renames, so that they
    /// are found again.
    pub moved: Vec<MovedNote>,
}

impl UndoPlan {
    /// Whether more may be undone once its changes are made, so that it is worth to plan once more: notes in a folder
    /// that comes back from the trash, and effects that do not go together with these changes.
    #[must_use]
    pub fn leaves_more(&self) -> bool {
        let restores = |change: &Change| change.kind() == ChangeKind::RestoreFolder;
        self.changes.changes().any(restores)
            || self.conflicts.iter().any(|one| one.why == EffectConflictReason::Entangled)
    }
}

/// An effect that a change of the set undoes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoneEffect {
    /// The effect that is undone.
    pub effect: EffectId,
    /// The path of the change that does it, as the change set has it: before all renames of the set.
    pub path: NotePath,
    /// The hunks of it that the change undoes.
    pub hunks: Hunks,
}

/// An edit that a change of the set makes again. If the set does not change its note, the note has it already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedoneEffect {
    /// The effect that had undone it, and others.
    pub by: EffectId,
    /// The edit.
    pub effect: EffectId,
    /// The path of the change that does it, as the change set has it: before all renames of the set.
    pub path: NotePath,
    /// The hunks of it that the change makes again.
    pub hunks: Hunks,
}

/// An effect that cannot be undone whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectConflict {
    /// The effect that stays, in whole or in part.
    pub effect: EffectId,
    /// Where it is now, or was last.
    pub path: NotePath,
    /// Why not.
    pub why: EffectConflictReason,
    /// The hunks that are left to undo: the plan undoes the others.
    pub hunks: Hunks,
    /// The bytes of the note that the lines are of; `None` for a note that is gone.
    pub note: Option<ContentHash>,
    /// The lines that were changed since.
    pub lines: Vec<ConflictLines>,
    /// Notes that may be the one that is meant, where that is not certain; the likeliest first.
    pub candidates: Vec<UndoCandidate>,
}

/// Lines in two versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictLines {
    /// The line of the note as it is now, counted from zero.
    pub line: usize,
    /// The present text.
    pub now: Vec<u8>,
    /// The text that the undo would write, or the reapplied change.
    pub restored: Vec<u8>,
}

/// Why an effect cannot be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectConflictReason {
    /// The same lines were changed since.
    Changed,
    /// The note is gone.
    Gone,
    /// Another file stands where the note was, and nobody saw how it got there.
    Unsure,
    /// The note is there, and cannot be read.
    Unreadable,
    /// Something else stands where it would go.
    Taken,
    /// It got yet another path since.
    Moved,
    /// The contents were purged.
    Purged,
    /// It does not go together with the rest.
    Entangled,
}
