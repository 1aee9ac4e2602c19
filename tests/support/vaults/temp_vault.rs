//! A real vault that lives as long as its test.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::polling::poll_until;

/// All files of a folder: path below it (with `/`) to bytes.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A vault; removed on drop.
#[derive(Debug)]
pub struct TempVault {
    folder: TempDir,
}

impl TempVault {
    /// A folder with these notes, given as path and text. Folders are made as needed.
    #[must_use]
    pub fn new(notes: &[(&str, &str)]) -> Self {
        Self::new_in(&std::env::temp_dir(), notes)
    }

    /// The same within another folder.
    #[must_use]
    pub fn new_in(parent: &Path, notes: &[(&str, &str)]) -> Self {
        let vault = Self { folder: tempfile::tempdir_in(parent).expect("a temporary folder") };
        for (path, text) in notes {
            vault.write(path, text);
        }
        vault
    }

    /// A copy of `vault-fixtures/NAME`.
    #[must_use]
    pub fn from_fixture(name: &str) -> Self {
        let vault = Self::new(&[]);
        for (path, bytes) in read_files(&fixtures_dir().join(name)) {
            vault.write(&path, bytes);
        }
        vault
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a note past the application, as another program would.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().expect("a note has a folder")).expect("the folder");
        fs::write(&file, text).unwrap_or_else(|error| panic!("cannot write `{path}`: {error}"));
    }

    /// A note's text.
    #[must_use]
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path))
            .unwrap_or_else(|error| panic!("cannot read `{path}`: {error}"))
    }

    /// A note's text, or nothing while there is no such note.
    #[must_use]
    pub fn try_read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root().join(path)).ok()
    }

    /// Resolves with a note's text once it contains `needle`.
    pub async fn wait_for(&self, path: &str, needle: &str) -> String {
        poll_until(&format!("`{needle}` in {path}"), async || {
            let text = self.try_read(path).unwrap_or_default();
            if text.contains(needle) { Ok(text) } else { Err(format!("it holds {text:?}")) }
        })
        .await
    }

    /// Every file, byte by byte, for a comparison later.
    #[must_use]
    pub fn snapshot(&self) -> Files {
        read_files(self.root())
    }
}

/// The folder of fixtures; never written to.
#[must_use]
pub fn fixtures_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vault-fixtures")
}

/// Every file below `root` but the vault's own card, which comes with the first change. Links are
/// not followed: a file behind one is not of this folder. A file that goes away meanwhile, as those
/// of an index do that still writes, is not among them.
#[must_use]
pub fn read_files(root: &Path) -> Files {
    assert!(root.is_dir(), "there is no folder {}", root.display());
    let mut found = Files::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let Some(entries) = unless_gone(&folder, fs::read_dir(&folder)) else { continue };
        for entry in entries {
            let entry = entry.expect("a readable entry");
            let kind = entry.file_type().expect("a file type");
            if kind.is_dir() && entry.file_name() != ".vaultmate" {
                folders.push(entry.path());
            } else if kind.is_file()
                && let Some(bytes) = unless_gone(&entry.path(), fs::read(entry.path()))
            {
                found.insert(relative_path(root, &entry.path()), bytes);
            }
        }
    }
    found
}

fn unless_gone<T>(path: &Path, read: io::Result<T>) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => panic!("cannot read {}: {error}", path.display()),
    }
}

fn relative_path(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).expect("a file below the root").to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_holds_every_file_and_notices_a_changed_byte() {
        let vault = TempVault::new(&[("a.md", "one\n"), ("deep/er/b.md", "two\n")]);
        let before = vault.snapshot();
        assert_eq!(before.keys().collect::<Vec<_>>(), ["a.md", "deep/er/b.md"]);
        vault.write("deep/er/b.md", "Two\n");
        assert_ne!(vault.snapshot(), before);
    }

    #[test]
    fn a_snapshot_skips_files_that_go_away_and_fails_at_those_it_cannot_read() {
        let gone = Path::new("gone.md");
        assert_eq!(unless_gone(gone, fs::read(gone)), None);
        let folder = TempVault::new(&[]);
        // The control: a folder cannot be read as a file, and it is there.
        let read = || unless_gone(folder.root(), fs::read(folder.root()));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).is_err());
    }

    #[test]
    fn a_fixture_is_copied_byte_by_byte() {
        let vault = TempVault::from_fixture("odd");
        assert_eq!(vault.snapshot(), read_files(&fixtures_dir().join("odd")));
    }
}
