//! Whether this user may change a note, judged before anything is made ready for it.
//!
//! A change puts a new file in the place of the old one, which the system allows to everybody who
//! may write to the folder. So the note's own permissions are asked here.

use std::fs::File;

use protocol::NotePath;
use rustix::fs::{self, Access, AtFlags, IFlags, Mode, Stat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::filesystem::folder::FolderHandle;
use crate::{Vault, VaultError};

impl Vault {
    /// Refuses a note that this user may not write, whatever the folder allows: `Protected`, or
    /// `ReadOnly` for the whole disk. To be asked before a change is planned; a change is refused by
    /// the same rule when it is carried out. Where nothing is, nothing is refused.
    pub fn check_writable(&self, path: &NotePath) -> Result<(), VaultError> {
        match self.root().open_folder_or_self(path.folder()) {
            Ok(folder) => check_name_writable(&folder, path.name(), path),
            Err(_) => Ok(()),
        }
    }
}

/// The same for an open note, named `path.name()` in `folder`.
pub(crate) fn check_note_writable(
    folder: &FolderHandle,
    path: &NotePath,
    note: &File,
) -> Result<(), VaultError> {
    let stat = fs::fstat(note).map_err(|error| VaultError::from_errno("changed", path, error))?;
    let is_fixed = fs::ioctl_getflags(note)
        .is_ok_and(|flags| flags.intersects(IFlags::IMMUTABLE | IFlags::APPEND));
    if is_fixed || denies_owner(&stat) {
        return Err(VaultError::Protected { path: path.clone() });
    }
    // For whom the system asks: with groups and access lists.
    match fs::accessat(folder, path.name(), Access::WRITE_OK, AtFlags::EACCESS) {
        Ok(()) => Ok(()),
        Err(Errno::ACCESS | Errno::PERM) => Err(VaultError::Protected { path: path.clone() }),
        Err(error) => Err(VaultError::from_errno("changed", path, error)),
    }
}

/// The same for the entry `name` of `folder`; messages name it by `path`. A missing entry, or one
/// that is no file, is left to the caller that opens it.
pub(crate) fn check_name_writable(
    folder: &FolderHandle,
    name: &str,
    path: &NotePath,
) -> Result<(), VaultError> {
    let flags = fs::OFlags::RDONLY | fs::OFlags::NONBLOCK;
    match folder.open(name, flags, Mode::empty()) {
        Ok(note) => check_note_writable(folder, path, &File::from(note)),
        // A file that the process may not read cannot be written either.
        Err(Errno::ACCESS | Errno::PERM) => Err(VaultError::Protected { path: path.clone() }),
        Err(_) => Ok(()),
    }
}

/// Refuses a folder in which files can be made but not replaced or removed, before a temporary file is
/// made there that could not be taken away again.
pub(crate) fn check_folder_writable(
    folder: &FolderHandle,
    path: &NotePath,
) -> Result<(), VaultError> {
    let denied = || VaultError::Denied { verb: "changed", path: path.clone() };
    let is_fixed = fs::ioctl_getflags(folder)
        .is_ok_and(|flags| flags.intersects(IFlags::IMMUTABLE | IFlags::APPEND));
    if is_fixed {
        return Err(denied());
    }
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    fs::accessat(folder, ".", wanted, AtFlags::EACCESS)
        .map_err(|error| VaultError::from_errno("changed", path, error))
}

/// The system lets root write to everything. A note that its owner may not write is protected on
/// purpose, also from a program that root runs.
fn denies_owner(stat: &Stat) -> bool {
    geteuid().is_root() && !Mode::from_raw_mode(stat.st_mode).contains(Mode::WUSR)
}
