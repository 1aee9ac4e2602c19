//! Where the application keeps what is not a note: settings, databases, locks, logs.
//!
//! Layout: `config.toml` and `config.toml.last-good`, `last-vault`, `key` and `key.openai` (only when the user chose a file), `in-keyring`, `logs/`,
//! `Sample notes/`, and one folder a vault under `vaults/` with its database, its lock and `home`,
//! which says whose it is.
#![expect(clippy::disallowed_methods, reason = "these are files of the data directory, not notes")]

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use protocol::{ErrorCode, UserError};

use crate::user_texts;
use crate::workspace::write_lock::WriteLock;

/// The data directory; exists. What is put there can be read by the user alone.
#[derive(Debug, Clone)]
pub struct DataDir {
    root: PathBuf,
}

impl DataDir {
    /// `VAULTMATE_DATA_DIR`, else the platform's place for application data.
    pub fn locate() -> Result<Self, UserError> {
        let root = std::env::var_os("VAULTMATE_DATA_DIR")
            .filter(|dir| !dir.is_empty())
            .map(PathBuf::from)
            .or_else(|| dirs::data_dir().map(|dir| dir.join("vaultmate")));
        let root = root.ok_or_else(|| UserError::other(user_texts::no_data_folder()))?;
        Self::at(root)
    }

    /// The data directory at `root`, made when it is not there.
    pub fn at(root: PathBuf) -> Result<Self, UserError> {
        make_private(&root)?;
        Ok(Self { root })
    }

    /// `config.toml`.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.root.join("config.toml")
    }

    /// The settings file as it was when it was last whole.
    pub(crate) fn last_good_config_file(&self) -> PathBuf {
        self.root.join("config.toml.last-good")
    }

    /// Waits for the lock under which files here are changed. Blocks.
    pub(crate) fn lock(&self) -> Result<WriteLock, UserError> {
        WriteLock::take(&self.root)
    }

    /// The folder itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The file of Anthropic's key for users who chose a file; the keys of other providers are
    /// beside it.
    #[must_use]
    pub fn key_file(&self) -> PathBuf {
        self.root.join("key")
    }

    /// The file of the names of those secrets that are in the keyring.
    pub(crate) fn in_keyring_file(&self) -> PathBuf {
        self.root.join("in-keyring")
    }

    /// The file that says for which hub a saved token is.
    pub(crate) fn token_owner_file(&self) -> PathBuf {
        self.root.join("hub-of-token")
    }

    /// The file that says for which server a saved API key is.
    pub(crate) fn key_server_file(&self) -> PathBuf {
        self.root.join("server-of-key")
    }

    /// The file of what was found out about models that take no tools.
    pub(crate) fn tool_support_file(&self) -> PathBuf {
        self.root.join("no_tools")
    }

    /// The folder of log files.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// Where the writable copy of the sample vault goes.
    #[must_use]
    pub fn sample(&self) -> PathBuf {
        self.root.join("Sample notes")
    }

    /// The folder with one folder a vault.
    pub(crate) fn vaults(&self) -> PathBuf {
        self.root.join("vaults")
    }

    /// Where the index of a vault goes whose data is in `home`: with the caches of other programs,
    /// for it can be deleted at any time.
    pub(crate) fn index_dir(&self, home: &Path) -> PathBuf {
        let own_place = dirs::data_dir().is_some_and(|dir| dir.join("vaultmate") == self.root);
        let caches = dirs::cache_dir().filter(|_| own_place).map(|dir| dir.join("vaultmate"));
        let name = home.file_name().unwrap_or(home.as_os_str());
        caches.unwrap_or_else(|| self.root.join("cache")).join(name)
    }

    /// How the folder of a vault is called that stands at `folder`, which is canonical.
    pub(crate) fn folder_for_path(&self, folder: &Path) -> PathBuf {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let slug: String = name
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .take(32)
            .collect();
        let digest = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
        let short = digest.get(..16).unwrap_or_default();
        self.vaults().join(format!("{slug}-{short}"))
    }

    /// The vault that was open last.
    #[must_use]
    pub fn last_vault(&self) -> Option<PathBuf> {
        let bytes = fs::read(self.root.join("last-vault")).ok()?;
        let path = PathBuf::from(OsString::from_vec(bytes));
        Some(path).filter(|path| !path.as_os_str().is_empty())
    }

    /// Remembers the vault for the next start.
    pub fn remember_vault(&self, folder: &Path) -> Result<(), UserError> {
        write_private(&self.root.join("last-vault"), folder.as_os_str().as_bytes())
    }
}

/// Makes a folder that only the user can enter. One that is there keeps the rights it has: it may
/// hold more than our files.
pub(crate) fn make_private(dir: &Path) -> Result<(), UserError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|error| io_error(FileAction::CreateFolder, dir, &error))
}

/// Replaces a file whole, whatever it held; only the user can read it. Who makes the new bytes from the old
/// ones holds a [`WriteLock`] over both.
pub(crate) fn write_private(file: &Path, bytes: &[u8]) -> Result<(), UserError> {
    WriteLock::take(file.parent().unwrap_or(Path::new(".")))?.replace(file, bytes)
}

/// An action on a file or folder of the data directory that can fail.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FileAction {
    Find,
    Open,
    Lock,
    Write,
    Remove,
    CreateFolder,
    KeepBroken,
    Release,
}

/// A failure in the data directory: what could not be done, why, and what the user can do.
pub(crate) fn io_error(action: FileAction, path: &Path, error: &std::io::Error) -> UserError {
    let what_to_do = match error.kind() {
        std::io::ErrorKind::StorageFull => user_texts::make_room(),
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            user_texts::data_folder_not_writable()
        }
        _ => user_texts::check_the_disk(),
    };
    let (path, why) = (path.display().to_string(), plain_reason(error));
    let text = match action {
        FileAction::Find => user_texts::data_not_found(path, why, what_to_do),
        FileAction::Open => user_texts::data_not_opened(path, why, what_to_do),
        FileAction::Lock => user_texts::data_not_locked(path, why, what_to_do),
        FileAction::Write => user_texts::data_not_written(path, why, what_to_do),
        FileAction::Remove => user_texts::data_not_removed(path, why, what_to_do),
        FileAction::CreateFolder => user_texts::data_folder_not_made(path, why, what_to_do),
        FileAction::KeepBroken => user_texts::broken_file_not_kept(path, why, what_to_do),
        FileAction::Release => user_texts::data_folder_not_released(path, why, what_to_do),
    };
    UserError::new(ErrorCode::Write, text)
}

/// The words of the system about a failure, without its number, which is nothing for a person.
pub(crate) fn plain_reason(error: &std::io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_that_was_there_keeps_its_rights_and_a_new_one_is_private() {
        let home = tempfile::tempdir().expect("a folder");
        let shared = home.path().join("shared");
        DirBuilder::new().mode(0o755).create(&shared).expect("a folder");
        let data = DataDir::at(shared.clone()).expect("a data directory");
        make_private(&data.logs()).expect("made");
        let mode = |dir: &Path| fs::metadata(dir).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(&shared), mode(&data.logs())), (0o755, 0o700));
    }

    #[test]
    fn the_last_vault_is_remembered_byte_for_byte() {
        let home = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(home.path().to_owned()).expect("a data directory");
        assert_eq!(data.last_vault(), None);
        let odd = PathBuf::from(OsString::from_vec(b"/notes \xff\n".to_vec()));
        data.remember_vault(&odd).expect("remembered");
        assert_eq!(data.last_vault(), Some(odd));
    }
}
