//! The folders that an order restores from the trash. No other folder may take the place of one that did not come back,
//! so nothing is put into it.

use protocol::{Change, ChangeAction, ChangeKind, Intent, IntentState, NotePath};

use crate::apply::execute;
use crate::apply::outcome::{Outcomes, StepError};
use crate::filesystem::moved_file;
use crate::{Vault, VaultError};

/// The folders that an order restores and that are not back.
#[derive(Debug, Clone, Default)]
pub(crate) struct MissingFolders(Vec<MissingFolder>);

#[derive(Debug, Clone)]
struct MissingFolder {
    path: NotePath,
    /// Whether nobody can tell if it came back.
    is_untold: bool,
}

impl MissingFolders {
    /// All that the order restores: none is back before the order begins.
    pub(crate) fn of_order(intents: &[Intent]) -> Self {
        let restored = intents.iter().filter(|intent| is_restore(intent));
        let folder =
            |intent: &Intent| MissingFolder { path: intent.change.path.clone(), is_untold: false };
        Self(restored.map(folder).collect())
    }

    /// Records how the order went on: a folder that came back is not missing.
    pub(crate) fn record(&mut self, outcomes: &Outcomes) {
        for (intent, outcome) in outcomes.iter().filter(|(intent, _)| is_restore(intent)) {
            let path = &intent.change.path;
            match outcome {
                Ok(_) => self.0.retain(|folder| folder.path != *path),
                Err(refused) => {
                    if let Some(folder) = self.0.iter_mut().find(|folder| folder.path == *path) {
                        folder.is_untold =
                            matches!(refused.state, IntentState::Parked | IntentState::Open);
                    }
                }
            }
        }
    }

    /// Whether a change puts something into one of them.
    pub(crate) fn is_needed_by(&self, change: &Change) -> bool {
        self.needed_by(change).is_some()
    }

    /// The folder that a group needs and does not restore itself.
    pub(crate) fn needed_by_group(&self, group: &[Intent]) -> Option<NotePath> {
        let outside = self.outside(group);
        let needed = group.iter().find_map(|intent| outside.needed_by(&intent.change));
        needed.map(|folder| folder.path.clone())
    }

    /// Those that the group does not restore itself.
    pub(crate) fn outside(&self, group: &[Intent]) -> Self {
        let is_own = |folder: &&MissingFolder| {
            group.iter().any(|intent| is_restore(intent) && intent.change.path == folder.path)
        };
        Self(self.0.iter().filter(|folder| !is_own(folder)).cloned().collect())
    }

    /// In recovery, refuses a change that did not happen and would put something into one of them.
    pub(crate) fn check(&self, vault: &Vault, intent: &Intent) -> Result<(), StepError> {
        let path = &intent.change.path;
        let Some(folder) = self.needed_by(&intent.change) else { return Ok(()) };
        if may_have_happened(vault, intent) {
            return Ok(());
        }
        match folder.is_untold {
            // An empty folder may have stood there before.
            true if vault.file_id(&folder.path).is_some()
                && !vault.is_empty_folder(&folder.path) =>
            {
                Ok(())
            }
            true => Err(StepError::parked_at(path)),
            false => Err(refusal(path, &folder.path)),
        }
    }

    fn needed_by(&self, change: &Change) -> Option<&MissingFolder> {
        let is_created_in = |folder: &NotePath| match change.kind() {
            ChangeKind::Create | ChangeKind::MakeFolder => change.path.is_in(folder),
            // It makes the folders above it, and does not need itself.
            ChangeKind::RestoreFolder => change.path.is_in(folder) && change.path != *folder,
            _ => false,
        };
        let is_moved_into =
            |folder: &NotePath| change.target().is_some_and(|target| target.is_in(folder));
        self.0.iter().find(|folder| is_created_in(&folder.path) || is_moved_into(&folder.path))
    }
}

/// The refusal of a change at `path` that needs the folder.
pub(crate) fn refusal(path: &NotePath, folder: &NotePath) -> StepError {
    let (path, folder) = (path.clone(), folder.clone());
    StepError::failed(VaultError::FolderNotRestored { path, folder })
}

fn is_restore(intent: &Intent) -> bool {
    intent.change.kind() == ChangeKind::RestoreFolder
}

/// The name of the file or folder of a change until it is put at its place.
fn waiting_name(intent: &Intent) -> &str {
    match &intent.change.act {
        ChangeAction::RestoreFolder { trashed, .. } => trashed,
        _ => &intent.temp_name,
    }
}

/// Whether an interrupted change may have happened, by what is on disk: it is at its place, or somebody moved it on.
fn may_have_happened(vault: &Vault, intent: &Intent) -> bool {
    let path = &intent.change.path;
    let is_moved_on = match intent.change.is_rename() {
        true => vault.file_id(path).is_none(),
        false => {
            let found = intent.staged.and_then(|file| moved_file::path_of(vault, file, path));
            found.is_some_and(|found| !found.ends_with(waiting_name(intent)))
        }
    };
    is_moved_on || execute::is_applied(vault, intent).unwrap_or(true)
}
