//! Where the application keeps what is not a note: settings, databases, locks, logs.
//!
//! Layout: `config.toml`, `last-vault`, `key` (only when the user chose a file), `logs/`,
//! `Sample notes/`, and one folder a vault under `vaults/` with its database and its lock.
#![expect(clippy::disallowed_methods, reason = "these are files of the data directory, not notes")]

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use protocol::{ErrorCode, UserError};

/// The data directory; exists and belongs to the user alone.
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
        let root = root.ok_or_else(|| {
            UserError::other(
                "There is no place for application data: set HOME or VAULTMATE_DATA_DIR.",
            )
        })?;
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

    /// The key file of those who chose a file.
    #[must_use]
    pub fn key_file(&self) -> PathBuf {
        self.root.join("key")
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

    /// The folder of one vault's database and lock, made when it is not there.
    pub fn of_vault(&self, folder: &Path) -> Result<PathBuf, UserError> {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let slug: String = name
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .take(32)
            .collect();
        let digest = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
        let short = digest.get(..16).unwrap_or_default();
        let dir = self.root.join("vaults").join(format!("{slug}-{short}"));
        make_private(&dir)?;
        Ok(dir)
    }

    /// The vault that was open last.
    #[must_use]
    pub fn last_vault(&self) -> Option<PathBuf> {
        let text = fs::read_to_string(self.root.join("last-vault")).ok()?;
        Some(PathBuf::from(text.trim_end_matches('\n'))).filter(|path| !path.as_os_str().is_empty())
    }

    /// Remembers the vault for the next start.
    pub fn remember_vault(&self, folder: &Path) -> Result<(), UserError> {
        write_private(&self.root.join("last-vault"), folder.to_string_lossy().as_bytes())
    }
}

/// Makes a folder that only the user can enter.
pub(crate) fn make_private(dir: &Path) -> Result<(), UserError> {
    fs::create_dir_all(dir)
        .and_then(|()| fs::set_permissions(dir, Permissions::from_mode(0o700)))
        .map_err(|error| trouble("make the folder", dir, &error))
}

/// Replaces a file whole (temporary file, fsync, rename); only the user can read it.
pub(crate) fn write_private(file: &Path, bytes: &[u8]) -> Result<(), UserError> {
    let temp = file.with_extension(format!("tmp{}", std::process::id()));
    let write = || {
        let mut out =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temp)?;
        out.write_all(bytes)?;
        out.sync_all()?;
        fs::rename(&temp, file)
    };
    write().map_err(|error| trouble("write", file, &error))
}

/// One sentence for a failure in the data directory.
pub(crate) fn trouble(verb: &str, path: &Path, error: &std::io::Error) -> UserError {
    let what_to_do = match error.kind() {
        std::io::ErrorKind::StorageFull => "The disk is full: free some space, then try again.",
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "Vaultmate needs a data folder it may write to: change its rights or set \
             VAULTMATE_DATA_DIR."
        }
        _ => "Check the disk, then try again.",
    };
    UserError::new(
        ErrorCode::Write,
        format!("Could not {verb} {}: {error}. {what_to_do}", path.display()),
    )
}
