//! The vault itself: one open handle on the folder that holds the notes.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{self, Access, AtFlags, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;

use crate::OpenError;
use crate::folder::Folder;

/// An open folder of notes. Cheap to clone; all clones are the same vault.
///
/// The handle follows the folder, not its name: if the folder is renamed, the vault goes with it.
/// Except for [`Vault::apply`] and [`Vault::recover`] all methods block on the disk.
#[derive(Debug, Clone)]
pub struct Vault(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    name: String,
    root: Folder,
    changing: Arc<tokio::sync::Mutex<()>>,
}

impl Vault {
    /// Opens `folder`, which may itself be a link; nothing in it is read or written yet.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle =
            fs::open(folder, flags, Mode::empty()).map_err(|error| open_error(folder, error))?;
        fs::accessat(&handle, ".", Access::READ_OK | Access::EXEC_OK, AtFlags::EACCESS)
            .map_err(|error| open_error(folder, error))?;
        Ok(Self::over(folder, handle))
    }

    /// The folder as it was named when the vault was opened. For showing, not for opening.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// The folder's last part: what a person calls the vault.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether the file system and the permissions of the top folder take writes now. Asks the
    /// system and makes no file, so a full disk or a protected subfolder is not noticed.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        let root = self.root().handle();
        let mounted_for_writing =
            fs::fstatvfs(root).is_ok_and(|disk| !disk.f_flag.contains(StatVfsMountFlags::RDONLY));
        let wanted = Access::WRITE_OK | Access::EXEC_OK;
        mounted_for_writing && fs::accessat(root, ".", wanted, AtFlags::EACCESS).is_ok()
    }

    pub(crate) fn root(&self) -> &Folder {
        &self.0.root
    }

    /// Held while notes change, by the thread that changes them: a caller that goes away does not
    /// let the next change begin in the middle of this one.
    pub(crate) fn changing(&self) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(&self.0.changing)
    }

    fn over(folder: &Path, handle: OwnedFd) -> Self {
        let named = folder.file_name().unwrap_or(folder.as_os_str());
        Self(Arc::new(Inner {
            folder: folder.to_owned(),
            name: named.to_string_lossy().into_owned(),
            root: Folder::root(handle),
            changing: Arc::default(),
        }))
    }
}

fn open_error(folder: &Path, error: Errno) -> OpenError {
    let folder = folder.to_owned();
    match error {
        Errno::NOENT => OpenError::Missing { folder },
        Errno::NOTDIR => OpenError::NotAFolder { folder },
        Errno::ACCESS | Errno::PERM => OpenError::Denied { folder },
        other => OpenError::Io { folder, source: other.into() },
    }
}
