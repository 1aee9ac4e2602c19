//! A change that was carried out, as the ledger keeps it.

use crate::{
    CallId, ChangeKind, ChangeSetId, ContentHash, ConversationId, EffectId, FileAccess, FileId,
    NotePath, Timestamp, TrashedFile, TurnId,
};

/// One change that happened. Its contents are named by their hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// Its id, unique in the ledger.
    pub id: EffectId,
    /// The set it belongs to.
    pub change_set: ChangeSetId,
    /// The conversation, where it is known.
    pub conversation: Option<ConversationId>,
    /// The turn that planned it.
    pub turn: TurnId,
    /// The call that planned it last.
    pub call: CallId,
    /// Effects of one set with the same unit happened together.
    pub unit: Option<CallId>,
    /// The operation, without its bytes.
    pub kind: ChangeKind,
    /// Where it was just before.
    pub path: NotePath,
    /// The new path of a rename.
    pub target: Option<NotePath>,
    /// The name in the trash that the file was moved to or from.
    pub trashed: Option<String>,
    /// The bytes before; `None` also when they are purged.
    pub before: Option<ContentHash>,
    /// The bytes after; `None` also when they are purged.
    pub after: Option<ContentHash>,
    /// The file that stood at the path just before; unknown for changes of earlier versions.
    pub base: Option<FileId>,
    /// The file in which the change left the note; `None` where it is not known, or gone.
    pub file: Option<FileId>,
    /// The permissions and the owner of a note that went to the trash, and those with which one was to be made again;
    /// unknown for other changes and for those of earlier versions.
    pub access: Option<FileAccess>,
    /// When; unknown for changes of the first version.
    pub at: Option<Timestamp>,
    /// The line counts of an effect whose bytes, or one side of them, were purged.
    pub purged: Option<LineCounts>,
}

impl Effect {
    /// The file of a note that went to the trash, or that was restored from there.
    #[must_use]
    pub fn trashed_file(&self) -> Option<TrashedFile> {
        let name = self.trashed.clone()?;
        let file = self.base.filter(|_| self.kind == ChangeKind::Trash);
        Some(TrashedFile { name, file, access: self.access })
    }
}

/// How many lines a change of a note added and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineCounts {
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}
