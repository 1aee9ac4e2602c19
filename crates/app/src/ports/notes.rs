//! `vault`'s view of the notes for taking changes back: the vault itself.

use protocol::NotePath;
use vault::undo::{Notes, Standing};
use vault::{EntryKind, Vault};

/// The notes of one vault.
pub(crate) struct VaultNotes(pub(crate) Vault);

impl Notes for VaultNotes {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        // What is in a folder beside the vault was never changed here.
        self.0.takes_changes(path).and_then(|()| self.0.bytes(path)).ok()
    }

    fn is_there(&self, path: &NotePath) -> bool {
        self.0.inode(path).is_some()
    }

    fn files(&self) -> Vec<Standing> {
        let Ok(listing) = self.0.list() else { return Vec::new() };
        let files = listing
            .entries
            .into_iter()
            .filter(|entry| matches!(entry.kind, EntryKind::Note | EntryKind::Attachment));
        let standing = |entry: vault::Entry| {
            let inode = self.0.inode(&entry.path)?;
            Some(Standing { path: entry.path, size: entry.size, inode })
        };
        files.filter_map(standing).collect()
    }
}
