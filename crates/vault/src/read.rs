//! Reading one note: an ordinary file of its own, whole, under the size limit.

pub(crate) mod cached_read;
pub(crate) mod image;
pub(crate) mod listing;
pub(crate) mod obsidian_config;
pub(crate) mod symlinks;
pub(crate) mod unlisted;

use std::fs::File;

use protocol::{ContentHash, FileId, NotePath, Timestamp};
use rustix::fs::{self, Stat};

use crate::filesystem::note_file::{
    check_readable, check_regular_file, check_size, modified, read_contents, size,
};
use crate::names::sync_artifacts;
use crate::{Fingerprint, Vault, VaultError};

/// A note as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where it is, as it was asked for.
    pub path: NotePath,
    /// Where its bytes are in the vault: `path`, unless a link was followed.
    pub real: NotePath,
    /// Its bytes, exactly: line ends, byte order mark and missing final newline included.
    pub bytes: Vec<u8>,
    /// The name of those bytes.
    pub hash: ContentHash,
    /// When it was last written, by the file system's clock.
    pub modified: Timestamp,
}

impl Vault {
    /// Reads the note at `path`, spelled as on disk (see [`Vault::resolve`]).
    ///
    /// Refuses whatever is not a regular file with one name: links (unless [`SymlinkPolicy::Inside`] lets
    /// them be followed), hard links (their bytes may live outside), folders, pipes, devices. None
    /// of them is waited for.
    ///
    /// [`SymlinkPolicy::Inside`]: crate::SymlinkPolicy::Inside
    pub fn read(&self, path: &NotePath) -> Result<Note, VaultError> {
        let (real, (bytes, stat)) = self.read_file(path)?;
        let hash = ContentHash::of(&bytes);
        Ok(Note { path: path.clone(), real, bytes, hash, modified: modified(&stat) })
    }

    /// The bytes of the note at `path`, under the same rules as [`Vault::read`], unhashed: for
    /// scans over many notes.
    pub fn read_bytes(&self, path: &NotePath) -> Result<Vec<u8>, VaultError> {
        self.read_file(path).map(|(_, (bytes, _))| bytes)
    }

    /// The same with the fingerprint of the bytes.
    pub fn read_with_fingerprint(
        &self,
        path: &NotePath,
    ) -> Result<(Vec<u8>, Fingerprint), VaultError> {
        self.read_file(path).map(|(_, (bytes, stat))| (bytes, Fingerprint::from_stat(&stat)))
    }

    /// Which file or folder stands at `path` in the vault itself, a link not followed; `None` for
    /// nothing.
    #[must_use]
    pub fn file_id(&self, path: &NotePath) -> Option<FileId> {
        self.root().file_id(path.as_str()).ok()
    }

    /// Whether the folder at `path` in the vault itself holds nothing at all, hidden files included.
    #[must_use]
    pub fn is_empty_folder(&self, path: &NotePath) -> bool {
        self.root().open_folder(path.as_str()).is_ok_and(|folder| folder.is_empty())
    }

    /// Whether the folder at `path` lies on the device of the vault's own folder. A file on another
    /// device, such as in a snapshot of Btrfs, can have the number and the birth time of a file of
    /// the vault.
    #[must_use]
    pub fn is_on_its_device(&self, path: &NotePath) -> bool {
        let root = self.root();
        let folder = root.open_folder(path.as_str());
        root.device().is_none_or(|device| folder.is_ok_and(|it| it.device() == Some(device)))
    }

    /// Refuses to change what stands at `path` if it is no regular file with one name, or in an
    /// extra root, without opening it; of any size.
    pub fn check_changeable(&self, path: &NotePath) -> Result<(), VaultError> {
        self.check_path_visible(path)?;
        self.check_not_in_extra_root(path)?;
        let stat = self.root().stat(path.as_str());
        let stat = stat.map_err(|error| VaultError::from_errno("read", path, error))?;
        match check_readable(path, &stat) {
            Err(VaultError::TooLarge { .. }) => Ok(()),
            judged => judged,
        }
    }

    /// The bytes, with the path at which the file is.
    fn read_file(&self, path: &NotePath) -> Result<(NotePath, (Vec<u8>, Stat)), VaultError> {
        self.check_path_visible(path)?;
        let real = self.follow_symlinks(path)?;
        let read = self.read_real(&real).map_err(|error| match real == *path {
            true => error,
            false => with_requested_path(path, error),
        })?;
        Ok((real, read))
    }

    fn read_real(&self, real: &NotePath) -> Result<(Vec<u8>, Stat), VaultError> {
        self.check_path_visible(real)?;
        let read = self.open_and_read(real).map_err(|error| self.not_downloaded(real, error));
        self.filter_text(real, read)
    }

    /// If the file is missing here, a sync program may keep it elsewhere.
    pub(crate) fn not_downloaded(&self, path: &NotePath, error: VaultError) -> VaultError {
        let stands_in = |name: &String| {
            let folder = path.folder().map(|folder| format!("{folder}/")).unwrap_or_default();
            self.stat_to_read(&format!("{folder}{name}")).is_ok()
        };
        match error {
            VaultError::NotFound { .. }
                if sync_artifacts::placeholder_names(path.name()).iter().any(stands_in) =>
            {
                VaultError::NotDownloaded { path: path.clone() }
            }
            other => other,
        }
    }

    fn open_and_read(&self, path: &NotePath) -> Result<(Vec<u8>, Stat), VaultError> {
        let (file, stat) = self.open_regular_file(path)?;
        check_size(path, size(&stat))?;
        let bytes = read_contents(path, &file, &stat)?;
        Ok((bytes, stat))
    }

    /// Opens the file at `path` of any size, whatever a screen keeps back.
    pub(crate) fn open_regular_file(&self, path: &NotePath) -> Result<(File, Stat), VaultError> {
        let handle =
            self.open_to_read(path).map_err(|error| VaultError::from_errno("read", path, error))?;
        let stat =
            fs::fstat(&handle).map_err(|error| VaultError::from_errno("read", path, error))?;
        check_regular_file(path, &stat)?;
        Ok((File::from(handle), stat))
    }
}

/// The same error about the path that was asked for: where a link leads may be private.
fn with_requested_path(path: &NotePath, error: VaultError) -> VaultError {
    let path = path.clone();
    match error {
        VaultError::NotFound { .. } => {
            VaultError::NotFound { asked: path.as_str().to_owned(), nearest: Vec::new() }
        }
        VaultError::NotDownloaded { .. } => VaultError::NotDownloaded { path },
        VaultError::NotANote { what, .. } => VaultError::NotANote { path, what },
        VaultError::TooLarge { size, .. } => VaultError::TooLarge { path, size },
        VaultError::Denied { verb, .. } => VaultError::Denied { verb, path },
        VaultError::Io { verb, source, .. } => VaultError::Io { verb, path, source },
        other => other,
    }
}
