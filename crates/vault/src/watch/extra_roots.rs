//! Which extra roots are there. The system's watches are for the vault; these go in rounds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::NotePath;

use crate::Vault;
use crate::filesystem::folder::FolderHandle;

/// How often to see which are there.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The roots as they were seen last.
#[derive(Default)]
pub(super) struct WatchedExtraRoots {
    present: Vec<(NotePath, Arc<FolderHandle>)>,
    due: Option<Instant>,
}

impl WatchedExtraRoots {
    /// The roots that are gone, and those that are there again; `None` when it is not time to look,
    /// or all are as they were. A root with a different folder is in both.
    pub(super) fn refresh(&mut self, vault: &Vault) -> Option<(Vec<NotePath>, Vec<NotePath>)> {
        if self.due.is_some_and(|due| due > Instant::now()) {
            return None;
        }
        let standing = vault.extra_root_states().into_iter();
        let there: Vec<_> =
            standing.filter_map(|(name, folder)| Some((name, folder.ok()?))).collect();
        self.due = Some(Instant::now() + CHECK_INTERVAL);
        let before = std::mem::replace(&mut self.present, there);
        let (gone, come) = (
            names_missing_from(&before, &self.present),
            names_missing_from(&self.present, &before),
        );
        (!gone.is_empty() || !come.is_empty()).then_some((gone, come))
    }

    /// Whether a path is in one of them.
    pub(super) fn has(&self, path: &NotePath) -> bool {
        self.present.iter().any(|(name, _)| path.is_in(name))
    }

    /// Something of the vault left the name: what was known of the root there does not hold.
    pub(super) fn remove(&mut self, path: &NotePath) {
        let before = self.present.len();
        self.present.retain(|(name, _)| name != path);
        if self.present.len() != before {
            self.due = None;
        }
    }
}

/// The names of those of `these` that are not among `those`.
fn names_missing_from(
    these: &[(NotePath, Arc<FolderHandle>)],
    those: &[(NotePath, Arc<FolderHandle>)],
) -> Vec<NotePath> {
    let is_among = |(name, folder): &(NotePath, Arc<FolderHandle>)| {
        those.iter().any(|(other, same)| other == name && folder.is_same(same))
    };
    these.iter().filter(|one| !is_among(one)).map(|(name, _)| name.clone()).collect()
}
