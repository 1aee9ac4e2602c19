//! The contents of a folder, for a deletion that takes nothing else.

use std::fs::File;

use protocol::{FileState, FolderContents, NotePath};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::apply::replaced_file::is_open_for_writing;
use crate::filesystem::folder::FolderHandle;
use crate::filesystem::{note_file, permission};
use crate::{Vault, VaultError};

impl Vault {
    /// Everything in the folder at `path`, at any depth, hidden files too. Nothing is opened but
    /// folders, and no link is followed.
    pub fn folder_contents(&self, path: &NotePath) -> Result<FolderContents, VaultError> {
        let folder = self.root().open_folder(path.as_str());
        let found = folder.and_then(|folder| read_folder_contents(&folder));
        found.map_err(|error| VaultError::from_errno("listed", path, error))
    }
}

/// Everything in a folder.
pub(crate) fn read_folder_contents(top: &FolderHandle) -> Result<FolderContents, Errno> {
    let mut found: Vec<(Vec<u8>, Option<FileState>)> = Vec::new();
    walk(top, |_, path, stat| {
        let state = (!is_folder(stat)).then(|| FileState {
            size: note_file::size(stat),
            written: (stat.st_mtime, stat.st_mtime_nsec),
        });
        found.push((path.to_vec(), state));
        true
    })?;
    Ok(FolderContents::from_entries(found.iter().map(|(path, state)| (path.as_slice(), *state))))
}

/// The reason that keeps a folder from being deleted, with the path of the file below it.
#[derive(Debug)]
pub(crate) enum DeletionObstacle {
    /// A program has it open for writing.
    BeingWritten(String),
    /// It is a note that this user may not write.
    Protected(String),
}

/// The first obstacle below `top`. Only notes count as write-protected: the files of a repository of Git, for
/// one, are so in every folder.
pub(crate) fn deletion_obstacle(
    top: &FolderHandle,
    path: &NotePath,
) -> Result<Option<DeletionObstacle>, Errno> {
    let mut found = None;
    walk(top, |folder, below, stat| {
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            && let Ok(below) = std::str::from_utf8(below)
        {
            let name = below.rsplit('/').next().unwrap_or(below);
            let is_protected = || {
                let note = NotePath::parse(&format!("{path}/{below}")).ok();
                note.filter(NotePath::is_markdown).is_some_and(|note| {
                    let may_write = permission::check_name_writable(folder, name, &note);
                    matches!(may_write, Err(VaultError::Protected { .. }))
                })
            };
            let file = folder.open(name, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty());
            if file.is_ok_and(|file| is_open_for_writing(&File::from(file))) {
                found = Some(DeletionObstacle::BeingWritten(below.to_owned()));
            } else if is_protected() {
                found = Some(DeletionObstacle::Protected(below.to_owned()));
            }
        }
        found.is_none()
    })?;
    Ok(found)
}

/// Shows everything in a folder, at any depth, until `show` returns that it has seen enough: the
/// folder of the entry, its path below `top` and its kind.
fn walk(
    top: &FolderHandle,
    mut show: impl FnMut(&FolderHandle, &[u8], &Stat) -> bool,
) -> Result<(), Errno> {
    let mut folders: Vec<Vec<u8>> = vec![Vec::new()];
    while let Some(at) = folders.pop() {
        let folder = match at.is_empty() {
            true => top.open_folder_or_self(None)?,
            // A folder whose name is no text cannot be looked into, and so not be told from another.
            false => top.open_folder(std::str::from_utf8(&at).map_err(|_| Errno::ILSEQ)?)?,
        };
        for entry in folder.entries()? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let stat = match fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                stat => stat?,
            };
            let mut path = at.clone();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.to_bytes());
            if !show(&folder, &path, &stat) {
                return Ok(());
            }
            if is_folder(&stat) {
                folders.push(path);
            }
        }
    }
    Ok(())
}

fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}
