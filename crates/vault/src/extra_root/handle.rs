//! One extra root: the folder that is held, and whether it still stands at its place.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use protocol::NotePath;

use super::ExtraRootError;
use crate::filesystem::folder::FolderHandle;
use crate::filesystem::system_folder::open_directory;

/// A root under its name, open or not.
#[derive(Debug)]
pub(super) struct ExtraRootHandle {
    /// The top-level folder of the vault that it is seen as.
    pub(super) name: NotePath,
    /// Where it is, as the user gave it.
    pub(super) place: PathBuf,
    folder: RwLock<Option<Arc<FolderHandle>>>,
}

impl ExtraRootHandle {
    pub(super) fn new(name: NotePath, place: &str) -> Self {
        Self { name, place: PathBuf::from(place), folder: RwLock::default() }
    }

    /// The folder that was taken, if one was.
    pub(super) fn folder(&self) -> Option<Arc<FolderHandle>> {
        self.folder.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The folder that stands at the place now: the one that is held, or another one that `judge`
    /// lets in. An empty one is none: an unmounted disk leaves such a one behind.
    pub(super) fn refresh(
        &self,
        judge: impl FnOnce(&FolderHandle) -> Result<(), ExtraRootError>,
    ) -> Result<Arc<FolderHandle>, ExtraRootError> {
        let renewed = match self.folder().filter(|folder| folder.stands_at(&self.place)) {
            Some(folder) => Ok(folder),
            None => open_folder(&self.place)
                .and_then(|folder| judge(&folder).map(|()| Arc::new(folder))),
        };
        let renewed = renewed.and_then(|folder| {
            let empty = || ExtraRootError::Empty { folder: self.place.clone() };
            folder.has_entries().then_some(folder).ok_or_else(empty)
        });
        let now = renewed.as_ref().ok().map(Arc::clone);
        *self.folder.write().unwrap_or_else(PoisonError::into_inner) = now;
        renewed
    }
}

/// Opens the folder at `place`, which may itself be a link.
pub(super) fn open_folder(place: &Path) -> Result<FolderHandle, ExtraRootError> {
    if !place.is_absolute() {
        return Err(ExtraRootError::NotWhole { folder: place.to_owned() });
    }
    Ok(FolderHandle::from_root(open_directory(place)?))
}
