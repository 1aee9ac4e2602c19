//! The file that a note was before its bytes were exchanged, as long as another program may still
//! write to it.
//!
//! A program that has the note open for writing writes to the file, not to the name. So a note is
//! exchanged only while nobody has its file open for writing, which a read lease tells, and the file is
//! held until the change is recorded. Why, and what a file system without
//! leases costs: `docs/adr/0021-open-writers.md`.

mod release;

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use file_lease::{LeaseError, ReadLease};
use protocol::{NotePath, Timestamp};
use rustix::fs;
use rustix::io::Errno;

use crate::VaultError;
use crate::filesystem::note_file;

/// How many old files are held at once; each is an open file.
const MAX_HELD_FILES: usize = 128;

/// How long a program that opened the file in the last moment may take to write.
const WRITER_TIMEOUT: Duration = Duration::from_secs(30);
const WRITER_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A file that nobody has open for writing, as far as the system tells.
#[derive(Debug)]
pub(crate) struct ReplacedFile {
    path: NotePath,
    file: File,
    /// `None` where the file system grants no leases.
    lease: Option<ReadLease>,
    /// Its size and last write when it was held.
    written: (u64, Timestamp),
}

impl ReplacedFile {
    /// Holds a file that was opened for reading only. A program that opens it for writing from now
    /// on waits until it is released. [`VaultError::BeingWritten`] if a program has it open
    /// already.
    pub(crate) fn hold(path: &NotePath, file: &File) -> Result<Self, VaultError> {
        let again = || file.try_clone().map_err(|error| io_error(path, &error));
        let lease = match ReadLease::take(again()?) {
            Ok(lease) => Some(lease),
            Err(LeaseError::OpenForWriting) => {
                return Err(VaultError::BeingWritten { path: path.clone() });
            }
            Err(LeaseError::Unsupported) => None,
        };
        let stat =
            fs::fstat(file).map_err(|error| VaultError::from_errno("changed", path, error))?;
        Ok(Self { path: path.clone(), file: again()?, lease, written: size_and_mtime(&stat) })
    }

    /// Whether somebody came to write since the file is held.
    pub(crate) fn has_new_writer(&self) -> bool {
        self.lease.as_ref().is_some_and(|lease| !lease.is_unbroken())
    }

    /// Whether nobody can tell who writes to it.
    pub(crate) const fn has_no_lease(&self) -> bool {
        self.lease.is_none()
    }

    /// The bytes written by a program that found the file before the exchange and opened it after, once
    /// nobody has it open any more. `None` if nobody came.
    fn late_write(self) -> Option<(NotePath, Vec<u8>, File)> {
        if !self.has_new_writer() {
            return None;
        }
        let Self { path, mut file, lease, written: before } = self;
        drop(lease);
        wait_for_writers(&file);
        let stat = fs::fstat(&file).ok()?;
        if size_and_mtime(&stat) == before {
            return None;
        }
        file.seek(SeekFrom::Start(0)).ok()?;
        let bytes = note_file::read_contents(&path, &file, &stat).ok()?;
        Some((path, bytes, file))
    }
}

/// A file that had the note's name for a moment and has a temporary one now, and that another program
/// opened for writing meanwhile.
#[derive(Debug)]
struct OpenTempFile {
    path: NotePath,
    temp: String,
    file: File,
    /// Its bytes before that program came. They are kept elsewhere.
    known: Vec<u8>,
}

/// The files that were replaced a moment ago. They have no name any more, or a temporary one.
#[derive(Debug, Default)]
pub(crate) struct ReplacedFiles {
    unlinked: Mutex<Vec<ReplacedFile>>,
    open_temps: Mutex<Vec<OpenTempFile>>,
}

impl ReplacedFiles {
    fn take(&self) -> (Vec<ReplacedFile>, Vec<OpenTempFile>) {
        let nameless =
            std::mem::take(&mut *self.unlinked.lock().unwrap_or_else(PoisonError::into_inner));
        let mut temps = self.open_temps.lock().unwrap_or_else(PoisonError::into_inner);
        (nameless, std::mem::take(&mut *temps))
    }

    fn push(&self, file: ReplacedFile) {
        let mut held = self.unlinked.lock().unwrap_or_else(PoisonError::into_inner);
        held.push(file);
        if held.len() > MAX_HELD_FILES
            && let Some(unwanted) = held.iter().position(|file| !file.has_new_writer())
        {
            drop(held.remove(unwanted));
        }
    }
}

fn wait_for_writers(file: &File) {
    let began = Instant::now();
    while is_open_for_writing(file) && began.elapsed() < WRITER_TIMEOUT {
        std::thread::park_timeout(WRITER_POLL_INTERVAL);
    }
}

/// Whether a program has the file open for writing; `false` where nobody can tell.
pub(crate) fn is_open_for_writing(file: &File) -> bool {
    let lease = file.try_clone().map(ReadLease::take);
    matches!(lease, Ok(Err(LeaseError::OpenForWriting)))
}

fn size_and_mtime(stat: &fs::Stat) -> (u64, Timestamp) {
    (note_file::size(stat), note_file::modified(stat))
}

fn io_error(path: &NotePath, error: &std::io::Error) -> VaultError {
    VaultError::from_errno("changed", path, Errno::from_io_error(error).unwrap_or(Errno::IO))
}
