//! Applied changes of the vault as the user sees them afterwards, and their undo.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::changes::review::NoteHunk;
use crate::{
    CallId, ChangeKind, ChangeSetId, ContentHash, ConversationId, EffectId, FileId, NotePath,
    Timestamp, TurnId,
};

/// Changes that were applied together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppliedSet {
    /// The id by which it is undone as a whole.
    pub id: ChangeSetId,
    /// The conversation that led to it, if one did and it is still known.
    pub conversation: Option<ConversationId>,
    /// The turn that led to it first.
    pub turn: TurnId,
    /// The one who applied it: the assistant, the user or Vaultmate.
    pub by: AppliedBy,
    /// The user's message that led to it, or to the answer that was saved; empty for an undo, a
    /// reapplied change and a repaired link.
    pub request: String,
    /// The time of its last change, by which sets are ordered; 0 where the first version stored
    /// none.
    pub at: Timestamp,
    /// One entry a change, in the order they were applied.
    pub notes: Vec<AppliedNote>,
}

/// Why changes were applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AppliedBy {
    /// The assistant planned them.
    Assistant,
    /// The user undid changes. To undo this set is to redo.
    Undo,
    /// The user reapplied a change that another program had overwritten.
    Reapply,
    /// The user saved an answer as a note.
    Save,
    /// The user repaired a broken link.
    Repair,
}

/// One applied change of one note or folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppliedNote {
    /// The change in the ledger.
    pub effect: EffectId,
    /// The turn that led to it. Changes of several turns may have been accepted together.
    pub turn: TurnId,
    /// Where it was when it was changed.
    pub path: NotePath,
    /// Where it went, for a rename.
    pub target: Option<NotePath>,
    /// The operation that was applied.
    pub kind: ChangeKind,
    /// Entries of a set with the same unit are undone together: a move and the links to it.
    pub unit: Option<CallId>,
    /// Lines added, without those of hunks that were undone while others remain.
    pub added: u32,
    /// Lines removed, in the same way.
    pub removed: u32,
    /// Whether it still stands.
    pub standing: ChangeStatus,
    /// Whether the text of that time was deleted: the change cannot be undone, or its undo cannot
    /// be redone.
    pub too_old: bool,
}

/// Which applied changes to list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListApplied {
    /// Those that one conversation led to; `None` for all of the vault.
    pub conversation: Option<ConversationId>,
    /// Those before this set; `None` begins with the newest.
    pub before: Option<ChangeSetId>,
}

/// Applied changes, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppliedPage {
    /// Events up to this number are in it.
    pub seq: u32,
    /// One entry for each set, newest first.
    pub sets: Vec<AppliedSet>,
    /// Whether older ones are omitted.
    pub more: bool,
}

/// The present state of an applied change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ChangeStatus {
    /// It stands, or was changed further since.
    Stands,
    /// Some of its hunks were undone.
    PartlyUndone,
    /// Every hunk of it was undone.
    Undone,
    /// Another program wrote the note as if the change had never been: it can be reapplied.
    Overwritten,
}

/// The effect of a change in the ledger on a note, hunk by hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppliedHunks {
    /// The change.
    pub effect: EffectId,
    /// Its hunks from top to bottom; [`UndoScope::Effect`] names them by their place here. None
    /// for a rename or a folder, and none that are too old.
    pub hunks: Vec<NoteHunk>,
    /// The places of the undone hunks, in order.
    pub undone: Vec<u32>,
}

/// The changes of a note since a change in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChangedSince {
    /// The change.
    pub effect: EffectId,
    /// Where the note is now; `None` when it is gone.
    pub path: Option<NotePath>,
    /// From what the change left to what stands there now, from top to bottom; none where that is
    /// the same.
    pub hunks: Vec<NoteHunk>,
}

