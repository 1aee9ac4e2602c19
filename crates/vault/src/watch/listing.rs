//! The contents of a folder, by paths of the vault.

use protocol::NotePath;
use rustix::fs::{self, AtFlags, FileType, Stat};
use rustix::io::Errno;

use crate::Vault;

/// One thing in a folder.
pub(super) struct FolderEntry {
    pub(super) path: NotePath,
    pub(super) kind: FileType,
}

/// The entries of `folder`, or of the top one for `None`, without protected ones. A folder that
/// cannot be listed is gone again, or holds no notes for us either: its list is empty.
pub(super) fn list_folder(vault: &Vault, folder: Option<&NotePath>) -> Vec<FolderEntry> {
    list_entries(vault, folder, |path, kind, _| FolderEntry { path, kind }).unwrap_or_default()
}

/// The same with the system's metadata of each.
pub(super) fn list_with_stat(
    vault: &Vault,
    folder: Option<&NotePath>,
) -> Result<Vec<(FolderEntry, Option<Stat>)>, Errno> {
    list_entries(vault, folder, |path, kind, stat| (FolderEntry { path, kind }, stat()))
}

fn list_entries<T>(
    vault: &Vault,
    folder: Option<&NotePath>,
    take: impl Fn(NotePath, FileType, &dyn Fn() -> Option<Stat>) -> T,
) -> Result<Vec<T>, Errno> {
    let at = folder.map(NotePath::as_str);
    let open = vault.open_folder_to_read(at)?;
    let mut found = Vec::new();
    for entry in open.entries()? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if matches!(name, "." | "..") {
            continue;
        }
        let path = at.map_or_else(|| name.to_owned(), |at| format!("{at}/{name}"));
        let Ok(path) = NotePath::parse(&path) else { continue };
        let stat = || fs::statat(&open, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let kind = match entry.file_type() {
            FileType::Unknown => {
                stat().map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
            }
            known => known,
        };
        found.push(take(path, kind, &stat));
    }
    Ok(found)
}
