//! The place of one note on disk: its folder, its name, its temporary name in the same folder, and
//! the single steps between them.

use std::fs::File;
use std::io::Write;

use protocol::{FileId, Intent, NotePath};
use rustix::fs::{self, AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::apply::outcome::FileAfter;
use crate::filesystem::dir_entry::create_folders;
use crate::filesystem::entry_content::{self, EntryContent};
use crate::filesystem::fault_point::with_fault_points;
use crate::filesystem::file_metadata::{self, MetadataError, MetadataSource};
use crate::filesystem::folder::{FolderHandle, Inode, file_id_of};
use crate::filesystem::temp_files::UnremovedTempFiles;
use crate::filesystem::{note_file, permission};
use crate::{Vault, VaultError};

/// The folder is held open, so that all steps of a change happen in the same one.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    path: NotePath,
    folder: FolderHandle,
    temp: String,
    unremoved: UnremovedTempFiles,
}

/// How a rename with two names in play went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExchangeResult {
    Done,
    /// The file system cannot exchange; nothing happened.
    Unsupported,
}

impl AtomicFile {
    /// The place of an intent whose folder exists.
    pub(crate) fn open(vault: &Vault, intent: &Intent) -> Result<Self, VaultError> {
        Self::open_with_temp_name(vault, intent, intent.temp_name.clone())
    }

    /// The same with a different name for the temporary file.
    pub(crate) fn open_with_temp_name(
        vault: &Vault,
        intent: &Intent,
        temp: String,
    ) -> Result<Self, VaultError> {
        Self::open_at_path(vault, &intent.change.path, temp)
    }

    /// The place of the note `path`, whose folder exists.
    pub(crate) fn open_at_path(
        vault: &Vault,
        path: &NotePath,
        temp: String,
    ) -> Result<Self, VaultError> {
        let folder = vault
            .root()
            .open_folder_or_self(path.folder())
            .map_err(|error| VaultError::from_errno("changed", path, error))?;
        Ok(Self {
            path: path.clone(),
            folder,
            temp,
            unremoved: vault.unremoved_temp_files().clone(),
        })
    }

    /// The place of an intent; folders that are missing are made, each durable in its parent.
    pub(crate) fn open_or_create_folders(
        vault: &Vault,
        intent: &Intent,
    ) -> Result<Self, VaultError> {
        let path = intent.change.path.clone();
        vault.check_not_in_extra_root(&path)?;
        let folder = create_folders(&vault.root(), path.folder()).map_err(|error| match error {
            Errno::NOTDIR => VaultError::NotANote { path: path.clone(), what: "inside a file" },
            other => VaultError::from_errno("created", &path, other),
        })?;
        let (temp, unremoved) = (intent.temp_name.clone(), vault.unremoved_temp_files().clone());
        Ok(Self { path, folder, temp, unremoved })
    }

    pub(crate) fn path(&self) -> &NotePath {
        &self.path
    }

