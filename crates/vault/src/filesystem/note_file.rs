//! A note as an ordinary file: its size, its time and its bytes, read through an open handle.

use std::fs::File;
use std::io::Read;

use protocol::{NotePath, Timestamp};
use rustix::fs::{FileType, Stat};

use crate::{Fingerprint, VaultError};

/// The most a note may weigh, in bytes. A larger file is listed but never opened.
pub const NOTE_LIMIT: u64 = 10 << 20;

/// Whether the file may be read and changed as a note.
pub(crate) fn check_readable(path: &NotePath, stat: &Stat) -> Result<(), VaultError> {
    check_regular_file(path, stat)?;
    check_size(path, size(stat))
}

pub(crate) fn check_regular_file(path: &NotePath, stat: &Stat) -> Result<(), VaultError> {
    let what = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_nlink > 1 => "a file with several names (a hard link)",
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a folder",
        FileType::Symlink => "a link",
        _ => "a pipe, socket or device",
    };
    Err(VaultError::NotANote { path: path.clone(), what })
}

/// When the file was last written, in milliseconds.
pub(crate) fn modified(stat: &Stat) -> Timestamp {
    Fingerprint::from_stat(stat).modified()
}

/// The file's size in bytes.
pub(crate) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or_default()
}

pub(crate) fn check_size(path: &NotePath, size: u64) -> Result<(), VaultError> {
    if size > NOTE_LIMIT {
        return Err(VaultError::TooLarge { path: path.clone(), size });
    }
    Ok(())
}

/// Reads to the end, but never past the limit: the file may grow while it is read.
pub(crate) fn read_contents(
    path: &NotePath,
    file: &File,
    stat: &Stat,
) -> Result<Vec<u8>, VaultError> {
    let mut bytes = Vec::with_capacity(usize::try_from(size(stat)).unwrap_or_default() + 1);
    file.take(NOTE_LIMIT + 1).read_to_end(&mut bytes).map_err(|source| VaultError::Io {
        verb: "read",
        path: path.clone(),
        source,
    })?;
    check_size(path, bytes.len() as u64)?;
    Ok(bytes)
}