/// The changes to undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum UndoScope {
    /// One change. If it belongs to a rename, the whole rename.
    Effect {
        /// The change, by its id in the ledger.
        effect: EffectId,
        /// Its hunks, by their place in [`AppliedHunks`]; empty for the whole change.
        hunks: Vec<u32>,
    },
    /// All changes that were applied together.
    ChangeSet {
        /// As [`AppliedSet::id`] named it.
        change_set: ChangeSetId,
    },
    /// All changes that a turn led to.
    Turn {
        /// The turn whose sets are undone.
        turn: TurnId,
    },
    /// All changes that a conversation led to.
    Conversation {
        /// The conversation whose sets are undone.
        conversation: ConversationId,
    },
}

/// The result of undoing or reapplying changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UndoResult {
    /// The set that did it: to undo that set is to redo. `None` when nothing changed.
    pub change_set: Option<ChangeSetId>,
    /// The notes and folders that it changed, by their paths afterwards.
    pub changed: Vec<NotePath>,
    /// Changes that could not be undone without a guess: the notes are as they were in these
    /// places.
    pub conflicts: Vec<UndoConflict>,
    /// How many notes were left as they were because the user stopped it, or because one that
    /// belongs to them could not be changed.
    pub left: u32,
}

/// The request of the user that led to a question, and that an answer completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UndoAction {
    /// To undo a change.
    Undo,
    /// To undo an undo.
    Redo,
    /// To reapply a change that another program has overwritten.
    Reapply,
}

/// A change that could not be undone, redone or reapplied whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UndoConflict {
    /// The request that met the conflict.
    pub action: UndoAction,
    /// The change.
    pub effect: EffectId,
    /// The change in the list of applied changes that the conflict belongs to: `effect`, unless that is of an undo or a
    /// redo. Those are not listed, so it is then a change that they undid or made again.
    pub listed: EffectId,
    /// Where the note is now, or was last.
    pub path: NotePath,
    /// The hunks of the change that the answer completes, by their place in [`AppliedHunks`]; empty for all
    /// that is left of the change.
    pub hunks: Vec<u32>,
    /// The bytes of the note that the places are of; `None` when the note is gone. An answer about a note
    /// that has other bytes by then is refused.
    pub shown: Option<ContentHash>,
    /// The reason and the remedy.
    pub why: String,
    /// The places, each with both versions.
    pub places: Vec<ConflictingLines>,
    /// Notes that may be the one that was changed, where that is not certain; the likeliest first. The
    /// user says which it is with [`UndoTarget`].
    pub candidates: Vec<UndoCandidate>,
}

/// A note that may be the one that a change is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UndoCandidate {
    /// Its present path.
    pub path: NotePath,
    /// Which file it is, whatever has its path when the user answers.
    pub file: FileId,
}

/// The user says which note a change is about, where others moved or replaced it unseen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UndoTarget {
    /// The request that asked for the note.
    pub action: UndoAction,
    /// The change.
    pub effect: EffectId,
    /// The hunks that were asked for, as the question names them in [`UndoConflict`].
    pub hunks: Vec<u32>,
    /// The note that was shown. If another file has its path by now, nothing is changed, and the user is
    /// asked again.
    pub note: UndoCandidate,
}

/// Lines that were changed by both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConflictingLines {
    /// 1-based line of the note as it is now.
    pub line: u32,
    /// The present text.
    pub now: String,
    /// The text after the undo, the redo or the reapplied change.
    pub back: String,
}

/// Lines of a note that stand as a change of the assistant left them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AssistantLines {
    /// The first of them, 1-based.
    pub first: u32,
    /// The last of them, 1-based and included.
    pub last: u32,
    /// The set that the change belongs to.
    pub change_set: ChangeSetId,
    /// The conversation that led to it, if it is still known.
    pub conversation: Option<ConversationId>,
    /// The first line of the user's message that led to it, cut to 200 characters; empty where it is
    /// not kept.
    pub request: String,
    /// The time of the change; 0 where the first version stored none.
    pub at: Timestamp,
}

/// The lines of a note that the assistant wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NoteAttribution {
    /// The text that the lines are of.
    pub text: String,
    /// From top to bottom; none where it is not known, and none where it would be more than 1,000.
    pub marks: Vec<AssistantLines>,
}
