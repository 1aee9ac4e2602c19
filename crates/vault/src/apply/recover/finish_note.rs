//! Finishing the interrupted creation or the new bytes of one note, judged by the files under its two names.

use protocol::{Change, ChangeAction, ChangeKind, Intent, NotePath};

use crate::apply::atomic_file::AtomicFile;
use crate::apply::outcome::{FileAfter, StepError, is_base_file, is_staged};
use crate::apply::{execute, replace, replaced_backup};
use crate::filesystem::entry_content::EntryContent;
use crate::filesystem::folder::is_same_file;
use crate::filesystem::moved_file;
use crate::{Vault, VaultError};

/// Makes the change as [`Vault::apply`] does.
fn apply_again(vault: &Vault, intent: &Intent) -> Result<FileAfter, StepError> {
    let staged = execute::stage(vault, intent)?;
    vault.record_staged_file(intent, staged);
    execute::commit(vault, &Intent { staged, ..intent.clone() })
}

/// The entry under one of the two names, compared with what the ledger knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContentState {
    Nothing,
    Before,
    After,
    /// The beginning of the bytes after: a temporary file that was being written.
    Part,
    Other,
}

/// How to resolve an open intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecoveryAction {
    /// It did not happen; it happens now.
    Apply,
    /// It happened.
    Done,
    /// It took out bytes that the plan was not made on; they go back.
    Revert,
    /// Nobody can tell; nothing is touched.
    Park,
    /// A creation was being reverted and displaced somebody else's bytes; they are moved back.
    MoveBack,
    /// It certainly did not happen, and the note is another one or gone: what was made ready goes.
    GiveUp,
    /// It happened, and the note was moved since.
    Moved,
    /// It happened, and the note is gone since.
    Gone,
}

/// The action for the state of a note and the state of its temporary file.
const fn recovery_action(
    kind: ChangeKind,
    note: ContentState,
    temp: ContentState,
) -> RecoveryAction {
    use ChangeKind::{Create, Replace};
    match (kind, note, temp) {
        (Replace, ContentState::Before, ContentState::Other) => RecoveryAction::Park,
        (Create, ContentState::Nothing, ContentState::Other) => RecoveryAction::MoveBack,
        (Replace, ContentState::Before, _) | (Create, ContentState::Nothing, _) => {
            RecoveryAction::Apply
        }
        (Replace, ContentState::After, ContentState::Part | ContentState::Other) => {
            RecoveryAction::Revert
        }
        (_, ContentState::After, _) => RecoveryAction::Done,
        _ => RecoveryAction::Park,
    }
}

/// The action once somebody opened the temporary file while it had the note's name.
fn action_after_reopening(kind: ChangeKind, action: RecoveryAction) -> RecoveryAction {
    match (kind, action) {
        (ChangeKind::Create, RecoveryAction::Apply) => RecoveryAction::MoveBack,
        (ChangeKind::Replace, RecoveryAction::Done) => RecoveryAction::Revert,
        _ => RecoveryAction::Park,
    }
}

/// The error for a note that is not what the change was planned over.
fn stale_error(change: &Change) -> VaultError {
    let path = change.path.clone();
    match change.kind() {
        ChangeKind::Create => VaultError::Exists { path },
        _ => VaultError::Stale { path },
    }
}

