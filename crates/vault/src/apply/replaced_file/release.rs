//! Temporary files that changes left: named to the user when no ledger tells of them any more, and
//! removed once the folder allows it.

use std::path::Path;

use crate::Vault;
use crate::apply::atomic_file::AtomicFile;
use crate::apply::replace;
use crate::filesystem::temp_files::{TEMP_PREFIX, TEMP_SUFFIX};

impl Vault {
    /// Tries again to remove the temporary files that could not be removed. A different file that
    /// has the name by now stays.
    pub(crate) fn retry_temp_removal(&self) {
        for temp in self.unremoved_temp_files().take() {
            let Ok(place) = AtomicFile::open_at_path(self, &temp.note, temp.name.clone()) else {
                self.unremoved_temp_files().push(&temp.note, &temp.name, temp.file);
                continue;
            };
            // A file that is still there goes back on the list automatically.
            if place.temp_inode() == Some(temp.file)
                && replace::discard_temp(self, &place, |_| true).is_err()
            {
                self.unremoved_temp_files().push(&temp.note, &temp.name, temp.file);
            }
        }
    }

    /// The paths of temporary files that changes left in the vault, sorted, at most `limit` of them.
    /// Nothing is opened or removed: each may hold the only copy of a text. Blocks on the disk.
    #[must_use]
    pub fn leftover_temp_files(&self, limit: usize) -> Vec<String> {
        let listing = self.list_unfiltered().unwrap_or_default();
        let folders = listing.iter().filter(|(entry, _)| entry.kind == crate::EntryKind::Folder);
        let paths =
            std::iter::once(None).chain(folders.map(|(entry, _)| Some(entry.path.as_str())));
        let mut found: Vec<String> = paths.flat_map(|at| self.temp_files_in(at)).collect();
        found.sort();
        found.truncate(limit);
        found
    }

    fn temp_files_in(&self, at: Option<&str>) -> Vec<String> {
        let Ok(folder) = self.root().open_folder_or_self(at) else { return Vec::new() };
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

    use protocol::NotePath;

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
            let place =
                AtomicFile::open_at_path(&vault, &path, ".vaultmate-0.tmp".to_owned()).unwrap();
            place.write_temp(b"ours", None).unwrap();
            if !chattr("+a", all.path()) {
                return;
            }
            place.discard_temp();
            vault.release_replaced_files();
            assert!(temp.exists(), "the folder takes no removals");
            assert!(chattr("-a", all.path()));
            if is_theirs {
                std::fs::write(all.path().join("theirs"), "theirs").unwrap();
                std::fs::rename(all.path().join("theirs"), &temp).unwrap();
            }
            vault.release_replaced_files();
            assert_eq!(temp.exists(), is_theirs, "another file under the name stays");
        }
    }
}
