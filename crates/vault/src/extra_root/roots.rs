//! The folders that are seen in the vault, each under a name of its own, outside the vault and each other.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::NotePath;
use protocol::settings::ExtraRoot;
use rustix::fs::{self, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::ExtraRootError;
use super::handle::ExtraRootHandle;
use crate::Unlisted;
use crate::filesystem::folder::FolderHandle;
use crate::filesystem::system_folder::open_error;
use crate::names::name_key::name_key;

/// More folders of one name than anybody has.
const MAX_NAME_SUFFIX: usize = 1_000;

/// All roots of a vault, in the user's order.
#[derive(Debug, Default)]
pub(crate) struct ExtraRoots {
    pub(super) roots: Vec<ExtraRootHandle>,
    /// Those that have no name under which they could be seen.
    pub(super) unnamed: Vec<Unlisted>,
    /// Held while one is opened: of two that lie within each other only one is.
    opening: Mutex<()>,
}

impl ExtraRoots {
    /// The root that the top folder of `path` names, and the way from there.
    pub(super) fn find_root<'p>(&self, path: &'p str) -> Option<(&ExtraRootHandle, &'p str)> {
        let (top, rest) = path.split_once('/').unwrap_or((path, "."));
        let held = self.roots.iter().find(|held| held.name.as_str() == top)?;
        Some((held, rest))
    }

    /// The folder of a root: the one that is held, or else the one that stands at its place.
    pub(super) fn open_root(
        &self,
        held: &ExtraRootHandle,
        vault: &FolderHandle,
    ) -> Result<Arc<FolderHandle>, ExtraRootError> {
        match held.folder() {
            Some(folder) => Ok(folder),
            None => self.reopen_root(held, vault),
        }
    }

    /// Opens the folder at a root's place. A held handle is released if the folder there is a
    /// different one.
    pub(super) fn reopen_root(
        &self,
        held: &ExtraRootHandle,
        vault: &FolderHandle,
    ) -> Result<Arc<FolderHandle>, ExtraRootError> {
        let _alone = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        held.refresh(|opened| {
            let others = self.roots.iter().filter(|other| !std::ptr::eq(*other, held));
            let others: Vec<Arc<FolderHandle>> =
                others.filter_map(ExtraRootHandle::folder).collect();
            check_disjoint(&held.place, opened, Some(vault), &others)
        })
    }
}

/// Refuses a folder that shares notes with the vault or with another root.
pub(super) fn check_disjoint(
    place: &Path,
    folder: &FolderHandle,
    vault: Option<&FolderHandle>,
    others: &[Arc<FolderHandle>],
) -> Result<(), ExtraRootError> {
    let named = || place.to_owned();
    let failed = |error| ExtraRootError::Open(open_error(place, error));
    let is_in =
        |inner: &FolderHandle, outer: &FolderHandle| is_inside(inner, outer).map_err(failed);
    if let Some(vault) = vault {
        match (is_in(folder, vault)?, is_in(vault, folder)?) {
            (true, true) => return Err(ExtraRootError::TheVault { folder: named() }),
            (true, false) => return Err(ExtraRootError::InVault { folder: named() }),
            (false, true) => return Err(ExtraRootError::HoldsVault { folder: named() }),
            (false, false) => {}
        }
    }
    for other in others {
        if is_in(folder, other)? || is_in(other, folder)? {
            return Err(ExtraRootError::Overlaps { folder: named() });
        }
    }
    Ok(())
}

/// The name of each root: the given one, else the last part of its folder, with a number where an
/// earlier one has it or, if it was not given, where it `is_taken` otherwise.
pub(super) fn assign_names(roots: &[ExtraRoot], is_taken: impl Fn(&str) -> bool) -> Vec<String> {
    let mut used = HashSet::new();
    let mut named = Vec::with_capacity(roots.len());
    for root in roots {
        let last = Path::new(&root.folder).file_name().unwrap_or_default();
        let is_given = !root.name.is_empty();
        let wanted = if is_given { root.name.clone() } else { last.to_string_lossy().into_owned() };
        let is_free =
            |name: &String| !used.contains(&name_key(name)) && (is_given || !is_taken(name));
        let numbered = (2..MAX_NAME_SUFFIX).map(|number| format!("{wanted} {number}"));
        let mut names = std::iter::once(wanted.clone()).chain(numbered);
        let name = names.find(is_free).unwrap_or(wanted);
        used.insert(name_key(&name));
        named.push(name);
    }
    named
}

/// The name as a path, if it can be that of a top-level folder.
pub(super) fn name_to_path(name: &str) -> Option<NotePath> {
    NotePath::parse(name).ok().filter(|path| path.as_str() == name && path.folder().is_none())
}

/// Whether `inner` is `outer` or lies in it at any depth, by the way up from it.
fn is_inside(inner: &FolderHandle, outer: &FolderHandle) -> Result<bool, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let sought = fs::fstat(outer)?;
    let mut here = fs::openat(inner, ".", flags, Mode::empty())?;
    loop {
        let at = fs::fstat(&here)?;
        if is_same(&at, &sought) {
            return Ok(true);
        }
        let above = fs::openat(&here, "..", flags, Mode::empty())?;
        if is_same(&fs::fstat(&above)?, &at) {
            return Ok(false);
        }
        here = above;
    }
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}
