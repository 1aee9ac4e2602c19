//! The names of the temporary files of changes, and the list of those that could not be removed.

use std::sync::{Arc, Mutex, PoisonError};

use protocol::NotePath;

use crate::filesystem::folder::Inode;

/// How the temporary files of changes begin and end.
pub(crate) const TEMP_PREFIX: &str = ".vaultmate-";
pub(crate) const TEMP_SUFFIX: &str = ".tmp";

/// The temporary files that could not be removed when their change was given up: their folder takes
/// no removals, or did not in that moment. Cheap to clone; all clones are one list.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnremovedTempFiles(Arc<Mutex<Vec<UnremovedTempFile>>>);

#[derive(Debug)]
pub(crate) struct UnremovedTempFile {
    pub(crate) note: NotePath,
    pub(crate) name: String,
    pub(crate) file: Inode,
}

impl UnremovedTempFiles {
    pub(crate) fn push(&self, note: &NotePath, name: &str, file: Inode) {
        let temp = UnremovedTempFile { note: note.clone(), name: name.to_owned(), file };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(temp);
    }

    pub(crate) fn take(&self) -> Vec<UnremovedTempFile> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
