//! The kind and content of a name in an open folder.

use std::fs::File;
use std::io::Read;

use protocol::NotePath;
use rustix::fs::{self, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::VaultError;
use crate::filesystem::folder::FolderHandle;
use crate::filesystem::note_file::{self, NOTE_LIMIT};

/// The entry under a name.
#[derive(Debug)]
pub(crate) enum EntryContent {
    Nothing,
    File(Vec<u8>),
    /// A folder, link, pipe, or a file too large to be one of ours.
    Other,
}

/// Reads the entry `name` of `folder`, without following a link or waiting for a pipe; messages
/// name it by `path`.
pub(crate) fn read_entry(
    folder: &FolderHandle,
    name: &str,
    path: &NotePath,
) -> Result<EntryContent, VaultError> {
    let failed = |error| VaultError::from_errno("changed", path, error);
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let file = match folder.open(name, flags, Mode::empty()) {
        Ok(handle) => File::from(handle),
        Err(Errno::NOENT) => return Ok(EntryContent::Nothing),
        Err(Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::XDEV) => {
            return Ok(EntryContent::Other);
        }
        Err(error) => return Err(failed(error)),
    };
    let stat = fs::fstat(&file).map_err(failed)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(EntryContent::Other);
    }
    let size = usize::try_from(note_file::size(&stat).min(NOTE_LIMIT)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(size + 1);
    let read = file.take(NOTE_LIMIT + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    Ok(if bytes.len() as u64 > NOTE_LIMIT {
        EntryContent::Other
    } else {
        EntryContent::File(bytes)
    })
}
