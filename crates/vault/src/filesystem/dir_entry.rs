//! A name in an open folder, and carrying what has it to another one, never over something.

use std::fs::File;

use protocol::{FileId, FolderContents, NotePath};
use rustix::fs::{self, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::apply::replaced_file::is_open_for_writing;
use crate::filesystem::entry_content::{self, EntryContent};
use crate::filesystem::fault_point::with_fault_points;
use crate::filesystem::folder::FolderHandle;
use crate::filesystem::folder_contents::{
    DeletionObstacle, deletion_obstacle, read_folder_contents,
};
use crate::filesystem::permission;
use crate::{Vault, VaultError};

/// The vault's own trash, where Obsidian keeps it too.
pub(crate) const TRASH: &str = ".trash";

/// The folder is held open: what is done with the name happens in that one.
#[derive(Debug)]
pub(crate) struct DirEntry {
    path: NotePath,
    folder: FolderHandle,
    name: String,
}

impl DirEntry {
    /// The spot at `path`, whose folder exists.
    pub(crate) fn open(vault: &Vault, path: &NotePath) -> Result<Self, VaultError> {
        let folder = vault
            .root()
            .open_folder_or_self(path.folder())
            .map_err(|error| VaultError::from_errno("changed", path, error))?;
        Ok(Self { path: path.clone(), folder, name: path.name().to_owned() })
    }

    /// The spot at `path`; folders that are missing are made, each durable in its parent.
    pub(crate) fn open_or_create_folders(
        vault: &Vault,
        path: &NotePath,
    ) -> Result<Self, VaultError> {
        vault.check_not_in_extra_root(path)?;
        let folder = create_folders(&vault.root(), path.folder()).map_err(|error| match error {
            Errno::NOTDIR => VaultError::NotANote { path: path.clone(), what: "inside a file" },
            other => VaultError::from_errno("created", path, other),
        })?;
        Ok(Self { path: path.clone(), folder, name: path.name().to_owned() })
    }

    /// `name` in the trash; messages name it by `path`.
    pub(crate) fn in_trash(vault: &Vault, name: &str, path: &NotePath) -> Result<Self, VaultError> {
        let folder = create_folders(&vault.root(), Some(TRASH))
            .map_err(|error| VaultError::from_errno("moved to the trash", path, error))?;
        Ok(Self { path: path.clone(), folder, name: name.to_owned() })
    }

    /// `name` in the folder of `path`, which exists.
    pub(crate) fn beside(vault: &Vault, path: &NotePath, name: &str) -> Result<Self, VaultError> {
        Ok(Self { name: name.to_owned(), ..Self::open(vault, path)? })
    }

    /// Reads the entry, with its bytes.
    pub(crate) fn read_content(&self) -> Result<EntryContent, VaultError> {
        entry_content::read_entry(&self.folder, &self.name, &self.path)
    }

    /// Which file or folder stands there; `None` for nothing.
    pub(crate) fn file_id(&self) -> Option<FileId> {
        self.folder.file_id(&self.name).ok()
    }

    /// Refuses a file that this user may not write.
    pub(crate) fn check_writable(&self) -> Result<(), VaultError> {
        permission::check_name_writable(&self.folder, &self.name, &self.path)
    }

    /// Whether a program has the file there open for writing.
    pub(crate) fn is_being_written(&self) -> bool {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = self.folder.open(&self.name, flags, Mode::empty());
        file.is_ok_and(|file| is_open_for_writing(&File::from(file)))
    }

    /// The type of the entry, without following a link; `None` if it does not exist.
    pub(crate) fn kind(&self) -> Result<Option<FileType>, VaultError> {
        match self.folder.stat(&self.name) {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.io_error(error)),
        }
    }

    /// Whether `other` is this entry by another spelling, as on a disk that ignores case: both names lead to
    /// one file, and the folder doesn't list both. It lists both of two hard links.
    pub(crate) fn is_respelled_by(&self, other: &Self) -> Result<bool, VaultError> {
        let is_one_file = self.name != other.name
            && self.folder.is_same(&other.folder)
            && self.file_id().is_some_and(|file| other.file_id() == Some(file));
        Ok(is_one_file && !(self.is_listed()? && other.is_listed()?))
    }

    /// Whether the folder lists exactly this name.
    pub(crate) fn is_listed(&self) -> Result<bool, VaultError> {
        self.folder.lists(&self.name).map_err(|error| self.io_error(error))
    }

    /// The contents of this folder.
    pub(crate) fn contents(&self) -> Result<FolderContents, VaultError> {
        let folder = self.folder.open_folder(&self.name);
        folder
            .and_then(|folder| read_folder_contents(&folder))
            .map_err(|error| self.io_error(error))
    }

    /// Whether a folder is there that holds nothing at all.
    pub(crate) fn is_empty_folder(&self) -> bool {
        self.folder.open_folder(&self.name).is_ok_and(|folder| folder.is_empty())
    }

    /// Refuses to delete a folder in which another program has a file open for writing, or a note is
    /// write-protected.
    pub(crate) fn check_deletable(&self) -> Result<(), VaultError> {
        let folder = self.folder.open_folder(&self.name).map_err(|error| self.io_error(error))?;
        let below = |file: String| {
            let path = NotePath::parse(&format!("{}/{file}", self.path));
            path.unwrap_or_else(|_| self.path.clone())
        };
        match deletion_obstacle(&folder, &self.path).map_err(|error| self.io_error(error))? {
            Some(DeletionObstacle::BeingWritten(file)) => {
                Err(VaultError::BeingWritten { path: below(file) })
            }
            Some(DeletionObstacle::Protected(file)) => {
                Err(VaultError::Protected { path: below(file) })
            }
            None => Ok(()),
        }
    }

    /// Makes a folder there; one that is there already is fine.
    pub(crate) fn create_folder(&self) -> Result<(), VaultError> {
        create_folder(&self.folder, &self.name).map(drop).map_err(|error| self.io_error(error))
    }

    /// Removes the folder there if it is empty.
    pub(crate) fn remove_empty_folder(&self) -> Result<(), VaultError> {
        let remove = fs::unlinkat(&self.folder, &self.name, fs::AtFlags::REMOVEDIR);
        remove.and_then(|()| fs::fsync(&self.folder)).map_err(|error| self.io_error(error))
    }

    /// Gives a folder the name of an empty one, whose place it takes in one step; durable only after
    /// [`DirEntry::sync_with`]. Something that came into that folder, or a file in its place, is in the way.
    pub(crate) fn rename_over_empty_folder(&self, to: &Self) -> Result<(), VaultError> {
        with_fault_points!("carry", self.rename_with_flags(to, RenameFlags::empty())).map_err(
            |error| match error {
                Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR => {
                    VaultError::Exists { path: to.path.clone() }
                }
                Errno::INVAL => VaultError::IntoItself { path: self.path.clone() },
                error => self.io_error(error),
            },
        )
    }

    /// Gives what is here the name `to`, durable only after [`DirEntry::sync_with`]. Nothing may have
    /// that name.
    pub(crate) fn rename_to(&self, to: &Self) -> Result<(), VaultError> {
        with_fault_points!("carry", self.rename_with_flags(to, RenameFlags::NOREPLACE))
            .or_else(|error| match error {
                // Without NOREPLACE there is a moment between this look and the rename.
                Errno::INVAL | Errno::NOSYS | Errno::NOTSUP => match to.folder.stat(&to.name) {
                    Err(Errno::NOENT) => self.rename_with_flags(to, RenameFlags::empty()),
                    Ok(_) => Err(Errno::EXIST),
                    Err(error) => Err(error),
                },
                error => Err(error),
            })
            .map_err(|error| match error {
                Errno::EXIST | Errno::NOTEMPTY => VaultError::Exists { path: to.path.clone() },
                // A folder cannot go into itself.
                Errno::INVAL => VaultError::IntoItself { path: self.path.clone() },
                error => self.io_error(error),
            })
    }

    /// Makes both folders durable.
    pub(crate) fn sync_with(&self, to: &Self) -> Result<(), VaultError> {
        with_fault_points!("folder_fsync", fs::fsync(&to.folder))
            .map_err(|error| to.io_error(error))?;
        if self.folder.is_same(&to.folder) {
            return Ok(());
        }
        with_fault_points!("folder_fsync", fs::fsync(&self.folder))
            .map_err(|error| self.io_error(error))
    }

    fn rename_with_flags(&self, to: &Self, flags: RenameFlags) -> Result<(), Errno> {
        fs::renameat_with(&self.folder, &self.name, &to.folder, &to.name, flags)
    }

    fn io_error(&self, error: Errno) -> VaultError {
        VaultError::from_errno("changed", &self.path, error)
    }
}

/// The folder at `path`; missing folders are made, each durable in its parent.
pub(crate) fn create_folders(
    root: &FolderHandle,
    path: Option<&str>,
) -> Result<FolderHandle, Errno> {
    let mut here = root.open_folder_or_self(None)?;
    for part in path.into_iter().flat_map(|path| path.split('/')) {
        here = match here.open_folder(part) {
            Err(Errno::NOENT) => create_folder(&here, part)?,
            opened => opened?,
        };
    }
    Ok(here)
}

fn create_folder(parent: &FolderHandle, name: &str) -> Result<FolderHandle, Errno> {
    match with_fault_points!("mkdir", fs::mkdirat(parent, name, Mode::from_raw_mode(0o777))) {
        Ok(()) => with_fault_points!("folder_fsync", fs::fsync(parent))?,
        Err(Errno::EXIST) => {}
        Err(error) => return Err(error),
    }
    parent.open_folder(name)
}
