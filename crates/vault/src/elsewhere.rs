//! Whether a file that had a note's name is in the vault under another one.

use protocol::{FileId, NotePath};
use rustix::fs::FileType;

use crate::Vault;
use crate::folder::{Folder, is_same};

/// No vault has more folders in each other.
const DEEPEST: usize = 64;

/// Whether `file` stands in the vault under another name than `path`, in hidden folders and the trash too. Looks
/// at every name, so it is asked only where something else stands at the path.
pub(crate) fn stands(vault: &Vault, file: FileId, path: &NotePath) -> bool {
    vault.root().folder_or_self(None).is_ok_and(|top| holds(&top, "", file, path, DEEPEST))
}

fn holds(folder: &Folder, at: &str, file: FileId, except: &NotePath, depth: usize) -> bool {
    let Ok(entries) = folder.entries() else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        let Ok(name) = entry.file_name().to_str() else { return false };
        if matches!(name, "." | "..") {
            return false;
        }
        let path = if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") };
        let is_it = || {
            path != except.as_str() && folder.file_id(name).is_ok_and(|found| is_same(file, found))
        };
        (entry.ino() == file.inode && is_it())
            || (depth > 0
                && matches!(entry.file_type(), FileType::Directory | FileType::Unknown)
                && folder
                    .folder(name)
                    .is_ok_and(|below| holds(&below, &path, file, except, depth - 1)))
    })
}
