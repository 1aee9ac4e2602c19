//! A file that grows under a temporary name, and takes its own when it is whole.
#![expect(clippy::disallowed_methods, reason = "an export is the user's file, not a note")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use protocol::{ErrorCode, UserError};

use crate::support::blocking::run_blocking;
use crate::support::clock::new_id;
use crate::user_texts;

/// The size of the write buffer.
const BUFFER_BYTES: usize = 256 << 10;

/// Whether a file of that name is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingFile {
    /// It is replaced: the user was asked.
    Replaced,
    /// It stays, and nothing is written.
    Kept,
}

/// The file while it grows. Dropped before the end it leaves nothing.
pub(super) struct AtomicFileWriter {
    target: PathBuf,
    partial: PartialFile,
    existing: ExistingFile,
    file: Option<File>,
    pending: String,
}

/// The name of what is not whole yet; it goes with this value.
struct PartialFile(PathBuf);

impl Drop for PartialFile {
    fn drop(&mut self) {
        // It is gone already where it took its own name.
        let _ = fs::remove_file(&self.0);
    }
}

impl AtomicFileWriter {
    /// Begins beside the place where the file shall be.
    pub(super) async fn create(target: &Path, existing: ExistingFile) -> Result<Self, UserError> {
        let target = std::path::absolute(target).map_err(|error| io_error(target, &error))?;
        if existing == ExistingFile::Kept && target.symlink_metadata().is_ok() {
            return Err(already_exists_error(&target));
        }
        let id: protocol::CallId = new_id();
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let part = target.with_file_name(format!(".{name}.{id}.part"));
        let (made, named) = (part.clone(), target.clone());
        let file = run_blocking(move || {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(&made)
        });
        let file = file.await?.map_err(|error| io_error(&named, &error))?;
        let pending = String::new();
        Ok(Self { target, partial: PartialFile(part), existing, file: Some(file), pending })
    }

    /// Adds text at the end.
    pub(super) async fn append(&mut self, text: String) -> Result<(), UserError> {
        self.pending.push_str(&text);
        if self.pending.len() >= BUFFER_BYTES { self.flush().await } else { Ok(()) }
    }

    /// Writes all of it to the disk and gives the file its name.
    pub(super) async fn finish(mut self) -> Result<(), UserError> {
        self.flush().await?;
        let (file, part) = (self.file.take(), self.partial.0.clone());
        let (target, existing) = (self.target.clone(), self.existing);
        let named = run_blocking(move || -> io::Result<()> {
            if let Some(file) = file {
                file.sync_all()?;
            }
            match existing {
                ExistingFile::Replaced => fs::rename(&part, &target),
                // Fails where something came there meanwhile.
                ExistingFile::Kept => fs::hard_link(&part, &target),
            }
        });
        named.await?.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => already_exists_error(&self.target),
            _ => io_error(&self.target, &error),
        })
    }

    async fn flush(&mut self) -> Result<(), UserError> {
        let (Some(mut file), text) = (self.file.take(), std::mem::take(&mut self.pending)) else {
            return Ok(());
        };
        let written = run_blocking(move || file.write_all(text.as_bytes()).map(|()| file)).await?;
        self.file = Some(written.map_err(|error| io_error(&self.target, &error))?);
        Ok(())
    }
}

fn already_exists_error(file: &Path) -> UserError {
    let file = file.display().to_string();
    UserError::new(ErrorCode::Write, user_texts::file_exists(file))
}

fn io_error(file: &Path, error: &io::Error) -> UserError {
    let what_to_do = match error.kind() {
        io::ErrorKind::StorageFull => user_texts::make_room_or_choose_disk(),
        _ => user_texts::choose_another_folder(),
    };
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default();
    let file = file.display().to_string();
    UserError::new(ErrorCode::Write, user_texts::file_not_written(file, words, what_to_do))
}
