//! A file of our own whose reports come in one row with those of the vault: once a touch of it is
//! heard, everything is known that happened before.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Watched by the same watcher as the vault. Removed when it is dropped.
#[derive(Debug)]
pub(super) struct SyncCookie {
    file: NamedTempFile,
    is_pending: bool,
}

impl SyncCookie {
    /// `None` where the system has no place for it: then nothing becomes certain.
    pub(super) fn create() -> Option<Self> {
        NamedTempFile::new().ok().map(|file| Self { file, is_pending: false })
    }

    /// Where it is, for watching.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Touches it, unless an earlier touch is still to be heard. Whether it did.
    pub(super) fn touch(&mut self) -> bool {
        if self.is_pending {
            return false;
        }
        let file = self.file.as_file_mut();
        let written = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(b"."));
        self.is_pending = written.is_ok();
        self.is_pending
    }

    /// A touch was reported. Whether it is one of ours that was not heard yet.
    pub(super) fn acknowledge(&mut self) -> bool {
        std::mem::take(&mut self.is_pending)
    }
}
