//! Temporary files that changes left: named to the user when no ledger tells of them any more, and
//! removed once the folder allows it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::NotePath;

use crate::place::{Inode, Place};
use crate::{Vault, swap};

/// How the temporary files of changes begin and end.
pub(crate) const TEMP_PREFIX: &str = ".vaultmate-";
pub(crate) const TEMP_SUFFIX: &str = ".tmp";

/// The temporary files that could not be removed when their change was given up: their folder takes
/// no removals, or did not in that moment. Cheap to clone; all clones are one list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unremoved(Arc<Mutex<Vec<Temp>>>);

#[derive(Debug)]
struct Temp {
    beside: NotePath,
    name: String,
    file: Inode,
}

impl Unremoved {
    pub(crate) fn push(&self, beside: &NotePath, name: &str, file: Inode) {
        let temp = Temp { beside: beside.clone(), name: name.to_owned(), file };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(temp);
    }

    fn take(&self) -> Vec<Temp> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Vault {
    /// Tries again to remove the temporary files that could not be removed. What has the name of one
    /// by now and is another file stays.
    pub(crate) fn remove_unremoved(&self) {
        for temp in self.unremoved().take() {
            let Ok(place) = Place::beside(self, &temp.beside, temp.name.clone()) else {
                self.unremoved().push(&temp.beside, &temp.name, temp.file);
                continue;
            };
            // One that is still there goes back on the list by itself.
            if place.temp_file() == Some(temp.file) && swap::discard_temp(self, &place).is_err() {
                self.unremoved().push(&temp.beside, &temp.name, temp.file);
            }
        }
    }

    /// The paths of temporary files that changes left in the vault, sorted, at most `limit` of them.
    /// Nothing is opened or removed: each may hold the only copy of a text. Blocks on the disk.
    #[must_use]
    pub fn leftovers(&self, limit: usize) -> Vec<String> {
        let listing = self.survey().unwrap_or_default();
        let folders = listing.iter().filter(|(entry, _)| entry.kind == crate::EntryKind::Folder);
        let paths =
            std::iter::once(None).chain(folders.map(|(entry, _)| Some(entry.path.as_str())));
        let mut found: Vec<String> = paths.flat_map(|at| self.left_in(at)).collect();
        found.sort();
        found.truncate(limit);
        found
    }

    fn left_in(&self, at: Option<&str>) -> Vec<String> {
        let Ok(folder) = self.root().folder_or_self(at) else { return Vec::new() };
        let Ok(entries) = folder.entries() else { return Vec::new() };
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let is_ours = |name: &String| name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX);
        let path =
            |name: String| Path::new(at.unwrap_or_default()).join(name).display().to_string();
        names.filter(is_ours).map(path).collect()
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use std::process::Command;

    use super::*;

    fn chattr(flag: &str, folder: &Path) -> bool {
        let output = Command::new("chattr").arg(flag).arg(folder).output();
        let is_done = output.as_ref().is_ok_and(|output| output.status.success());
        if !is_done {
            println!("skipped: chattr {flag}: {output:?}");
        }
        is_done
    }

    #[test]
    fn a_temporary_file_that_stayed_goes_once_the_folder_allows_it() {
        let all = tempfile::tempdir().unwrap();
        let temp = all.path().join(".vaultmate-0.tmp");
        let vault = Vault::open(all.path()).unwrap();
        let path = NotePath::parse("note.md").unwrap();
        for is_theirs in [false, true] {
            let place = Place::beside(&vault, &path, ".vaultmate-0.tmp".to_owned()).unwrap();
            place.write_temp(b"ours", None).unwrap();
            if !chattr("+a", all.path()) {
                return;
            }
            place.discard_temp();
            vault.let_go();
            assert!(temp.exists(), "the folder takes no removals");
            assert!(chattr("-a", all.path()));
            if is_theirs {
                std::fs::write(all.path().join("theirs"), "theirs").unwrap();
                std::fs::rename(all.path().join("theirs"), &temp).unwrap();
            }
            vault.let_go();
            assert_eq!(temp.exists(), is_theirs, "another file under the name stays");
        }
    }
}
