//! Which extra roots are there. The system's watches are for the vault; these go in rounds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::NotePath;

use crate::Vault;
use crate::folder::Folder;

/// How often to see which are there.
const PAUSE: Duration = Duration::from_secs(2);

/// The roots as they were seen last.
#[derive(Default)]
pub(super) struct Extra {
    there: Vec<(NotePath, Arc<Folder>)>,
    due: Option<Instant>,
}

impl Extra {
    /// The roots that are not there any more, and those that are there anew; `None` when it is not
    /// time to look, or all are as they were. A root with another folder is in both.
    pub(super) fn renew(&mut self, vault: &Vault) -> Option<(Vec<NotePath>, Vec<NotePath>)> {
        if self.due.is_some_and(|due| due > Instant::now()) {
            return None;
        }
        let standing = vault.standing_roots().into_iter();
        let there: Vec<_> =
            standing.filter_map(|(name, folder)| Some((name, folder.ok()?))).collect();
        self.due = Some(Instant::now() + PAUSE);
        let before = std::mem::replace(&mut self.there, there);
        let (gone, come) = (beyond(&before, &self.there), beyond(&self.there, &before));
        (!gone.is_empty() || !come.is_empty()).then_some((gone, come))
    }

    /// Whether a path is in one of them.
    pub(super) fn has(&self, path: &NotePath) -> bool {
        self.there.iter().any(|(name, _)| path.is_in(name))
    }

    /// Something of the vault left the name: what was known of the root there does not hold.
    pub(super) fn forget(&mut self, path: &NotePath) {
        let before = self.there.len();
        self.there.retain(|(name, _)| name != path);
        if self.there.len() != before {
            self.due = None;
        }
    }
}

/// The names of those of `these` that are not among `those`.
fn beyond(these: &[(NotePath, Arc<Folder>)], those: &[(NotePath, Arc<Folder>)]) -> Vec<NotePath> {
    let is_among = |(name, folder): &(NotePath, Arc<Folder>)| {
        those.iter().any(|(other, same)| other == name && folder.is_same(same))
    };
    these.iter().filter(|one| !is_among(one)).map(|(name, _)| name.clone()).collect()
}
