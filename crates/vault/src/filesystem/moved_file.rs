//! Whether a file that had a note's name is in the vault under another one.

use protocol::{FileId, NotePath};
use rustix::fs::FileType;

use crate::Vault;
use crate::filesystem::folder::{FolderHandle, is_same_file};

/// No vault has more folders in each other.
const MAX_DEPTH: usize = 64;

/// Whether `file` has a path other than `path` in the vault, in hidden folders and the trash too.
/// Reads every name, so callers use it only if a different file is at the path.
pub(crate) fn is_elsewhere(vault: &Vault, file: FileId, path: &NotePath) -> bool {
    path_of(vault, file, path).is_some()
}

/// The path of the file, if it is not `path`. A folder on another device is skipped: in a snapshot
/// of Btrfs a copy has the number and the birth time of the file.
pub(crate) fn path_of(vault: &Vault, file: FileId, path: &NotePath) -> Option<String> {
    let top = vault.root().open_folder_or_self(None).ok()?;
    let device = top.device()?;
    find(&top, "", &FileSearch { file, except: path, device }, MAX_DEPTH)
}

struct FileSearch<'a> {
    file: FileId,
    except: &'a NotePath,
    device: u64,
}

fn find(folder: &FolderHandle, at: &str, search: &FileSearch<'_>, depth: usize) -> Option<String> {
    if folder.device() != Some(search.device) {
        return None;
    }
    folder.entries().ok()?.filter_map(Result::ok).find_map(|entry| {
        let name = entry.file_name().to_str().ok()?;
        if matches!(name, "." | "..") {
            return None;
        }
        let path = if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") };
        let is_it = || {
            path != search.except.as_str()
                && folder.file_id(name).is_ok_and(|found| is_same_file(search.file, found))
        };
        if entry.ino() == search.file.inode && is_it() {
            return Some(path);
        }
        let may_hold =
            depth > 0 && matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
        let below = folder.open_folder(name).ok().filter(|_| may_hold)?;
        find(&below, &path, search, depth - 1)
    })
}
