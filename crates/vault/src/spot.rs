//! A name in an open folder, and carrying what has it to another one, never over something.

use std::fs::File;

use protocol::{FileId, FolderContents, NotePath};
use rustix::fs::{self, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::folder::Folder;
use crate::folder_contents::{Obstacle, contents, obstacle};
use crate::found::{self, Found};
use crate::old_file::is_open_for_writing;
use crate::step::step;
use crate::{Vault, VaultError};

/// The vault's own trash, where Obsidian keeps it too.
pub(crate) const TRASH: &str = ".trash";

/// The folder is held open: what is done with the name happens in that one.
#[derive(Debug)]
pub(crate) struct Spot {
    path: NotePath,
    folder: Folder,
    name: String,
}

impl Spot {
    /// The spot at `path`, whose folder exists.
    pub(crate) fn open(vault: &Vault, path: &NotePath) -> Result<Self, VaultError> {
        let folder = vault
            .root()
            .folder_or_self(path.folder())
            .map_err(|error| VaultError::system("changed", path, error))?;
        Ok(Self { path: path.clone(), folder, name: path.name().to_owned() })
    }

    /// The spot at `path`; folders that are missing are made, each durable in its parent.
    pub(crate) fn make(vault: &Vault, path: &NotePath) -> Result<Self, VaultError> {
        vault.takes_changes(path)?;
        let folder = make_folders(&vault.root(), path.folder()).map_err(|error| match error {
            Errno::NOTDIR => VaultError::NotANote { path: path.clone(), what: "inside a file" },
            other => VaultError::system("created", path, other),
        })?;
        Ok(Self { path: path.clone(), folder, name: path.name().to_owned() })
    }

    /// `name` in the trash; `path` is what it is called in messages.
    pub(crate) fn in_trash(vault: &Vault, name: &str, path: &NotePath) -> Result<Self, VaultError> {
        let folder = make_folders(&vault.root(), Some(TRASH))
            .map_err(|error| VaultError::system("moved to the trash", path, error))?;
        Ok(Self { path: path.clone(), folder, name: name.to_owned() })
    }

    /// What stands there, with its bytes.
    pub(crate) fn found(&self) -> Result<Found, VaultError> {
        found::look(&self.folder, &self.name, &self.path)
    }

    /// Which file or folder stands there; `None` for nothing.
    pub(crate) fn file_id(&self) -> Option<FileId> {
        self.folder.file_id(&self.name).ok()
    }

    /// Whether a program has the file there open for writing.
    pub(crate) fn is_being_written(&self) -> bool {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = self.folder.open(&self.name, flags, Mode::empty());
        file.is_ok_and(|file| is_open_for_writing(&File::from(file)))
    }

    /// What stands there, a link not followed; `None` for nothing.
    pub(crate) fn kind(&self) -> Result<Option<FileType>, VaultError> {
        match self.folder.stat(&self.name) {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// What the folder there holds.
    pub(crate) fn contents(&self) -> Result<FolderContents, VaultError> {
        let folder = self.folder.folder(&self.name);
        folder.and_then(|folder| contents(&folder)).map_err(|error| self.failed(error))
    }

    /// Refuses to delete a folder in which another program has a file open for writing, or a note is
    /// write-protected.
    pub(crate) fn admit_deletion(&self) -> Result<(), VaultError> {
        let folder = self.folder.folder(&self.name).map_err(|error| self.failed(error))?;
        let below = |file: String| {
            let path = NotePath::parse(&format!("{}/{file}", self.path));
            path.unwrap_or_else(|_| self.path.clone())
        };
        match obstacle(&folder, &self.path).map_err(|error| self.failed(error))? {
            Some(Obstacle::BeingWritten(file)) => {
                Err(VaultError::BeingWritten { path: below(file) })
            }
            Some(Obstacle::Protected(file)) => Err(VaultError::Protected { path: below(file) }),
            None => Ok(()),
        }
    }

    /// Makes a folder there; one that is there already is fine.
    pub(crate) fn make_folder(&self) -> Result<(), VaultError> {
        make_folder(&self.folder, &self.name).map(drop).map_err(|error| self.failed(error))
    }

    /// Removes the folder there if it is empty.
    pub(crate) fn remove_empty_folder(&self) -> Result<(), VaultError> {
        let remove = fs::unlinkat(&self.folder, &self.name, fs::AtFlags::REMOVEDIR);
        remove.and_then(|()| fs::fsync(&self.folder)).map_err(|error| self.failed(error))
    }

    /// Gives what is here the name `to`, durable only after [`Spot::sync_with`]. Nothing may have
    /// that name.
    pub(crate) fn carry(&self, to: &Self) -> Result<(), VaultError> {
        step!("carry", self.rename(to, RenameFlags::NOREPLACE))
            .or_else(|error| match error {
                // Without NOREPLACE there is a moment between this look and the rename.
                Errno::INVAL | Errno::NOSYS | Errno::NOTSUP => match to.folder.stat(&to.name) {
                    Err(Errno::NOENT) => self.rename(to, RenameFlags::empty()),
                    Ok(_) => Err(Errno::EXIST),
                    Err(error) => Err(error),
                },
                error => Err(error),
            })
            .map_err(|error| match error {
                Errno::EXIST | Errno::NOTEMPTY => VaultError::Exists { path: to.path.clone() },
                // A folder cannot go into itself.
                Errno::INVAL => VaultError::IntoItself { path: self.path.clone() },
                error => self.failed(error),
            })
    }

    /// Makes both folders durable.
    pub(crate) fn sync_with(&self, to: &Self) -> Result<(), VaultError> {
        step!("folder_fsync", fs::fsync(&to.folder)).map_err(|error| to.failed(error))?;
        if self.folder.is_same(&to.folder) {
            return Ok(());
        }
        step!("folder_fsync", fs::fsync(&self.folder)).map_err(|error| self.failed(error))
    }

    fn rename(&self, to: &Self, flags: RenameFlags) -> Result<(), Errno> {
        fs::renameat_with(&self.folder, &self.name, &to.folder, &to.name, flags)
    }

    fn failed(&self, error: Errno) -> VaultError {
        VaultError::system("changed", &self.path, error)
    }
}

/// The folder at `path`; what is missing is made, each durable in its parent.
pub(crate) fn make_folders(root: &Folder, path: Option<&str>) -> Result<Folder, Errno> {
    let mut here = root.folder_or_self(None)?;
    for part in path.into_iter().flat_map(|path| path.split('/')) {
        here = match here.folder(part) {
            Err(Errno::NOENT) => make_folder(&here, part)?,
            opened => opened?,
        };
    }
    Ok(here)
}

fn make_folder(parent: &Folder, name: &str) -> Result<Folder, Errno> {
    match step!("mkdir", fs::mkdirat(parent, name, Mode::from_raw_mode(0o777))) {
        Ok(()) => step!("folder_fsync", fs::fsync(parent))?,
        Err(Errno::EXIST) => {}
        Err(error) => return Err(error),
    }
    parent.folder(name)
}
