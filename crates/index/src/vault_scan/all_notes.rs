//! All notes as they would be if the planned changes were applied, looked at in parallel.

use std::time::Instant;

use protocol::{ChangeSet, NotePath};
use vault::{EntryKind, NOTE_LIMIT, Vault, VaultError};

use crate::vault_scan::overlay::OverlaidVault;
use crate::vault_scan::parallel::{self, ParallelResult};

/// The notes to look at, sorted by path.
pub(crate) struct AllNotes<'a> {
    overlaid: OverlaidVault<'a>,
    paths: Vec<NotePath>,
}

impl<'a> AllNotes<'a> {
    /// The notes under the size limit whose path `wanted` accepts, as many as half the time until
    /// `deadline` allows.
    pub(crate) fn list(
        vault: &'a Vault,
        overlay: &'a ChangeSet,
        wanted: impl Fn(&NotePath) -> bool,
        deadline: Instant,
    ) -> Result<Self, VaultError> {
        // Something has to be looked at, too.
        let now = Instant::now();
        let until = now + deadline.saturating_duration_since(now) / 2;
        let (entries, overlaid) = OverlaidVault::list(vault, overlay, Some(until))?;
        let on_disk = entries
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::Note && entry.size <= NOTE_LIMIT)
            .map(|entry| entry.path);
        let planned = overlaid.planned().filter(|path| path.is_markdown()).cloned();
        let mut paths: Vec<NotePath> = on_disk.chain(planned).filter(|path| wanted(path)).collect();
        paths.sort_unstable();
        Ok(Self { overlaid, paths })
    }

    /// Where they are seen.
    pub(crate) fn paths(&self) -> &[NotePath] {
        &self.paths
    }

    /// Whether the time was up before all were seen.
    pub(crate) const fn is_cut(&self) -> bool {
        self.overlaid.is_cut()
    }

    /// Looks at every note until `deadline`. A note that cannot be read is passed over: it may
    /// have gone since it was listed.
    pub(crate) fn map_notes<T: Send>(
        &self,
        deadline: Instant,
        look: impl Fn(&NotePath, &[u8]) -> Option<T> + Sync,
    ) -> ParallelResult<T> {
        let looked =
            parallel::map_parallel(&self.paths, Some(deadline), |path| self.read_one(path, &look));
        ParallelResult { timed_out: looked.timed_out || self.is_cut(), ..looked }
    }

    /// Looks at one note.
    pub(crate) fn read_one<T>(
        &self,
        path: &NotePath,
        look: impl FnOnce(&NotePath, &[u8]) -> Option<T>,
    ) -> Option<T> {
        look(path, &self.overlaid.bytes(path)?)
    }
}
