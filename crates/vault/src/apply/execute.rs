//! One change of an order, of any kind: staged, applied, reverted, finished.

use protocol::{ChangeAction, ChangeKind, Intent};

use crate::Vault;
use crate::apply::atomic_file::AtomicFile;
use crate::apply::outcome::{self, FileAfter, StepError};
use crate::apply::recover::finish_note::finish_note;
use crate::apply::{rename, replace, trash};
use crate::filesystem::dir_entry::DirEntry;
use crate::filesystem::entry_content::EntryContent;
use crate::names::normalization;

/// Stages the change and touches no note. Returns the file that was made to get the note's name, or
/// the folder that is to be restored from the trash.
pub(crate) fn stage(vault: &Vault, intent: &Intent) -> Result<FileAfter, StepError> {
    for path in std::iter::once(&intent.change.path).chain(intent.change.target()) {
        vault.check_not_in_extra_root(path).map_err(StepError::failed)?;
    }
    normalization::check_unambiguous(vault, &intent.change.path, None)
        .map_err(StepError::failed)?;
    if let Some(target) = intent.change.target() {
        normalization::check_unambiguous(vault, target, Some(&intent.change.path))
            .map_err(StepError::failed)?;
    }
    match &intent.change.act {
        ChangeAction::Create { after, like } => {
            replace::stage_create(vault, intent, after, like.as_ref())
        }
        ChangeAction::Replace { before, after } => replace::stage(vault, intent, before, after),
        ChangeAction::Trash { before } => trash::stage(vault, intent, before).map(|()| None),
        ChangeAction::Rename { .. }
        | ChangeAction::TrashFolder { .. }
        | ChangeAction::RestoreFolder { .. } => rename::stage(vault, intent),
        ChangeAction::MakeFolder => Ok(None),
    }
}

/// Removes what [`stage`] made.
pub(crate) fn unstage(vault: &Vault, intent: &Intent) {
    replace::discard_staged(vault, intent);
}

/// Stages a note whose folder came back in the same order, right before it is put there: its file has to be known
/// if the change is reverted.
pub(crate) fn stage_late(vault: &Vault, intent: &mut Intent) -> Result<(), StepError> {
    let is_new = intent.change.kind() == ChangeKind::Create;
    if is_new && intent.staged.is_none() && !replace::has_temp(vault, intent) {
        intent.staged = stage(vault, intent)?;
    }
    Ok(())
}

/// Carries out what was staged, durable when this returns. Says in which file it left what it is about.
pub(crate) fn commit(vault: &Vault, intent: &Intent) -> Result<FileAfter, StepError> {
    match &intent.change.act {
        ChangeAction::Create { after, .. } => replace::commit_create(vault, intent, after),
        ChangeAction::Replace { before, after } => replace::commit(vault, intent, before, after),
        ChangeAction::Trash { before } => trash::commit(vault, intent, before),
        ChangeAction::Rename { .. }
        | ChangeAction::TrashFolder { .. }
        | ChangeAction::RestoreFolder { .. } => rename::commit(vault, intent),
        ChangeAction::MakeFolder => {
            let spot = DirEntry::open_or_create_folders(vault, &intent.change.path)
                .map_err(StepError::failed)?;
            spot.create_folder().map_err(StepError::failed)?;
            Ok(spot.file_id())
        }
    }
}

/// Reverts a change that was applied a moment ago. If somebody changed the note since, the change
/// is parked; if the system refuses, it stays open for the next recovery.
pub(crate) fn revert(vault: &Vault, intent: &Intent) -> Result<(), StepError> {
    match &intent.change.act {
        ChangeAction::Create { after, .. } => replace::revert_create(vault, intent, after),
        ChangeAction::Replace { before, after } => replace::revert(vault, intent, before, after),
        ChangeAction::Trash { .. } => trash::revert(vault, intent),
        ChangeAction::Rename { .. }
        | ChangeAction::TrashFolder { .. }
        | ChangeAction::RestoreFolder { .. } => rename::revert(vault, intent),
        ChangeAction::MakeFolder => {
            // A folder that is used by now stays, and one that was there before.
            if intent.base.is_none()
                && let Ok(spot) = DirEntry::open(vault, &intent.change.path)
            {
                let _ = spot.remove_empty_folder();
            }
            Ok(())
        }
    }
}

/// Finishes an interrupted change, judged by what is on disk.
pub(crate) fn finish(vault: &Vault, intent: &Intent) -> Result<FileAfter, StepError> {
    match &intent.change.act {
        ChangeAction::Create { .. } | ChangeAction::Replace { .. } => finish_note(vault, intent),
        ChangeAction::Trash { before } => trash::finish(vault, intent, before),
        ChangeAction::Rename { .. }
        | ChangeAction::TrashFolder { .. }
        | ChangeAction::RestoreFolder { .. } => rename::finish(vault, intent),
        ChangeAction::MakeFolder => commit(vault, intent),
    }
}

/// Whether an interrupted change of a unit is applied on disk, so that it can be reverted.
pub(crate) fn is_applied(vault: &Vault, intent: &Intent) -> Result<bool, StepError> {
    match &intent.change.act {
        ChangeAction::Create { after, .. } | ChangeAction::Replace { after, .. } => {
            let Ok(place) = AtomicFile::open(vault, intent) else { return Ok(false) };
            // Somebody may have gone on writing in it.
            if outcome::is_staged(intent, place.note_id()) {
                return Ok(true);
            }
            let note = place.read_note_entry().map_err(StepError::open)?;
            Ok(matches!(note, EntryContent::File(bytes) if bytes == *after))
        }
        ChangeAction::Trash { before } => trash::has_happened(vault, intent, before),
        ChangeAction::Rename { .. }
        | ChangeAction::TrashFolder { .. }
        | ChangeAction::RestoreFolder { .. } => rename::is_applied(vault, intent),
        ChangeAction::MakeFolder => Ok(false),
    }
}

/// Whether a file that an exchange took out of the note's place still has the temporary name. It may hold the
/// only copy of a text.
pub(crate) fn has_displaced_file(vault: &Vault, intent: &Intent) -> bool {
    let is_displaced = |place: AtomicFile| {
        place.temp_id().is_some_and(|file| !outcome::is_staged(intent, Some(file)))
    };
    intent.change.kind() == ChangeKind::Replace
        && AtomicFile::open(vault, intent).is_ok_and(is_displaced)
}

/// Whether new bytes of a note, or a new note, certainly still wait for their exchange.
pub(crate) fn is_waiting(vault: &Vault, intent: &Intent) -> bool {
    let Ok(place) = AtomicFile::open(vault, intent) else { return false };
    // Without a stored file nothing was exchanged, unless the power was cut.
    intent.staged.is_none()
        || outcome::is_staged(intent, place.temp_id())
        || (intent.change.kind() == ChangeKind::Replace
            && outcome::is_base_file(intent, place.note_id()))
}
