//! Whether a file that had a note's name is in the vault under another one.

use protocol::{FileId, NotePath};

use crate::Vault;
use crate::folder::{Folder, is_same};
use crate::spot::TRASH;

/// Whether `file` stands in the vault, or in its trash, under another name than `path`. Looks at every file,
/// so it is asked only where something else stands at the path.
pub(crate) fn stands(vault: &Vault, file: FileId, path: &NotePath) -> bool {
    let is_it = |found: Option<FileId>| found.is_some_and(|found| is_same(file, found));
    let in_trash = || vault.root().folder(TRASH).is_ok_and(|trash| holds(&trash, is_it));
    let entries = vault.survey().unwrap_or_default();
    entries
        .iter()
        .filter(|(entry, _)| entry.path.as_str() != path.as_str())
        .any(|(entry, _)| is_it(vault.file_id(&entry.path)))
        || in_trash()
}

fn holds(folder: &Folder, is_it: impl Fn(Option<FileId>) -> bool) -> bool {
    let Ok(entries) = folder.entries() else { return false };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned))
        .any(|name| is_it(folder.file_id(&name).ok()))
}
