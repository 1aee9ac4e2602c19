//! The vault itself: one open handle on the folder that holds the notes.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use protocol::{FileId, SettledIntent};
use rustix::fs::{self, Access, AtFlags, StatVfsMountFlags};

use crate::apply::recover::StagedFileRecorder;
use crate::apply::replaced_file::ReplacedFiles;
use crate::extra_root::ExtraRoots;
use crate::filesystem::folder::FolderHandle;
use crate::filesystem::system_folder::open_directory;
use crate::filesystem::temp_files::UnremovedTempFiles;
use crate::names::normalization::FolderNames;
use crate::vault_id::PendingId;
use crate::watch::TrackedFiles;
use crate::{OpenError, PrivacyFilter, vault_id};

/// An open vault. Cheap to clone; all clones are the same vault.
///
/// The handle follows the folder, not its name: if the folder is renamed, the vault goes with it,
/// until a [`crate::VaultWatch`] finds another folder under the old name and takes that one.
/// Except for [`Vault::apply`] and [`Vault::recover`] all methods block on the disk.
#[derive(Debug, Clone)]
pub struct Vault {
    inner: Arc<VaultState>,
    pub(crate) privacy_filter: Option<Arc<PrivacyFilter>>,
    /// Set in the handle that recovery works with.
    pub(crate) staged_file_recorder: Option<StagedFileRecorder>,
    /// Set in the handles that stage an order, carry it out or recover.
    pub(crate) folder_names: Option<Arc<Mutex<FolderNames>>>,
    /// How often all clones together listed a folder to look for twins.
    #[cfg(test)]
    pub(crate) name_listings: Arc<std::sync::atomic::AtomicUsize>,
}

#[derive(Debug)]
struct VaultState {
    folder: PathBuf,
    name: String,
    root: RwLock<Arc<FolderHandle>>,
    symlink_policy: RwLock<SymlinkPolicy>,
    extra_roots: RwLock<Arc<ExtraRoots>>,
    pending_id: Mutex<Option<PendingId>>,
    /// The id that the folder was seen to carry.
    known_id: Mutex<Option<String>>,
    /// Inode and birth time of the folder.
    folder_id: Option<FileId>,
    tracked_files: TrackedFiles,
    replaced_files: ReplacedFiles,
    unremoved_temp_files: UnremovedTempFiles,
    change_lock: Arc<tokio::sync::Mutex<ChangeLockState>>,
}

/// How links are treated when a note is read. Nothing is ever written through one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SymlinkPolicy {
    /// A note behind a link is not read.
    #[default]
    Refused,
    /// Those to a place in the vault that is not protected are followed.
    Inside,
}

/// The state that a change of notes must know of earlier changes.
#[derive(Debug, Default)]
pub(crate) struct ChangeLockState {
    /// Whether the ledger may hold open intents of theirs. They are settled before anything else
    /// changes: a later change of the same note would make them look as if they had not happened.
    pub(crate) unsettled: bool,
    /// How changes ended, until the ledger has it. The notes alone do not tell: somebody may have
    /// reverted a change by hand since, and a change that was stopped must not be made later.
    pub(crate) unrecorded: Vec<SettledIntent>,
}

