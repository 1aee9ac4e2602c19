//! Folders outside the vault that the user added: each is seen as a top-level folder of the vault,
//! and only read.

mod error;
mod handle;
mod roots;
mod validate;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use protocol::NotePath;
use protocol::settings::ExtraRoot;
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::filesystem::folder::FolderHandle;
use crate::names::name_key::name_key;
use crate::{Unlisted, Vault, VaultError};
use handle::ExtraRootHandle;
use roots::{assign_names, name_to_path};

pub use error::ExtraRootError;
pub(crate) use roots::ExtraRoots;
pub use validate::validate_extra_roots;

/// A root as it is now: its name, and its folder or the rest of a sentence on why it is not seen.
pub(crate) type ExtraRootState = (NotePath, Result<Arc<FolderHandle>, String>);

impl Vault {
    /// From now on and for all clones these folders are seen as top-level folders of the vault, to
    /// be read and never changed. Touches no disk: each folder is opened at its first use, and a
    /// missing one is seen as soon as it exists.
    ///
    /// While a root is set, nothing is made in the vault under its name, be the root there or not.
    /// An entry of the vault itself with that name, other than a link, hides the root.
    pub fn set_extra_roots(&self, roots: &[ExtraRoot]) {
        let mut extra = ExtraRoots::default();
        for (root, name) in roots.iter().zip(assign_names(roots, |_| false)) {
            match name_to_path(&name) {
                Some(name) => extra.roots.push(ExtraRootHandle::new(name, &root.folder)),
                None => extra
                    .unnamed
                    .push(Unlisted::from_name(&name, error::UNNAMED_MESSAGE.to_owned())),
            }
        }
        self.replace_extra_roots(extra);
    }

    /// Refuses a path at which nothing may change, because its top folder has the name of an extra
    /// root, however it is spelled.
    pub fn check_not_in_extra_root(&self, path: &NotePath) -> Result<(), VaultError> {
        let top = path.parts().next().unwrap_or_default();
        let names_it = |held: &ExtraRootHandle| name_key(held.name.as_str()) == name_key(top);
        if self.extra_roots().roots.iter().any(names_it) && !self.has_top_level_entry(top) {
            return Err(VaultError::InExtraRoot { path: path.clone() });
        }
        Ok(())
    }

    /// The top-level folders that are extra roots, be these there or not.
    #[must_use]
    pub fn extra_root_names(&self) -> Vec<NotePath> {
        let extra = self.extra_roots();
        let names = extra.roots.iter().map(|held| &held.name);
        names.filter(|name| !self.has_top_level_entry(name.as_str())).cloned().collect()
    }

    /// Whether `path` leads into an extra root, unless the vault itself has something under the
    /// name. Touches no disk.
    pub(crate) fn may_be_in_extra_root(&self, path: &NotePath) -> bool {
        self.extra_roots().find_root(path.as_str()).is_some()
    }

    /// Whether `path` leads into an extra root.
    pub(crate) fn is_in_extra_root(&self, path: &NotePath) -> bool {
        let extra = self.extra_roots();
        extra
            .find_root(path.as_str())
            .is_some_and(|(held, _)| !self.has_top_level_entry(held.name.as_str()))
    }

    /// Where `path` is looked up for reading: the vault's folder or a root's, and the way from
    /// there. Must not be used for changing anything.
    pub(crate) fn locate_to_read<'p>(
        &self,
        path: &'p str,
    ) -> Result<(Arc<FolderHandle>, &'p str), Errno> {
        let extra = self.extra_roots();
        match extra.find_root(path) {
            Some((held, rest)) if !self.has_top_level_entry(held.name.as_str()) => {
                let folder = extra.open_root(held, &self.root());
                Ok((folder.map_err(|_| Errno::NOENT)?, rest))
            }
            _ => Ok((self.root(), path)),
        }
    }

    /// Opens the folder `path`, or the top one for `None`, for reading.
    pub(crate) fn open_folder_to_read(&self, path: Option<&str>) -> Result<FolderHandle, Errno> {
        let (top, rest) = self.locate_to_read(path.unwrap_or("."))?;
        top.open_folder(rest)
    }

    /// Opens what is at `path` for reading; a link is refused and a pipe not waited for.
    pub(crate) fn open_to_read(&self, path: &NotePath) -> Result<OwnedFd, Errno> {
        let (top, rest) = self.locate_to_read(path.as_str())?;
        top.open(rest, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())
    }

    /// The metadata of the entry at `path`, without following a link in its last part.
    pub(crate) fn stat_to_read(&self, path: &str) -> Result<Stat, Errno> {
        let (top, rest) = self.locate_to_read(path)?;
        top.stat(rest)
    }

    /// All roots as they are now; one whose folder left its place is let go, one that is back is
    /// taken.
    pub(crate) fn extra_root_states(&self) -> Vec<ExtraRootState> {
        let (extra, vault) = (self.extra_roots(), self.root());
        let standing = |held: &ExtraRootHandle| {
            if self.has_top_level_entry(held.name.as_str()) {
                return Err(error::HIDDEN_MESSAGE.to_owned());
            }
            extra.reopen_root(held, &vault).map_err(|error| error.message_without_path().to_owned())
        };
        extra.roots.iter().map(|held| (held.name.clone(), standing(held))).collect()
    }

    /// The roots that cannot be seen under any name, and why.
    pub(crate) fn unnamed_roots(&self) -> Vec<Unlisted> {
        self.extra_roots().unnamed.clone()
    }

    /// Whether the vault itself has an entry at the top under `name`. A link does not count, and an
    /// entry that cannot be read does.
    fn has_top_level_entry(&self, name: &str) -> bool {
        match self.root().stat(name) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode) != FileType::Symlink,
            Err(error) => error != Errno::NOENT,
        }
    }
}