/// Finishes the creation or the new bytes of one note.
pub(crate) fn finish_note(vault: &Vault, intent: &Intent) -> Result<FileAfter, StepError> {
    use RecoveryAction::{Apply, GiveUp, Park};

    let change = &intent.change;
    let place = match AtomicFile::open(vault, intent) {
        Ok(place) => place,
        Err(VaultError::NotFound { .. }) => return finish_without_folder(vault, intent),
        Err(error) => return Err(StepError::open(error)),
    };
    finish_rollback(vault, intent)?;
    let note = content_state(change, place.read_note_entry().map_err(StepError::open)?);
    let temp = content_state(change, place.read_temp_entry().map_err(StepError::open)?);
    // A note is never half of ours: only the temporary file is written in place.
    let note = if note == ContentState::Part { ContentState::Other } else { note };
    let left = file_after(intent, &place);
    let mut remedy = action_by_files(vault, intent, &place, (note, temp));
    let is_ready = remedy == RecoveryAction::Apply
        && temp == ContentState::After
        && intent.staged.is_some()
        && place.temp_id() == intent.staged;
    if is_ready {
        if let Ok(note) = place.open_note() {
            place.check_writable(&note).map_err(StepError::failed)?;
        }
        replaced_backup::unlink_backup(vault, &place);
        return execute::commit(vault, intent);
    }
    // The temporary file holds only a beginning of the bytes after. If it is not the note's own file, which
    // only the exchange puts there, it may be our half-written one, and the note may have got these bytes
    // from another program. Both stay.
    if remedy == RecoveryAction::Revert
        && temp == ContentState::Part
        && place.temp_id() != intent.base
    {
        return Err(StepError::parked_at(place.path()));
    }
    if remedy != RecoveryAction::Revert
        && !matches!(temp, ContentState::Nothing | ContentState::Other)
        && replace::discard_temp(vault, &place, in_state(change, temp)).is_err()
    {
        // It had the note's name for a moment, and somebody opened it for writing.
        remedy = action_after_reopening(change.kind(), remedy);
    }
    if matches!(remedy, Apply | GiveUp | Park) {
        replaced_backup::unlink_backup(vault, &place);
    }
    match remedy {
        Apply => apply_again(vault, intent),
        RecoveryAction::Done => {
            place.sync().map_err(StepError::open)?;
            Ok(left)
        }
        RecoveryAction::Revert => {
            let after = change.after().unwrap_or_default();
            Err(replace::roll_back(vault, &place, after).in_recovery())
        }
        Park => Err(StepError::parked_at(place.path())),
        RecoveryAction::Moved => Ok(intent.staged),
        RecoveryAction::Gone => Ok(None),
        GiveUp => Err(StepError::stale(stale_error(change))),
        RecoveryAction::MoveBack => {
            place.rename_to_free_name().map_err(|error| StepError::open(place.io_error(error)))?;
            place.sync().map_err(StepError::open)?;
            Err(StepError::parked_at(place.path()))
        }
    }
}

/// The action by the entries under the two names, and by which files these are. The staged file is
/// under the temporary name until it gets the note's name, and never has the temporary name again:
/// so it tells what happened.
fn action_by_files(
    vault: &Vault,
    intent: &Intent,
    target: &AtomicFile,
    (note, temp): (ContentState, ContentState),
) -> RecoveryAction {
    let kind = intent.change.kind();
    let staged = intent.staged;
    let is_ready =
        temp == ContentState::After && staged.is_none_or(|_| is_staged(intent, target.temp_id()));
    let was_put = staged.is_some() && matches!(temp, ContentState::Nothing | ContentState::Before);
    match recovery_action(kind, note, temp) {
        // It happened, and somebody went on writing in the note, maybe what stood there before.
        RecoveryAction::Park | RecoveryAction::Apply
            if was_put && is_staged(intent, target.note_id()) =>
        {
            RecoveryAction::Done
        }
        RecoveryAction::Park
            if is_ready && matches!(note, ContentState::Other | ContentState::Nothing) =>
        {
            RecoveryAction::GiveUp
        }
        RecoveryAction::Park | RecoveryAction::Apply
            if was_put
                && note == ContentState::Nothing
                && staged.is_some_and(|file| {
                    moved_file::is_elsewhere(vault, file, &intent.change.path)
                }) =>
        {
            RecoveryAction::Moved
        }
        // Only a unit reverts a change, and a change of a unit may have been reverted.
        RecoveryAction::Apply if was_put && kind == ChangeKind::Create && intent.unit.is_none() => {
            RecoveryAction::Gone
        }
        RecoveryAction::Apply
            if was_put
                && temp == ContentState::Nothing
                && intent.unit.is_none()
                && intent.base.is_some_and(|base| base.born.is_some())
                && !is_base_file(intent, target.note_id()) =>
        {
            RecoveryAction::Park
        }
        RecoveryAction::Apply if is_another_note(vault, intent, target) => RecoveryAction::Park,
        remedy => remedy,
    }
}

/// The file that has the note's name, unless it is somebody's copy of ours: it has to be the one that was made
/// ready. Where that was not stored, the old file tells as long as it has the temporary name: the exchange was
/// the last that happened to it, and what was made later is not ours. Without that nobody can tell any more, unless
/// the note is still the file that the change was made on.
fn file_after(intent: &Intent, target: &AtomicFile) -> FileAfter {
    let note = target.note_id()?;
    if let Some(staged) = intent.staged {
        return is_same_file(staged, note).then_some(note);
    }
    let old = target.temp_id().filter(|old| Some(*old) == intent.base);
    if old.is_none() {
        return is_base_file(intent, Some(note)).then_some(note);
    }
    match (note.born, target.temp_ctime()) {
        (Some(born), Some(exchanged)) => (born <= exchanged).then_some(note),
        _ => Some(note),
    }
}

