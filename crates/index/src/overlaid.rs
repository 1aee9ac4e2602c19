//! A vault as it would be if the planned changes were applied: its files and their bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use protocol::{ChangeSet, NotePath};
use vault::{Entry, Listing, Vault, VaultError};

/// Reads files where a reader finds them.
pub(crate) struct Overlaid<'a> {
    vault: &'a Vault,
    planned: BTreeMap<NotePath, &'a [u8]>,
    /// Where files are on disk that are seen elsewhere.
    moved: BTreeMap<NotePath, NotePath>,
    unlisted: usize,
}

impl<'a> Overlaid<'a> {
    /// What is on disk and is still seen, under the path where it is seen, and how to read it.
    /// What the plan makes or rewrites is not among it; [`planned`](Self::planned) names that.
    pub(crate) fn list(
        vault: &'a Vault,
        overlay: &'a ChangeSet,
    ) -> Result<(Vec<Entry>, Self), VaultError> {
        let planned: BTreeMap<_, _> = overlay.written().into_iter().collect();
        let Listing { mut entries, problems } = vault.list()?;
        let mut moved = BTreeMap::new();
        if !overlay.is_empty() {
            let seen = |entry: Entry| {
                let path = overlay.seen_from(&entry.path)?;
                if path != entry.path {
                    moved.insert(path.clone(), entry.path);
                }
                Some(Entry { path, ..entry })
            };
            let on_disk = entries.into_iter().filter_map(seen);
            entries = on_disk.filter(|entry| !planned.contains_key(&entry.path)).collect();
        }
        Ok((entries, Self { vault, planned, moved, unlisted: problems.len() }))
    }

    /// How many files and folders are there but could not be looked at.
    pub(crate) const fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// The paths of what the plan makes or rewrites.
    pub(crate) fn planned(&self) -> impl Iterator<Item = &NotePath> {
        self.planned.keys()
    }

    /// The bytes at a path; `None` when it cannot be read: it may have gone since it was listed.
    pub(crate) fn bytes(&self, path: &NotePath) -> Option<Cow<'a, [u8]>> {
        if let Some(planned) = self.planned.get(path) {
            return Some(Cow::Borrowed(planned));
        }
        let on_disk = self.moved.get(path).unwrap_or(path);
        self.vault.bytes(on_disk).ok().map(Cow::Owned)
    }
}
