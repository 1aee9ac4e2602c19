//! What is in a folder, for a deletion that takes nothing else.

use protocol::{FileState, FolderContents, NotePath};
use rustix::fs::{self, AtFlags, FileType};
use rustix::io::Errno;

use crate::folder::Folder;
use crate::{Vault, VaultError};

impl Vault {
    /// Everything in the folder at `path`, at any depth, hidden files too. Nothing is opened but
    /// folders, and no link is followed.
    pub fn folder_contents(&self, path: &NotePath) -> Result<FolderContents, VaultError> {
        let folder = self.root().folder(path.as_str());
        let found = folder.and_then(|folder| contents(&folder));
        found.map_err(|error| VaultError::system("listed", path, error))
    }
}

/// Everything in a folder.
pub(crate) fn contents(top: &Folder) -> Result<FolderContents, Errno> {
    let mut found: Vec<(Vec<u8>, Option<FileState>)> = Vec::new();
    let mut folders: Vec<Vec<u8>> = vec![Vec::new()];
    while let Some(at) = folders.pop() {
        let folder = match at.is_empty() {
            true => top.folder_or_self(None)?,
            // A folder whose name is no text cannot be looked into, and so not be told from another.
            false => top.folder(std::str::from_utf8(&at).map_err(|_| Errno::ILSEQ)?)?,
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
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                folders.push(path.clone());
                found.push((path, None));
            } else {
                let size = u64::try_from(stat.st_size).unwrap_or_default();
                let written = (stat.st_mtime, stat.st_mtime_nsec);
                found.push((path, Some(FileState { size, written })));
            }
        }
    }
    Ok(FolderContents::of(found.iter().map(|(path, state)| (path.as_slice(), *state))))
}
