//! Judging folders before they become extra roots: outside the vault and each other, under a name.

use std::path::Path;
use std::sync::Arc;

use protocol::settings::ExtraRoot;

use super::roots::{assign_names, check_disjoint, name_to_path};
use super::{ExtraRootError, handle};
use crate::Vault;

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
