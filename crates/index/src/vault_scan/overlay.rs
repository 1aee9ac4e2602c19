//! A vault as it would be if the planned changes were applied: its files and their bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Instant;

use protocol::{ChangeSet, NotePath};
use vault::{Listing, Vault, VaultEntry, VaultError};

/// Reads files where a reader finds them.
pub(crate) struct OverlaidVault<'a> {
    vault: &'a Vault,
    planned: BTreeMap<NotePath, &'a [u8]>,
    /// Where files are on disk that are seen elsewhere.
    moved: BTreeMap<NotePath, NotePath>,
    unlisted: usize,
    is_cut: bool,
}

impl<'a> OverlaidVault<'a> {
    /// The visible files on disk, by the path where they are seen, and how to read them. Files that
    /// the plan makes or rewrites are not among them; [`planned`](Self::planned) names those. Ends
    /// at `until`, if there is such a time.
    pub(crate) fn list(
        vault: &'a Vault,
        overlay: &'a ChangeSet,
        until: Option<Instant>,
    ) -> Result<(Vec<VaultEntry>, Self), VaultError> {
        let planned: BTreeMap<_, _> = overlay.planned_notes().into_iter().collect();
        let listing = until.map_or_else(|| vault.list(), |until| vault.list_until(until))?;
        let Listing { mut entries, problems, timed_out: is_cut } = listing;
        let mut moved = BTreeMap::new();
        if !overlay.is_empty() {
            let locations = overlay.disk_locations();
            let seen = |entry: VaultEntry| {
                let path = locations.locate(&entry.path)?;
                if path != entry.path {
                    moved.insert(path.clone(), entry.path);
                }
                Some(VaultEntry { path, ..entry })
            };
            let on_disk = entries.into_iter().filter_map(seen);
            entries = on_disk.filter(|entry| !planned.contains_key(&entry.path)).collect();
        }
        Ok((entries, Self { vault, planned, moved, unlisted: problems.len(), is_cut }))
    }

    /// How many files and folders are there but could not be looked at.
    pub(crate) const fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// Whether the time was up before all was seen.
    pub(crate) const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The paths of the files that the plan makes or rewrites.
    pub(crate) fn planned(&self) -> impl Iterator<Item = &NotePath> {
        self.planned.keys()
    }

    /// The bytes at a path; `None` when it cannot be read: it may have gone since it was listed.
    pub(crate) fn bytes(&self, path: &NotePath) -> Option<Cow<'a, [u8]>> {
        if let Some(planned) = self.planned.get(path) {
            return Some(Cow::Borrowed(planned));
        }
        let on_disk = self.moved.get(path).unwrap_or(path);
        self.vault.read_bytes(on_disk).ok().map(Cow::Owned)
    }
}
