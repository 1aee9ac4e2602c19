//! `vault`'s view of the notes for taking changes back: the vault itself.

use protocol::{FileId, NotePath};
use vault::undo::{Notes, Standing};
use vault::{EntryKind, Vault};

/// The notes of one vault.
pub(crate) struct VaultNotes(pub(crate) Vault);

impl Notes for VaultNotes {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        // What is in a folder beside the vault was never changed here.
        self.0.takes_changes(path).and_then(|()| self.0.bytes(path)).ok()
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.0.file_id(path)
    }

    fn files(&self) -> Vec<Standing> {
        let Ok(listing) = self.0.list() else { return Vec::new() };
        let standing = |entry: vault::Entry| {
            let file = self.0.file_id(&entry.path)?;
            let is_folder = entry.kind == EntryKind::Folder;
            Some(Standing { path: entry.path, size: entry.size, file, is_folder })
        };
        listing.entries.into_iter().filter_map(standing).collect()
    }

    fn is_followed(&self, path: &NotePath, file: FileId) -> bool {
        self.0.is_followed(path, file)
    }
}
