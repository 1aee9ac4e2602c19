//! The vault for one plan, which lists all notes once, however many of them are looked for.

use std::cell::OnceCell;

use protocol::{FileId, NotePath};

use super::{VaultFile, VaultReader};

/// A vault whose listing is read once. A note that comes later is not in it; what has a certain path is read each time.
pub(super) struct PlanReader<'a> {
    notes: &'a dyn VaultReader,
    files: OnceCell<Vec<VaultFile>>,
}

impl<'a> PlanReader<'a> {
    pub(super) const fn new(notes: &'a dyn VaultReader) -> Self {
        Self { notes, files: OnceCell::new() }
    }
}

impl VaultReader for PlanReader<'_> {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        self.notes.bytes(path)
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.notes.file(path)
    }

    fn files(&self) -> Vec<VaultFile> {
        self.files.get_or_init(|| self.notes.files()).clone()
    }

    fn is_tracked(&self, path: &NotePath, file: FileId) -> bool {
        self.notes.is_tracked(path, file)
    }
}