impl Vault {
    /// Opens `folder`, which may itself be a link; nothing in it is read or written yet.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        let handle = open_directory(folder)?;
        Ok(Self::from_handle(folder, handle))
    }

    /// The folder as it was named when the vault was opened. For showing, not for opening.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// The folder's last part: what a person calls the vault.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Whether the file system and the permissions of the top folder take writes now. Asks the
    /// system and makes no file, so a full disk or a protected subfolder is not noticed.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        let root = self.root();
        let root = root.handle();
        let mounted_for_writing =
            fs::fstatvfs(root).is_ok_and(|disk| !disk.f_flag.contains(StatVfsMountFlags::RDONLY));
        let wanted = Access::WRITE_OK | Access::EXEC_OK;
        mounted_for_writing && fs::accessat(root, ".", wanted, AtFlags::EACCESS).is_ok()
    }

    /// Sets how links are treated when a note is read, from now on and for all clones.
    pub fn set_symlink_policy(&self, links: SymlinkPolicy) {
        *self.inner.symlink_policy.write().unwrap_or_else(PoisonError::into_inner) = links;
    }

    /// The id to write with the first change.
    pub(crate) fn pending_id(&self) -> &Mutex<Option<PendingId>> {
        &self.inner.pending_id
    }

    /// The files that are followed, wherever they are by now.
    pub(crate) fn tracked_files(&self) -> &TrackedFiles {
        &self.inner.tracked_files
    }

    /// The files that were replaced and are held a moment longer.
    pub(crate) fn replaced_files(&self) -> &ReplacedFiles {
        &self.inner.replaced_files
    }

    /// Temporary files that could not be removed.
    pub(crate) fn unremoved_temp_files(&self) -> &UnremovedTempFiles {
        &self.inner.unremoved_temp_files
    }

    pub(crate) fn symlink_policy(&self) -> SymlinkPolicy {
        *self.inner.symlink_policy.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn extra_roots(&self) -> Arc<ExtraRoots> {
        Arc::clone(&self.inner.extra_roots.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace_extra_roots(&self, extra: ExtraRoots) {
        *self.inner.extra_roots.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(extra);
    }

    /// The vault's own folder: where it changes, and where its own files are.
    pub(crate) fn root(&self) -> Arc<FolderHandle> {
        Arc::clone(&self.inner.root.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the folder still stands under its name.
    pub(crate) fn is_at_original_path(&self) -> bool {
        self.root().stands_at(&self.inner.folder)
    }

    /// Takes the folder that stands under the name now, and says whether it is this vault's, as ADR 0017
    /// tells. Another folder is another vault, with a history of its own: it has to be opened.
    pub(crate) fn reattach(&self) -> bool {
        if self.is_at_original_path() {
            return true;
        }
        let Ok(handle) = open_directory(&self.inner.folder) else { return false };
        let folder = FolderHandle::from_root(handle);
        let is_it = folder.has_entries() && self.is_same_vault(&folder);
        if is_it {
            *self.inner.root.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(folder);
        }
        is_it
    }

    /// Whether a folder is the one that was opened: by the id that it carries, its inode and the time at
    /// which it was made.
    fn is_same_vault(&self, folder: &FolderHandle) -> bool {
        let (known, carried) = (self.known_id(), vault_id::read_id(folder));
        if known.is_some() && known != carried {
            return false;
        }
        let carries = known.is_some();
        match (self.inner.folder_id, folder.file_id(".").ok()) {
            (Some(before), Some(now)) => match (before.born, now.born) {
                (Some(then), Some(born)) => then == born && (carries || before.inode == now.inode),
                _ => carries || before.inode == now.inode,
            },
            _ => carries,
        }
    }

    /// The id that the folder was seen to carry.
    fn known_id(&self) -> Option<String> {
        self.inner.known_id.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn remember_id(&self, id: String) {
        *self.inner.known_id.lock().unwrap_or_else(PoisonError::into_inner) = Some(id);
    }

    /// Held while notes change, by the thread that changes them: a caller that goes away does not
    /// let the next change begin in the middle of this one.
    pub(crate) fn change_lock(&self) -> Arc<tokio::sync::Mutex<ChangeLockState>> {
        Arc::clone(&self.inner.change_lock)
    }

    fn from_handle(folder: &Path, handle: OwnedFd) -> Self {
        let named = folder.file_name().unwrap_or(folder.as_os_str());
        let handle = FolderHandle::from_root(handle);
        let (mark, known_id) = (handle.file_id(".").ok(), vault_id::read_id(&handle));
        let inner = VaultState {
            folder: folder.to_owned(),
            name: named.to_string_lossy().into_owned(),
            root: RwLock::new(Arc::new(handle)),
            symlink_policy: RwLock::default(),
            extra_roots: RwLock::default(),
            pending_id: Mutex::default(),
            known_id: Mutex::new(known_id),
            folder_id: mark,
            tracked_files: TrackedFiles::default(),
            replaced_files: ReplacedFiles::default(),
            unremoved_temp_files: UnremovedTempFiles::default(),
            change_lock: Arc::default(),
        };
        Self {
            inner: Arc::new(inner),
            privacy_filter: None,
            staged_file_recorder: None,
            folder_names: None,
            #[cfg(test)]
            name_listings: Arc::default(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]
mod tests {
    use super::*;

    #[test]
    fn another_folder_in_its_place_is_not_the_vault() {
        let all = tempfile::tempdir().unwrap();
        let (folder, away) = (all.path().join("vault"), all.path().join("away"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("old.md"), "old").unwrap();
        let vault = Vault::open(&folder).unwrap();
        let is_there = |name| vault.root().stat(name).is_ok();
        assert!(vault.is_at_original_path());

        std::fs::rename(&folder, &away).unwrap();
        assert!(!vault.is_at_original_path() && !vault.reattach());
        std::fs::create_dir(&folder).unwrap();
        assert!(!vault.reattach() && is_there("old.md"));

        std::fs::write(folder.join("new.md"), "new").unwrap();
        assert!(!vault.reattach() && is_there("old.md") && !is_there("new.md"));

        std::fs::rename(&folder, all.path().join("other")).unwrap();
        std::fs::rename(&away, &folder).unwrap();
        assert!(vault.reattach() && vault.is_at_original_path());
    }
}
