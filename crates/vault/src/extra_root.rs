//! Folders outside the vault that the user added: each is seen as a top-level folder of the vault,
//! and only read.

mod admission;
mod held;
mod refusal;

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::NotePath;
use protocol::settings::ExtraRoot;
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::fold::fold;
use crate::folder::Folder;
use crate::{Unlisted, Vault, VaultError};
use held::Held;

pub use admission::admit_extra_roots;
pub use refusal::ExtraRootError;

/// All roots of a vault, in the user's order.
#[derive(Debug, Default)]
pub(crate) struct ExtraRoots {
    held: Vec<Held>,
    /// Those that have no name under which they could be seen.
    unnamed: Vec<Unlisted>,
    /// Held while one is opened: of two that lie within each other only one is.
    opening: Mutex<()>,
}

/// A root as it is now: its name, and its folder or the rest of a sentence on why it is not seen.
pub(crate) type Standing = (NotePath, Result<Arc<Folder>, String>);

impl Vault {
    /// From now on and for all clones these folders are seen as top-level folders of the vault, to
    /// be read and never changed. Touches no disk: each is opened when something in it is asked
    /// for, and one that is not there comes back when it is.
    ///
    /// While a root is set, nothing is made in the vault under its name, be the root there or not.
    /// What the vault itself has under that name, a link excepted, is seen instead of the root.
    pub fn set_extra_roots(&self, roots: &[ExtraRoot]) {
        let mut extra = ExtraRoots::default();
        for (root, name) in roots.iter().zip(admission::names(roots, |_| false)) {
            match admission::as_path(&name) {
                Some(name) => extra.held.push(Held::new(name, &root.folder)),
                None => extra.unnamed.push(Unlisted::of(&name, refusal::UNNAMED.to_owned())),
            }
        }
        self.replace_extra_roots(extra);
    }

    /// Refuses a path at which nothing may change, because its top folder has the name of an extra
    /// root, however it is spelled.
    pub fn takes_changes(&self, path: &NotePath) -> Result<(), VaultError> {
        let top = path.parts().next().unwrap_or_default();
        let names_it = |held: &Held| fold(held.name.as_str()) == fold(top);
        if self.extra_roots().held.iter().any(names_it) && !self.has_own(top) {
            return Err(VaultError::InExtraRoot { path: path.clone() });
        }
        Ok(())
    }

    /// The top-level folders that are extra roots, be these there or not.
    #[must_use]
    pub fn extra_root_names(&self) -> Vec<NotePath> {
        let extra = self.extra_roots();
        let names = extra.held.iter().map(|held| &held.name);
        names.filter(|name| !self.has_own(name.as_str())).cloned().collect()
    }

    /// Whether `path` leads into an extra root, unless the vault itself has something under the
    /// name. Touches no disk.
    pub(crate) fn may_be_extra(&self, path: &NotePath) -> bool {
        self.extra_roots().at(path.as_str()).is_some()
    }

    /// Whether `path` leads into an extra root.
    pub(crate) fn is_extra(&self, path: &NotePath) -> bool {
        let extra = self.extra_roots();
        extra.at(path.as_str()).is_some_and(|(held, _)| !self.has_own(held.name.as_str()))
    }

    /// Where `path` is looked up for reading: the vault's folder or a root's, and the way from
    /// there. Must not be used for changing anything.
    pub(crate) fn reach<'p>(&self, path: &'p str) -> Result<(Arc<Folder>, &'p str), Errno> {
        let extra = self.extra_roots();
        match extra.at(path) {
            Some((held, rest)) if !self.has_own(held.name.as_str()) => {
                let folder = extra.folder_of(held, &self.root());
                Ok((folder.map_err(|_| Errno::NOENT)?, rest))
            }
            _ => Ok((self.root(), path)),
        }
    }

    /// Opens the folder `path`, or the top one for `None`, for reading.
    pub(crate) fn folder_to_read(&self, path: Option<&str>) -> Result<Folder, Errno> {
        let (top, rest) = self.reach(path.unwrap_or("."))?;
        top.folder(rest)
    }

    /// Opens what is at `path` for reading; a link is refused and a pipe not waited for.
    pub(crate) fn open_to_read(&self, path: &NotePath) -> Result<OwnedFd, Errno> {
        let (top, rest) = self.reach(path.as_str())?;
        top.open(rest, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())
    }

    /// What stands at `path`, without following a link in its last part.
    pub(crate) fn stat_to_read(&self, path: &str) -> Result<Stat, Errno> {
        let (top, rest) = self.reach(path)?;
        top.stat(rest)
    }

    /// All roots as they are now; one whose folder left its place is let go, one that is back is
    /// taken.
    pub(crate) fn standing_roots(&self) -> Vec<Standing> {
        let (extra, vault) = (self.extra_roots(), self.root());
        let standing = |held: &Held| {
            if self.has_own(held.name.as_str()) {
                return Err(refusal::HIDDEN.to_owned());
            }
            extra.look_at(held, &vault).map_err(|error| error.about_a_known_one().to_owned())
        };
        extra.held.iter().map(|held| (held.name.clone(), standing(held))).collect()
    }

    /// The roots that cannot be seen under any name, and why.
    pub(crate) fn unnamed_roots(&self) -> Vec<Unlisted> {
        self.extra_roots().unnamed.clone()
    }

    /// Whether the vault itself has something at the top under `name`. A link does not count, and
    /// what cannot be looked at does.
    fn has_own(&self, name: &str) -> bool {
        match self.root().stat(name) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode) != FileType::Symlink,
            Err(error) => error != Errno::NOENT,
        }
    }
}

impl ExtraRoots {
    /// The root that the top folder of `path` names, and the way from there.
    fn at<'p>(&self, path: &'p str) -> Option<(&Held, &'p str)> {
        let (top, rest) = path.split_once('/').unwrap_or((path, "."));
        let held = self.held.iter().find(|held| held.name.as_str() == top)?;
        Some((held, rest))
    }

    /// The folder of a root: the one that is held, or else the one that stands at its place.
    fn folder_of(&self, held: &Held, vault: &Folder) -> Result<Arc<Folder>, ExtraRootError> {
        match held.folder() {
            Some(folder) => Ok(folder),
            None => self.look_at(held, vault),
        }
    }

    /// The folder that stands at a root's place. What was held is let go where that is another one.
    fn look_at(&self, held: &Held, vault: &Folder) -> Result<Arc<Folder>, ExtraRootError> {
        let _alone = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        held.renew(|opened| {
            let others = self.held.iter().filter(|other| !std::ptr::eq(*other, held));
            let others: Vec<Arc<Folder>> = others.filter_map(Held::folder).collect();
            admission::apart(&held.place, opened, Some(vault), &others)
        })
    }
}
