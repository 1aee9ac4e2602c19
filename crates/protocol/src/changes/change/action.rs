//! One planned change, and what it does to its path.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::folder_contents::FolderContents;
use crate::{ContentHash, FileAccess, FileId, NotePath};

/// One planned change of one note or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its path before any change of the set is applied; for a new file, its future path.
    pub path: NotePath,
    /// The operation on that path, with the bytes it needs.
    pub act: ChangeAction,
}

/// The action on a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeAction {
    /// Nothing is there; the note is made, with the folders it needs.
    Create {
        /// The bytes that shall be there.
        after: Vec<u8>,
        /// The file that went to the trash and that this restores: the note gets its owner,
        /// permissions and attributes.
        like: Option<TrashedFile>,
    },
    /// A note is there; its bytes are exchanged.
    Replace {
        /// The bytes that the plan was made on.
        before: Vec<u8>,
        /// The bytes that shall be there.
        after: Vec<u8>,
    },
    /// A note is there; it goes to the trash.
    Trash {
        /// The bytes that the plan was made on.
        before: Vec<u8>,
    },
    /// It gets another path; nothing in it changes. Folders that the new path needs are made.
    Rename {
        /// The new path. Nothing may be there.
        to: NotePath,
        /// The kind of the entry.
        what: RenamedKind,
    },
    /// A folder is made, with those above it.
    MakeFolder,
    /// A folder goes to the trash with all that is in it.
    TrashFolder {
        /// The exact contents that the plan was based on; a different folder is not touched. `None`
        /// in rows of earlier versions, which did not check.
        holds: Option<FolderContents>,
    },
    /// A folder is restored from the trash.
    RestoreFolder {
        /// Its name in the trash.
        trashed: String,
        /// Its contents when it was trashed, as far as they are known.
        holds: Option<FolderContents>,
    },
}

/// The file of a note that went to the trash. It may be gone from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashedFile {
    /// Its name in the trash.
    pub name: String,
    /// Which file it is; unknown in rows of earlier versions.
    pub file: Option<FileId>,
    /// Its permissions and owner when it went there; unknown in rows of earlier versions.
    pub access: Option<FileAccess>,
}

/// The kind of a renamed entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RenamedKind {
    /// A file: a note, or whatever else lies in the vault.
    File,
    /// A folder; its contents move with it.
    Folder,
}

/// The kind of an [`ChangeAction`], in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A note is made.
    Create,
    /// A note's bytes are exchanged.
    Replace,
    /// A note goes to the trash.
    Trash,
    /// A file gets another path.
    Rename,
    /// A folder gets another path.
    RenameFolder,
    /// A folder is made.
    MakeFolder,
    /// A folder goes to the trash.
    TrashFolder,
    /// A folder is restored from the trash.
    RestoreFolder,
}

impl Change {
    /// A note is made.
    #[must_use]
    pub fn create(path: NotePath, after: impl Into<Vec<u8>>) -> Self {
        Self { path, act: ChangeAction::Create { after: after.into(), like: None } }
    }

    /// A note is made again that went to the trash as this file.
    #[must_use]
    pub fn restore(
        path: NotePath,
        after: impl Into<Vec<u8>>,
        trashed: Option<TrashedFile>,
    ) -> Self {
        Self { path, act: ChangeAction::Create { after: after.into(), like: trashed } }
    }

    /// A note's bytes are exchanged.
    #[must_use]
    pub fn replace(path: NotePath, before: impl Into<Vec<u8>>, after: impl Into<Vec<u8>>) -> Self {
        Self { path, act: ChangeAction::Replace { before: before.into(), after: after.into() } }
    }

    /// A note goes to the trash.
    #[must_use]
    pub fn trash(path: NotePath, before: impl Into<Vec<u8>>) -> Self {
        Self { path, act: ChangeAction::Trash { before: before.into() } }
    }

    /// A file gets another path.
    #[must_use]
    pub const fn rename(path: NotePath, to: NotePath) -> Self {
        Self { path, act: ChangeAction::Rename { to, what: RenamedKind::File } }
    }

    /// A folder gets another path.
    #[must_use]
    pub const fn rename_folder(path: NotePath, to: NotePath) -> Self {
        Self { path, act: ChangeAction::Rename { to, what: RenamedKind::Folder } }
    }

    /// The bytes that the plan was made on, where it knows any; of a folder that goes to the trash, what
    /// it held.
    #[must_use]
    pub fn before(&self) -> Option<&[u8]> {
        match &self.act {
            ChangeAction::Replace { before, .. } | ChangeAction::Trash { before } => Some(before),
            ChangeAction::TrashFolder { holds } | ChangeAction::RestoreFolder { holds, .. } => {
                holds.as_ref().map(FolderContents::as_bytes)
            }
            _ => None,
        }
    }

    /// The bytes that shall be there, where it brings any.
    #[must_use]
    pub fn after(&self) -> Option<&[u8]> {
        match &self.act {
            ChangeAction::Create { after, .. } | ChangeAction::Replace { after, .. } => Some(after),
            _ => None,
        }
    }

    /// The file in the trash that a creation restores.
    #[must_use]
    pub const fn restored_file(&self) -> Option<&TrashedFile> {
        match &self.act {
            ChangeAction::Create { like, .. } => like.as_ref(),
            _ => None,
        }
    }

    /// The hash of the bytes that shall be there.
    #[must_use]
    pub fn after_hash(&self) -> Option<ContentHash> {
        self.after().map(ContentHash::of)
    }

    /// The new path of a rename.
    #[must_use]
    pub const fn target(&self) -> Option<&NotePath> {
        match &self.act {
            ChangeAction::Rename { to, .. } => Some(to),
            _ => None,
        }
    }

    /// Whether it moves a file or folder and leaves all bytes as they are.
    #[must_use]
    pub const fn is_rename(&self) -> bool {
        matches!(self.act, ChangeAction::Rename { .. })
    }

    /// Its kind, in a word.
    #[must_use]
    pub const fn kind(&self) -> ChangeKind {
        match &self.act {
            ChangeAction::Create { .. } => ChangeKind::Create,
            ChangeAction::Replace { .. } => ChangeKind::Replace,
            ChangeAction::Trash { .. } => ChangeKind::Trash,
            ChangeAction::Rename { what: RenamedKind::File, .. } => ChangeKind::Rename,
            ChangeAction::Rename { what: RenamedKind::Folder, .. } => ChangeKind::RenameFolder,
            ChangeAction::MakeFolder => ChangeKind::MakeFolder,
            ChangeAction::TrashFolder { .. } => ChangeKind::TrashFolder,
            ChangeAction::RestoreFolder { .. } => ChangeKind::RestoreFolder,
        }
    }

    /// Whether it comes to nothing: the bytes after are those before.
    pub(super) fn is_noop(&self) -> bool {
        match &self.act {
            ChangeAction::Replace { before, after } => before == after,
            // Not by the key of the path: another spelling of a name is a change.
            ChangeAction::Rename { to, .. } => to.as_str() == self.path.as_str(),
            _ => false,
        }
    }
}
