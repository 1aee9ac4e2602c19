//! The end of a replaced file: it is held until its change is recorded, and what a program still wrote to it
//! is saved.
//!
//! Temporary files that changes left are named to the user when no ledger tells of them any more, and
//! removed once the folder allows it.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::sync::PoisonError;

use protocol::NotePath;
use rustix::fs;

use super::{
    OpenTempFile, ReplacedFile, ReplacedFiles, io_error, is_open_for_writing, wait_for_writers,
};
use crate::apply::atomic_file::AtomicFile;
use crate::apply::{replace, replaced_backup};
use crate::filesystem::note_file;
use crate::filesystem::temp_files::{TEMP_PREFIX, TEMP_SUFFIX};
use crate::{Vault, VaultError};

impl ReplacedFile {
    /// Removes the file, which has the temporary name of `place`. Where nobody can tell whether it is
    /// still written to, it goes to the trash for a while instead.
    pub(crate) fn discard(self, vault: &Vault, target: &AtomicFile) {
        if self.lease.is_none() {
            return replaced_backup::move_to_backup(vault, target);
        }
        target.discard_temp();
        self.hold_unlinked(vault);
    }

    /// The same for a file that has no name any more.
    pub(crate) fn hold_unlinked(self, vault: &Vault) {
        if self.lease.is_some() {
            vault.replaced_files().push(self);
        }
    }
}

impl OpenTempFile {
    /// Waits until nobody writes to the file any more, saves the late bytes as a note in the same
    /// folder, and removes the file. `Err` if it is still open after a while.
    fn save_when_closed(mut self, vault: &Vault) -> Result<(), Self> {
        wait_for_writers(&self.file);
        if is_open_for_writing(&self.file) || self.save(vault).is_err() {
            return Err(self);
        }
        if let Ok(place) = AtomicFile::open_at_path(vault, &self.path, self.temp.clone())
            && place.temp_is(&self.file)
        {
            place.discard_temp();
        }
        Ok(())
    }

    fn save(&mut self, vault: &Vault) -> Result<(), VaultError> {
        let failed = |error| VaultError::from_errno("read", &self.path, error);
        let stat = fs::fstat(&self.file).map_err(failed)?;
        self.file.seek(SeekFrom::Start(0)).map_err(|error| io_error(&self.path, &error))?;
        let bytes = note_file::read_contents(&self.path, &self.file, &stat)?;
        if bytes != self.known {
            let (path, copy) =
                (&self.path, replaced_backup::save_copy(vault, &self.path, &bytes, &self.file)?);
            tracing::warn!(%path, %copy, "a program wrote to a file that was reverted");
        }
        Ok(())
    }
}

impl ReplacedFiles {
    /// From now on what another program writes to the temporary file of `place`, which it has open, is not
    /// lost; `known` are its bytes so far.
    pub(crate) fn hold_open_temp(&self, target: &AtomicFile, known: &[u8]) {
        let Ok(file) = target.open_temp() else { return };
        let (path, temp) = (target.path().clone(), target.temp_name().to_owned());
        let mut temps = self.open_temps.lock().unwrap_or_else(PoisonError::into_inner);
        temps.push(OpenTempFile { path, temp, file, known: known.to_vec() });
    }
}

impl Vault {
    /// Releases the files that were replaced. Bytes that a program still wrote to one of them
    /// become a separate note in the same folder. The removal of temporary files that could not be
    /// removed is tried again.
    pub(crate) fn release_replaced_files(&self) {
        self.retry_temp_removal();
        let (nameless, temps) = self.replaced_files().take();
        for still_open in temps.into_iter().filter_map(|temp| temp.save_when_closed(self).err()) {
            let mut temps =
                self.replaced_files().open_temps.lock().unwrap_or_else(PoisonError::into_inner);
            temps.push(still_open);
        }
        for (path, bytes, old) in nameless.into_iter().filter_map(ReplacedFile::late_write) {
            self.save_late_write(&path, &bytes, &old);
        }
    }

    /// Saves bytes that a program wrote to the old file of a note: in the note's folder, or else in
    /// the trash. The log says where they are.
    fn save_late_write(&self, path: &NotePath, bytes: &[u8], old: &File) {
        let copy = replaced_backup::save_copy(self, path, bytes, old).map(|copy| copy.to_string());
        let saved = copy.or_else(|error| {
            tracing::warn!(%path, %error, "bytes written to an old file could not be saved in the folder of its note");
            replaced_backup::save_in_trash(self, path, bytes)
        });
        match saved {
            Ok(copy) => tracing::warn!(%path, %copy, "a program wrote to the old file of a note"),
            Err(error) => {
                tracing::error!(%path, %error, "what a program wrote to the old file is lost");
            }
        }
    }

    /// Whether another program has the note open for writing; `false` where nobody can tell.
    pub(crate) fn is_being_written(&self, path: &NotePath) -> bool {
        let flags = fs::OFlags::RDONLY | fs::OFlags::NONBLOCK;
        let note = self.root().open(path.as_str(), flags, fs::Mode::empty());
        note.is_ok_and(|note| is_open_for_writing(&File::from(note)))
    }

    /// Tries again to remove the temporary files that could not be removed. A different file that
    /// has the name by now stays.
    fn retry_temp_removal(&self) {
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

    use super::*;
    use crate::filesystem::file_metadata::MetadataSource;

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
            place.write_temp(b"ours", MetadataSource::System).unwrap();
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