    /// Opens the note for reading; a link is refused and a pipe not waited for.
    pub(crate) fn open_note(&self) -> Result<File, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        self.folder.open(self.path.name(), flags, Mode::empty()).map(File::from)
    }

    /// Opens the temporary file for reading, in the same way.
    pub(crate) fn open_temp(&self) -> Result<File, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        self.folder.open(&self.temp, flags, Mode::empty()).map(File::from)
    }

    /// Whether the temporary name stands for this file.
    pub(crate) fn temp_is(&self, file: &File) -> bool {
        let (Ok(named), Ok(held)) = (self.folder.stat(&self.temp), fs::fstat(file)) else {
            return false;
        };
        Inode::from_stat(&named) == Inode::from_stat(&held)
    }

    /// Which file has the temporary name.
    pub(crate) fn temp_id(&self) -> Option<FileId> {
        self.folder.file_id(&self.temp).ok()
    }

    /// When the file with the temporary name got it, or was changed otherwise, in nanoseconds since 1970.
    pub(crate) fn temp_ctime(&self) -> Option<i64> {
        let stat = self.folder.stat(&self.temp).ok()?;
        let nanoseconds = i64::try_from(stat.st_ctime_nsec).ok()?;
        stat.st_ctime.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
    }

    /// Which file has the note's name.
    pub(crate) fn note_id(&self) -> Option<FileId> {
        self.folder.file_id(self.path.name()).ok()
    }

    /// The same, if it is there, for comparing.
    pub(crate) fn temp_inode(&self) -> Option<Inode> {
        self.folder.stat(&self.temp).ok().as_ref().map(Inode::from_stat)
    }

    pub(crate) fn folder(&self) -> &FolderHandle {
        &self.folder
    }

    pub(crate) fn temp_name(&self) -> &str {
        &self.temp
    }

    /// Reads the entry that has the note's name.
    pub(crate) fn read_note_entry(&self) -> Result<EntryContent, VaultError> {
        entry_content::read_entry(&self.folder, self.path.name(), &self.path)
    }

    /// Reads the entry that has the temporary name.
    pub(crate) fn read_temp_entry(&self) -> Result<EntryContent, VaultError> {
        with_fault_points!(
            "temp_read",
            entry_content::read_entry(&self.folder, &self.temp, &self.path)
        )
    }

    /// Makes the temporary file with `bytes`, durable when this returns. Owner, permissions and
    /// attributes are those of `source`, or it is refused. Says which file it is. On failure no temporary file is left,
    /// unless the folder stopped taking removals in that moment.
    pub(crate) fn write_temp(
        &self,
        bytes: &[u8],
        source: MetadataSource<'_>,
    ) -> Result<FileAfter, VaultError> {
        permission::check_folder_writable(&self.folder, &self.path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mode = source.creation_mode();
        let made = with_fault_points!("temp_create", self.folder.open(&self.temp, flags, mode));
        let mut file = File::from(made.map_err(|error| self.io_error(error))?);
        let written =
            source.copy(&file).and_then(|()| with_fault_points!("write", file.write_all(bytes)));
        let kept = written.map_err(MetadataError::from).and_then(|()| {
            source.verify(&file)?;
            with_fault_points!("fsync", file.sync_all()).map_err(MetadataError::from)
        });
        kept.map(|()| file_id_of(&file).ok()).map_err(|lost| {
            self.discard_temp();
            self.metadata_error(lost)
        })
    }

    /// Copies the metadata of the old file, which has the temporary name now, to the note: somebody
    /// may have changed the metadata since the note was staged. Refused if the old file is
    /// write-protected by now.
    pub(crate) fn copy_metadata_to_note(&self) -> Result<(), VaultError> {
        let failed = |error| self.io_error(error);
        let (old, new) = (self.open_temp().map_err(failed)?, self.open_note().map_err(failed)?);
        file_metadata::verify_metadata(&old, &new).map_err(|lost| self.metadata_error(lost))?;
        // The system is asked about the name, whose file has the permissions of the old one now.
        self.check_writable(&old)
    }

    /// Copies the present metadata of the note to the temporary file. Refused if the note is
    /// write-protected by now.
    pub(crate) fn copy_metadata_to_temp(&self) -> Result<(), VaultError> {
        let failed = |error| self.io_error(error);
        let (note, temp) = (self.open_note().map_err(failed)?, self.open_temp().map_err(failed)?);
        file_metadata::verify_metadata(&note, &temp).map_err(|lost| self.metadata_error(lost))?;
        self.check_writable(&note)
    }

    /// Refuses a note that this user may not write.
    pub(crate) fn check_writable(&self, note: &File) -> Result<(), VaultError> {
        permission::check_note_writable(&self.folder, &self.path, note)
    }

    /// The temporary file as it was staged: one file of its own with the bytes after. Another
    /// program may have put something else under its name.
    pub(crate) fn staged_temp(&self, after: &[u8]) -> Result<(Inode, FileAfter), VaultError> {
        let disturbed = || VaultError::Disturbed { path: self.path.clone() };
        let file = self.open_temp().map_err(|error| match error {
            Errno::NOENT | Errno::LOOP | Errno::NXIO => disturbed(),
            other => self.io_error(other),
        })?;
        let stat = fs::fstat(&file).map_err(|error| self.io_error(error))?;
        let is_ours = note_file::check_readable(&self.path, &stat).is_ok()
            && note_file::read_contents(&self.path, &file, &stat)? == after;
        if is_ours {
            Ok((Inode::from_stat(&stat), file_id_of(&file).ok()))
        } else {
            Err(disturbed())
        }
    }

    /// Whether the note's name stands for this file.
    pub(crate) fn note_is(&self, file: Inode) -> Result<bool, Errno> {
        match self.folder.stat(self.path.name()) {
            Ok(stat) => Ok(Inode::from_stat(&stat) == file),
            Err(Errno::NOENT | Errno::LOOP) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Gives the temporary file the note's name, which nothing may have.
    pub(crate) fn rename_to_free_name(&self) -> Result<(), Errno> {
        let put = with_fault_points!("rename", self.rename(RenameFlags::NOREPLACE));
        if !matches!(put, Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP)) {
            return put;
        }
        // Without NOREPLACE there is a moment between this look and the rename.
        match self.folder.stat(self.path.name()) {
            Err(Errno::NOENT) => with_fault_points!("rename", self.rename(RenameFlags::empty())),
            Ok(_) => Err(Errno::EXIST),
            Err(error) => Err(error),
        }
    }

    /// Gives the note the temporary name, which nothing has.
    pub(crate) fn rename_note_to_temp(&self) -> Result<(), Errno> {
        let (from, to, flags) = (self.path.name(), &self.temp, RenameFlags::NOREPLACE);
        with_fault_points!("rename", fs::renameat_with(&self.folder, from, &self.folder, to, flags))
    }

    /// Exchanges the note and the temporary file in one step.
    pub(crate) fn exchange(&self) -> Result<ExchangeResult, Errno> {
        match with_fault_points!("exchange", self.rename(RenameFlags::EXCHANGE)) {
            Ok(()) => Ok(ExchangeResult::Done),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(ExchangeResult::Unsupported),
            Err(error) => Err(error),
        }
    }

    /// Renames the temporary file to the note's name; a file that had the name is gone.
    pub(crate) fn rename_over_note(&self) -> Result<(), Errno> {
        with_fault_points!("rename", self.rename(RenameFlags::empty()))
    }

    /// Removes the temporary file. That it stays behind harms no note, so it is only logged, and tried
    /// again after this order and the next ones.
    pub(crate) fn discard_temp(&self) {
        let removed =
            with_fault_points!("unlink", fs::unlinkat(&self.folder, &self.temp, AtFlags::empty()));
        if let Err(error) = removed
            && error != Errno::NOENT
        {
            tracing::warn!(%error, "the temporary file of a note could not be removed");
            if let Some(file) = self.temp_inode() {
                self.unremoved.push(&self.path, &self.temp, file);
            }
        }
    }

    /// Makes the renames in this folder durable.
    pub(crate) fn sync(&self) -> Result<(), VaultError> {
        with_fault_points!("folder_fsync", fs::fsync(&self.folder))
            .map_err(|error| self.io_error(error))
    }

    /// Translates an error number of a step to the error for the note.
    pub(crate) fn io_error(&self, error: Errno) -> VaultError {
        VaultError::from_errno("changed", &self.path, error)
    }

    fn metadata_error(&self, lost: MetadataError) -> VaultError {
        match lost {
            MetadataError::Unkept => VaultError::Unkept { path: self.path.clone() },
            MetadataError::Io(error) => {
                self.io_error(Errno::from_io_error(&error).unwrap_or(Errno::IO))
            }
        }
    }

    fn rename(&self, flags: RenameFlags) -> Result<(), Errno> {
        fs::renameat_with(&self.folder, &self.temp, &self.folder, self.path.name(), flags)
    }
}
