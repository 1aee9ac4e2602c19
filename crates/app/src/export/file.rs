//! A file that grows under another name, and takes its own when it is whole.
#![expect(clippy::disallowed_methods, reason = "an export is the user's file, not a note")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use protocol::{ErrorCode, UserError};

use crate::aside::aside;
use crate::clock::fresh;

/// What is collected before it is written.
const CHUNK: usize = 256 << 10;

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced: the user was asked.
    Replaced,
    /// It stays, and nothing is written.
    Kept,
}

/// The file while it grows. Dropped before the end it leaves nothing.
pub(super) struct Growing {
    target: PathBuf,
    part: Part,
    existing: Existing,
    file: Option<File>,
    pending: String,
}

/// The name of what is not whole yet; it goes with this value.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        // It is gone already where it took its own name.
        let _ = fs::remove_file(&self.0);
    }
}

impl Growing {
    /// Begins beside the place where the file shall be.
    pub(super) async fn begin(target: &Path, existing: Existing) -> Result<Self, UserError> {
        let target = std::path::absolute(target).map_err(|error| trouble(target, &error))?;
        if existing == Existing::Kept && target.symlink_metadata().is_ok() {
            return Err(there(&target));
        }
        let id: protocol::CallId = fresh();
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let part = target.with_file_name(format!(".{name}.{id}.part"));
        let (made, named) = (part.clone(), target.clone());
        let file = aside(move || {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(&made)
        });
        let file = file.await?.map_err(|error| trouble(&named, &error))?;
        let pending = String::new();
        Ok(Self { target, part: Part(part), existing, file: Some(file), pending })
    }

    /// Adds text at the end.
    pub(super) async fn add(&mut self, text: String) -> Result<(), UserError> {
        self.pending.push_str(&text);
        if self.pending.len() >= CHUNK { self.write().await } else { Ok(()) }
    }

    /// Writes all of it to the disk and gives the file its name.
    pub(super) async fn finish(mut self) -> Result<(), UserError> {
        self.write().await?;
        let (file, part) = (self.file.take(), self.part.0.clone());
        let (target, existing) = (self.target.clone(), self.existing);
        let named = aside(move || -> io::Result<()> {
            if let Some(file) = file {
                file.sync_all()?;
            }
            match existing {
                Existing::Replaced => fs::rename(&part, &target),
                // Fails where something came there meanwhile.
                Existing::Kept => fs::hard_link(&part, &target),
            }
        });
        named.await?.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => there(&self.target),
            _ => trouble(&self.target, &error),
        })
    }

    async fn write(&mut self) -> Result<(), UserError> {
        let (Some(mut file), text) = (self.file.take(), std::mem::take(&mut self.pending)) else {
            return Ok(());
        };
        let written = aside(move || file.write_all(text.as_bytes()).map(|()| file)).await?;
        self.file = Some(written.map_err(|error| trouble(&self.target, &error))?);
        Ok(())
    }
}

fn there(file: &Path) -> UserError {
    let file = file.display();
    UserError::new(ErrorCode::Write, format!("{file} is there already: choose another name."))
}

fn trouble(file: &Path, error: &io::Error) -> UserError {
    let what_to_do = match error.kind() {
        io::ErrorKind::StorageFull => "Free some space, or choose another disk.",
        _ => "Choose another folder.",
    };
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default();
    let file = file.display();
    UserError::new(ErrorCode::Write, format!("Could not write {file}: {words}. {what_to_do}"))
}
