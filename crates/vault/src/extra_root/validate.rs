//! Judging folders before they become extra roots: outside the vault and each other, under a name.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use protocol::NotePath;
use protocol::settings::ExtraRoot;
use rustix::fs::{self, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{ExtraRootError, handle};
use crate::Vault;
use crate::filesystem::folder::FolderHandle;
use crate::filesystem::system_folder::open_error;
use crate::names::name_key::name_key;

/// More folders of one name than anybody has.
const MAX_NAME_SUFFIX: usize = 1_000;

/// The roots that the user `wanted`, each with a name of its own. Those that were not among the
/// ones `before` must be folders outside `vault`, outside each other and outside the others; these
/// may be missing, because a disk that is away must not keep the user from other settings. A name
/// that was not given is free in the vault. Blocks on the disk.
pub fn validate_extra_roots(
    wanted: &[ExtraRoot],
    before: &[ExtraRoot],
    vault: Option<&Vault>,
) -> Result<Vec<ExtraRoot>, ExtraRootError> {
    let mut left: Vec<&str> = before.iter().map(|root| root.folder.as_str()).collect();
    let mut is_known = |root: &&ExtraRoot| {
        let at = left.iter().position(|folder| *folder == root.folder);
        at.map(|at| left.swap_remove(at)).is_some()
    };
    // A folder that is given twice is new the second time.
    let (known, new): (Vec<_>, Vec<_>) = wanted.iter().partition(|root| is_known(root));
    let top = vault.map(Vault::root);
    let mut opened = Vec::new();
    if !new.is_empty() {
        let there =
            known.iter().filter_map(|root| handle::open_folder(Path::new(&root.folder)).ok());
        opened.extend(there.map(Arc::new));
    }
    for root in &new {
        let place = Path::new(&root.folder);
        let folder = handle::open_folder(place)?;
        check_disjoint(place, &folder, top.as_deref(), &opened)?;
        opened.push(Arc::new(folder));
    }
    let has_own = |name: &str| vault.is_some_and(|vault| vault.has_top_level_entry(name));
    let named = wanted.iter().zip(assign_names(wanted, has_own)).map(|(root, name)| {
        if name_to_path(&name).is_none() && new.contains(&root) {
            return Err(ExtraRootError::Name { folder: root.folder.as_str().into(), name });
        }
        Ok(ExtraRoot { folder: root.folder.clone(), name })
    });
    named.collect()
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