/// Whether the note that the edit was planned on is elsewhere by now, and another one with the same text has
/// its place. After a restore from a backup all files are new, and none is elsewhere.
fn is_another_note(vault: &Vault, intent: &Intent, target: &AtomicFile) -> bool {
    let Some((base, note)) = intent.base.zip(target.note_id()) else { return false };
    base.born.is_some()
        && !is_same_file(base, note)
        && moved_file::is_elsewhere(vault, base, &intent.change.path)
}

/// Finishes a revert that may have been interrupted, so that the change is either applied or not.
fn finish_rollback(vault: &Vault, intent: &Intent) -> Result<(), StepError> {
    let ChangeAction::Replace { before, after } = &intent.change.act else { return Ok(()) };
    let back = AtomicFile::open_with_temp_name(vault, intent, replace::rollback_temp_name(intent))
        .map_err(StepError::open)?;
    let found = back.read_temp_entry().map_err(StepError::open)?;
    if matches!(found, EntryContent::Nothing) {
        return Ok(());
    }
    let change = Change::replace(intent.change.path.clone(), after.clone(), before.clone());
    let note = content_state(&change, back.read_note_entry().map_err(StepError::open)?);
    let found = content_state(&change, found);
    match (note, found) {
        // It took out bytes that were not those of the change.
        (ContentState::After, ContentState::Other) => {
            Err(replace::roll_back(vault, &back, before).in_recovery())
        }
        (ContentState::After, ContentState::Part) => Err(StepError::parked_at(back.path())),
        (_, ContentState::Other) => Err(StepError::parked_at(back.path())),
        _ => replace::discard_temp(vault, &back, in_state(&change, found))
            .map_err(|_| StepError::parked_at(back.path())),
    }
}

/// A creation may have stopped before its folder was made; an edited note went with its folder.
fn finish_without_folder(vault: &Vault, intent: &Intent) -> Result<FileAfter, StepError> {
    let path = &intent.change.path;
    let found = intent.staged.and_then(|file| moved_file::path_of(vault, file, path));
    if let Some(found) = found {
        let (folder, name) = found.rsplit_once('/').unwrap_or(("", &found));
        let temp_owner = format!("{folder}/{}", path.name());
        if let Ok(temp_owner) = NotePath::parse(temp_owner.trim_start_matches('/')) {
            tidy_up(vault, intent, &temp_owner);
        }
        if name != intent.temp_name {
            return Ok(intent.staged);
        }
        if intent.change.kind() == ChangeKind::Replace {
            return Err(StepError::stale(VaultError::Stale { path: path.clone() }));
        }
    }
    if intent.change.kind() == ChangeKind::Replace {
        return Err(StepError::parked_at(path));
    }
    apply_again(vault, intent)
}

/// Removes the temporary file of a note whose folder has another path by now: the staged file, or
/// the file that the change was made on.
fn tidy_up(vault: &Vault, intent: &Intent, note: &NotePath) {
    let Ok(place) = AtomicFile::open_at_path(vault, note, intent.temp_name.clone()) else {
        return;
    };
    let is_ours = is_staged(intent, place.temp_id()) || is_base_file(intent, place.temp_id());
    let found = place.read_temp_entry().map(|found| content_state(&intent.change, found));
    if is_ours && let Ok(found @ (ContentState::Before | ContentState::After)) = found {
        let is_known = in_state(&intent.change, found);
        let _one_in_use_stays = replace::discard_temp(vault, &place, is_known);
    }
}

/// Whether bytes are in the same state as those that were read before.
fn in_state(change: &Change, state: ContentState) -> impl Fn(&[u8]) -> bool {
    move |bytes| content_state(change, EntryContent::File(bytes.to_vec())) == state
}

fn content_state(change: &Change, found: EntryContent) -> ContentState {
    match found {
        EntryContent::Nothing => ContentState::Nothing,
        EntryContent::Other => ContentState::Other,
        EntryContent::File(bytes) if change.before() == Some(&bytes) => ContentState::Before,
        EntryContent::File(bytes) if change.after() == Some(&bytes) => ContentState::After,
        EntryContent::File(bytes)
            if change.after().is_some_and(|after| after.starts_with(&bytes)) =>
        {
            ContentState::Part
        }
        EntryContent::File(_) => ContentState::Other,
    }
}
