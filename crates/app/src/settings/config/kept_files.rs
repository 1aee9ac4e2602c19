//! Keeps the settings files that a choice of the user replaces, under other names in the same folder.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use protocol::UserError;

use super::integrity::ConfigOnDisk;
use crate::workspace::data_dir::{FileAction, io_error};
use crate::workspace::write_lock::WriteLock;

/// Puts `text` in the place of the file that was found, which is kept beside it. `false` when another program
/// saved the file meanwhile or has it open for writing: then that stands.
pub(super) fn replace_broken(
    lock: &WriteLock,
    file: &Path,
    found: &ConfigOnDisk,
    text: &str,
) -> Result<bool, UserError> {
    let kept = keep_as(file, "broken")?;
    let replaced = match &found.file {
        Ok(old) => lock.replace_if(file, old.as_deref(), text.as_bytes()),
        Err(_) => lock.replace(file, text.as_bytes()).map(|()| true),
    };
    if let (Some(kept), Ok(false) | Err(_)) = (kept, &replaced) {
        undo_keep(file, &kept);
    }
    replaced
}

/// Gives a file the second name `NAME.word`, or with the next free number behind it, and returns that; `None` where
/// the file is not there. The file keeps its own name, so that it is still found until it is replaced. Only a
/// folder, which no file can replace, is renamed.
fn keep_as(file: &Path, word: &str) -> Result<Option<PathBuf>, UserError> {
    let kept = free_name(file, word);
    let keep = || {
        let about = fs::symlink_metadata(file)?;
        if about.is_dir() {
            return fs::rename(file, &kept);
        }
        match fs::hard_link(file, &kept) {
            // The file system may have no hard links.
            Err(_) if about.is_file() => copy(file, &kept),
            Err(_) => fs::rename(file, &kept),
            Ok(()) => Ok(()),
        }
    };
    match keep() {
        Ok(()) => Ok(Some(kept)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(FileAction::KeepBroken, &kept, &error)),
    }
}

/// Removes the second name of a file that was not replaced, and gives a renamed folder its name again. A file
/// that was replaced stays kept.
fn undo_keep(file: &Path, kept: &Path) {
    let identity = |about: fs::Metadata| (about.dev(), about.ino());
    let now = fs::symlink_metadata(file).map(identity);
    let undone = match (now, fs::symlink_metadata(kept).map(identity)) {
        (Ok(now), Ok(before)) if now == before => fs::remove_file(kept),
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => fs::rename(kept, file),
        _ => Ok(()),
    };
    if let Err(error) = undone {
        tracing::warn!(%error, "a second name of the settings file stays");
    }
}

/// Renames a file to `NAME.word`, or to the next free number behind it. One that is not there is no trouble.
pub(super) fn move_aside(file: &Path, word: &str) -> Result<(), UserError> {
    let kept = free_name(file, word);
    match fs::rename(file, &kept) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io_error(FileAction::KeepBroken, &kept, &error))
        }
        _ => Ok(()),
    }
}

fn free_name(file: &Path, word: &str) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (2_u32..).map(|number| format!("{name}.{word}.{number}"));
    let names = std::iter::once(format!("{name}.{word}")).chain(numbered);
    // A broken symlink has its name too.
    let is_free = |path: &PathBuf| fs::symlink_metadata(path).is_err();
    let free = names.map(|name| file.with_file_name(name)).find(is_free);
    free.unwrap_or_else(|| file.with_file_name(&name))
}

/// Nothing is left of a copy that could not be finished.
fn copy(file: &Path, kept: &Path) -> io::Result<()> {
    let copied = fs::copy(file, kept).and_then(|_| File::open(kept)?.sync_all());
    if copied.is_err() {
        // The error that is returned says more than a second one.
        let _ = fs::remove_file(kept);
    }
    copied
}
