//! A vault, what lies beside it, and what may have changed there.

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tempfile::TempDir;

/// Stands in every file outside of the vault: an answer that holds it has read there.
pub(super) const CANARY: &str = "canary-e51b7c-outside";

/// The text of every file of a stage, so that an edit finds it.
pub(super) const NOTE_TEXT: &str = "# A note\n\nedit me\n";

/// A folder that holds a vault and everything that must stay as it is.
pub(super) struct PathFixture {
    folder: TempDir,
    pub(super) vault: PathBuf,
    pub(super) outside_folder: PathBuf,
    home: PathBuf,
    app_data: PathBuf,
    /// Undone, the last first, before the folder is removed.
    pub(super) cleanups: Vec<Box<dyn FnOnce() + Send>>,
}

/// Name to kind and content, of everything below a folder.
pub(super) type FolderSnapshot = BTreeMap<PathBuf, String>;

impl PathFixture {
    pub(super) const VARIABLES: [&str; 6] =
        ["${VAULT}", "${VAULT_NAME}", "${VAULT_NAME_UPPER}", "${OUT}", "${HOME}", "${APPDATA}"];

    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        let (vault, out, home, app_data) = (at("vault"), at("out"), at("home"), at("data"));
        let secret = format!("# Secret\n\nedit me\n{CANARY}\n");
        for file in
            ["notes/a.md", "notes/b.md", "notes/sub/c.md", "a.md", "a", ".obsidian/app.json"]
        {
            write(&vault.join(file), NOTE_TEXT);
        }
        for file in ["out/secret.md", "vault-secret/x.md", "home/x.md", "data/assistant.db"] {
            write(&at(file), &secret);
        }
        Self { vault, outside_folder: out, home, app_data, folder, cleanups: Vec::new() }
    }

    /// The folder around the vault.
    pub(super) fn enclosing_folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn expand_variables(&self, text: &str) -> String {
        let name = "vault";
        text.replace("${VAULT}", &self.vault.to_string_lossy())
            .replace("${VAULT_NAME}", name)
            .replace("${VAULT_NAME_UPPER}", &name.to_uppercase())
            .replace("${OUT}", &self.outside_folder.to_string_lossy())
            .replace("${HOME}", &self.home.to_string_lossy())
            .replace("${APPDATA}", &self.app_data.to_string_lossy())
    }

    /// Everything that is not in the vault.
    pub(super) fn snapshot_outside(&self) -> FolderSnapshot {
        snapshot(self.enclosing_folder(), &self.vault)
    }

    /// Everything that is.
    pub(super) fn snapshot_vault(&self) -> FolderSnapshot {
        snapshot(&self.vault, Path::new(""))
    }
}

impl Drop for PathFixture {
    fn drop(&mut self) {
        while let Some(end) = self.cleanups.pop() {
            end();
        }
    }
}

/// Writes a file and makes the folders above it.
pub(super) fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().expect("a file has a folder")).expect("folders");
    fs::write(file, text).expect("written");
}

/// A file's bytes, without waiting for a pipe or for a lease that somebody holds.
pub(super) fn read_without_blocking(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let opened = File::options().read(true).custom_flags(flags).open(file);
    let _ = opened.and_then(|mut file| file.read_to_end(&mut bytes));
    bytes
}

/// Files too large to be notes count by their size, and what is no file by its kind.
fn snapshot(root: &Path, but: &Path) -> FolderSnapshot {
    const READ: u64 = 1 << 20;
    let (mut found, mut folders) = (FolderSnapshot::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path == but {
                continue;
            }
            let Ok(about) = fs::symlink_metadata(&path) else { continue };
            let thing = if about.is_dir() {
                folders.push(path.clone());
                "folder".to_owned()
            } else if about.is_symlink() {
                let target = fs::read_link(&path).unwrap_or_default();
                format!("link {}", target.as_os_str().as_bytes().escape_ascii())
            } else if about.is_file() && (1..=READ).contains(&about.len()) {
                format!("file {}", read_without_blocking(&path).escape_ascii())
            } else {
                format!("{:?} of {} bytes", about.file_type(), about.len())
            };
            found.insert(path.strip_prefix(root).unwrap_or(&path).to_owned(), thing);
        }
    }
    found
}
