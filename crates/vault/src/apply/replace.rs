//! How one note changes: the new text is staged in its folder, put in place in one step, and
//! reverted if the note was not what the plan was based on.

use std::fs::File;

use protocol::{FileReplacement, Intent, IntentState, TrashedFile};
use rustix::fs;
use rustix::io::Errno;

use crate::apply::atomic_file::{AtomicFile, ExchangeResult};
use crate::apply::outcome::{FileAfter, StepError, check_base_file, is_base_file, is_staged};
use crate::apply::replaced_file::ReplacedFile;
use crate::apply::{replaced_backup, trash};
use crate::filesystem::entry_content::EntryContent;
use crate::filesystem::file_metadata::{MetadataSource, access_of};
use crate::filesystem::folder::file_id_of;
use crate::filesystem::note_file::{self, NOTE_LIMIT};
use crate::{Vault, VaultError};

/// Stages a new note: its folder exists, its name is free, and its bytes are durable in the
/// temporary file. A note that comes back from the trash has the metadata of the file `like`; where that is gone or this
/// user may not give the note all of it, the owner and the permissions as far as possible. Returns the temporary file.
pub(crate) fn stage_create(
    vault: &Vault,
    intent: &Intent,
    after: &[u8],
    like: Option<&TrashedFile>,
) -> Result<FileAfter, StepError> {
    check_size(intent, after)?;
    let place = AtomicFile::open_or_create_folders(vault, intent).map_err(StepError::failed)?;
    if !matches!(place.read_note_entry().map_err(StepError::failed)?, EntryContent::Nothing) {
        return Err(StepError::stale(VaultError::Exists { path: intent.change.path.clone() }));
    }
    let trashed = like.and_then(|like| trash::open_trashed(vault, like, place.path(), after));
    let Some(file) = trashed else {
        let source = like.map_or(MetadataSource::System, |like| MetadataSource::Gone(like.access));
        return place.write_temp(after, source).map_err(StepError::failed);
    };
    let made = match place.write_temp(after, MetadataSource::File(&file)) {
        // The file may be somebody else's. The note comes back all the same.
        Err(VaultError::Unkept { .. }) => {
            place.write_temp(after, MetadataSource::Gone(access_of(&file).ok()))
        }
        made => made,
    };
    made.map_err(StepError::failed)
}

/// Stages new bytes of a note: the note is what the plan was based on, nobody has it open for
/// writing, and the new bytes are durable in the temporary file. The note itself is untouched.
/// Returns the temporary file.
pub(crate) fn stage(
    vault: &Vault,
    intent: &Intent,
    before: &[u8],
    after: &[u8],
) -> Result<FileAfter, StepError> {
    check_size(intent, after)?;
    let path = &intent.change.path;
    let place = AtomicFile::open(vault, intent).map_err(StepError::from_missing)?;
    let note = place.open_note().map_err(|error| StepError::from_missing(place.io_error(error)))?;
    check_base_file(intent, &note)?;
    let stat = fs::fstat(&note).map_err(|error| StepError::failed(place.io_error(error)))?;
    note_file::check_readable(path, &stat).map_err(StepError::failed)?;
    place.check_writable(&note).map_err(StepError::failed)?;
    // Nobody is in the middle of writing what is read here.
    let held = ReplacedFile::hold(path, &note).map_err(StepError::from_missing)?;
    let bytes = note_file::read_contents(path, &note, &stat).map_err(StepError::failed)?;
    drop(held);
    if bytes != before {
        return Err(stale_error(&place));
    }
    place.write_temp(after, MetadataSource::File(&note)).map_err(StepError::failed)
}

/// Whether something has the temporary name of a note.
pub(crate) fn has_temp(vault: &Vault, intent: &Intent) -> bool {
    AtomicFile::open(vault, intent).is_ok_and(|place| place.temp_id().is_some())
}

/// Puts a new note that was staged in place, durable when this returns. Says which file it is.
pub(crate) fn commit_create(
    vault: &Vault,
    intent: &Intent,
    after: &[u8],
) -> Result<FileAfter, StepError> {
    let place = AtomicFile::open(vault, intent).map_err(StepError::open)?;
    let (ours, id) = place.staged_temp(after).map_err(StepError::failed)?;
    place.rename_to_free_name().map_err(|error| {
        place.discard_temp();
        match error {
            Errno::EXIST => StepError::stale(place.io_error(error)),
            _ => StepError::failed(place.io_error(error)),
        }
    })?;
    if !place.note_is(ours).map_err(|error| StepError::open(place.io_error(error)))? {
        // A file there is another program's, which took the place of ours in that moment, and stays.
        if matches!(place.read_note_entry(), Ok(EntryContent::File(_))) {
            place.sync().map_err(StepError::open)?;
            return Err(StepError::stale(VaultError::Exists { path: intent.change.path.clone() }));
        }
        // The planted file goes back under the temporary name, where nobody looks for a note.
        place.rename_note_to_temp().map_err(|error| StepError::open(place.io_error(error)))?;
        return Err(disturbed_error(&place));
    }
    place.sync().map_err(StepError::open)?;
    Ok(id)
}

/// Puts new bytes that were staged in place, durable when this returns. Says which file has them.
pub(crate) fn commit(
    vault: &Vault,
    intent: &Intent,
    before: &[u8],
    after: &[u8],
) -> Result<FileAfter, StepError> {
    let place = AtomicFile::open(vault, intent).map_err(StepError::open)?;
    let left = replace(vault, intent, &place, before, after)?;
    place.sync().map_err(StepError::open)?;
    Ok(left)
}

/// Takes a new note out of its place again, if it is the file that was put there and holds what it held.
pub(crate) fn revert_create(vault: &Vault, intent: &Intent, after: &[u8]) -> Result<(), StepError> {
    let path = &intent.change.path;
    let refused = |why| StepError::from_rollback(path, why);
    let place = AtomicFile::open(vault, intent).map_err(refused)?;
    let note = place.open_note().map_err(|error| refused(place.io_error(error)))?;
    if !is_staged(intent, file_id_of(&note).ok()) {
        return Err(StepError::parked_at(path));
    }
    let old = ReplacedFile::hold(path, &note).map_err(refused)?;
    place.rename_note_to_temp().map_err(|error| refused(place.io_error(error)))?;
    match place.read_temp_entry() {
        Ok(EntryContent::File(bytes))
            if bytes == after && place.temp_is(&note) && !old.has_new_writer() =>
        {
            old.discard(vault, &place);
            place.sync().map_err(StepError::open)
        }
        _ => {
            let _ = place.rename_to_free_name();
            Err(StepError::parked_at(path))
        }
    }
}

/// Puts the bytes before in the note's place again, if it is the file that was put there and still holds
/// the bytes after. The same exchange the other way round, with a temporary name of its own: a recovery must
/// not take the beginnings of this one for bytes of somebody else.
pub(crate) fn revert(
    vault: &Vault,
    intent: &Intent,
    before: &[u8],
    after: &[u8],
) -> Result<(), StepError> {
    // The file there is the one that was staged, and not the one that the change was made on.
    let base = intent.staged.ok_or_else(|| StepError::parked_at(&intent.change.path))?;
    let back = Intent {
        temp_name: rollback_temp_name(intent),
        base: Some(base),
        is_exact: true,
        ..intent.clone()
    };
    let reverted =
        stage(vault, &back, after, before).and_then(|_| commit(vault, &back, after, before));
    let left = reverted.map_err(|refusal| match refusal.state {
        IntentState::Open => refusal,
        _ => StepError::from_rollback(&intent.change.path, refusal.why),
    })?;
    // The note says what it said before, in a file of ours.
    if let Some((from, to)) = intent.base.zip(left) {
        vault
            .tracked_files()
            .record_own_replacement(&intent.change.path, FileReplacement { from, to });
    }
    Ok(())
}

/// The name of the temporary file with which a change is reverted.
pub(crate) fn rollback_temp_name(intent: &Intent) -> String {
    let name = &intent.temp_name;
    format!("{}.back.tmp", name.strip_suffix(".tmp").unwrap_or(name))
}

/// Removes what was made ready, if it is that. It may be half written: then no exchange has put another
/// file under its name.
pub(crate) fn discard_staged(vault: &Vault, intent: &Intent) {
    let Ok(place) = AtomicFile::open(vault, intent) else { return };
    let Some(after) = intent.change.after() else { return };
    let Ok(EntryContent::File(bytes)) = place.read_temp_entry() else { return };
    let was_exchanged = || {
        is_base_file(intent, place.temp_id())
            || is_staged(intent, place.note_id())
            || matches!(place.read_note_entry(), Ok(EntryContent::File(note)) if note == after)
    };
    if bytes == after || (after.starts_with(&bytes) && !was_exchanged()) {
        place.discard_temp();
    }
}

/// Moves the displaced file back to the note's place, because it is not what the plan was based on.
/// If the note was written again in that moment, the newest bytes stay in its place, and the others
/// stay under the temporary name.
pub(crate) fn roll_back(vault: &Vault, target: &AtomicFile, after: &[u8]) -> StepError {
    let unknown = |error| StepError::open(target.io_error(error));
    match target.exchange() {
        Ok(ExchangeResult::Done) => {}
        Ok(ExchangeResult::Unsupported) => return unknown(Errno::NOTSUP),
        Err(error) => return unknown(error),
    }
    match target.read_temp_entry() {
        Ok(EntryContent::File(bytes)) if bytes == after => {
            // Under the note's name somebody may have opened it.
            if discard_temp(vault, target, |bytes| bytes == after).is_err() {
                vault.replaced_files().hold_open_temp(target, after);
                return StepError::overtaken(target.path());
            }
        }
        Ok(_) => {
            return target.exchange().map_or_else(unknown, |_| StepError::overtaken(target.path()));
        }
        Err(why) => return target.exchange().map_or_else(unknown, |_| StepError::open(why)),
    }
    match target.sync() {
        Ok(()) => stale_error(target),
        Err(error) => StepError::open(error),
    }
}

/// Removes a file that once had the note's name and now has the temporary one; refused if a program has
/// it open for writing, or wrote to it since its bytes were compared with the known ones.
pub(crate) fn discard_temp(
    vault: &Vault,
    target: &AtomicFile,
    is_known: impl Fn(&[u8]) -> bool,
) -> Result<(), VaultError> {
    let file = match target.open_temp() {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(target.io_error(error)),
    };
    let held = ReplacedFile::hold(target.path(), &file)?;
    let stat = fs::fstat(&file).map_err(|error| target.io_error(error))?;
    if !is_known(&note_file::read_contents(target.path(), &file, &stat)?) {
        return Err(VaultError::BeingWritten { path: target.path().clone() });
    }
    held.discard(vault, target);
    Ok(())
}

/// Somebody opened the note for writing in that moment: it goes back, and they write to it.
fn yield_to_writer(vault: &Vault, target: &AtomicFile, after: &[u8]) -> StepError {
    match roll_back(vault, target, after) {
        back if back.state == IntentState::Stale => {
            StepError::stale(VaultError::BeingWritten { path: target.path().clone() })
        }
        left => left,
    }
}

/// The note became write-protected in that moment, or got metadata that our file cannot have, so it is
/// moved back.
fn roll_back_refused(
    vault: &Vault,
    target: &AtomicFile,
    after: &[u8],
    why: VaultError,
) -> StepError {
    match roll_back(vault, target, after) {
        back if back.state == IntentState::Stale => StepError::failed(why),
        left => left,
    }
}

fn replace(
    vault: &Vault,
    intent: &Intent,
    target: &AtomicFile,
    before: &[u8],
    after: &[u8],
) -> Result<FileAfter, StepError> {
    let (ours, id) = target.staged_temp(after).map_err(StepError::failed)?;
    let unready = |why: VaultError| {
        target.discard_temp();
        StepError::from_missing(why)
    };
    let note = target.open_note().map_err(|error| unready(target.io_error(error)))?;
    check_base_file(intent, &note).inspect_err(|_| target.discard_temp())?;
    let old = ReplacedFile::hold(target.path(), &note).map_err(unready)?;
    target.check_writable(&note).map_err(unready)?;
    // From here on nobody writes to it, so only a file that is renamed over it can be another one below.
    let stat = fs::fstat(&note).map_err(|error| unready(target.io_error(error)))?;
    if note_file::read_contents(target.path(), &note, &stat).map_err(unready)? != before {
        return Err(unready(VaultError::Stale { path: target.path().clone() }));
    }
    match target.exchange() {
        Ok(ExchangeResult::Done) => match target.note_is(ours) {
            Ok(true) => {}
            Ok(false) => return Err(restore_displaced(vault, target, before)),
            // It cannot be seen who has the name: the note goes back, unless it is newer than both.
            Err(_) => return Err(roll_back(vault, target, after)),
        },
        Ok(ExchangeResult::Unsupported) => {
            return replace_without_exchange(vault, target, old, before).map(|()| id);
        }
        Err(error) => return Err(unready(target.io_error(error))),
    }
    // With the same bytes it may still be another file, which was renamed there in that moment.
    let is_it = !intent.is_exact || target.temp_is(&note);
    match target.read_temp_entry() {
        Ok(EntryContent::File(bytes)) if bytes == before && is_it => {
            target
                .copy_metadata_to_note()
                .map_err(|why| roll_back_refused(vault, target, after, why))?;
            if old.has_new_writer() {
                return Err(yield_to_writer(vault, target, after));
            }
            discard_old(vault, target, old, &note, before);
            Ok(id)
        }
        Ok(EntryContent::File(newer)) => {
            let outcome = roll_back(vault, target, after);
            // A program that read the note meanwhile did not see it, and may save without it.
            replaced_backup::keep_copy(vault, target.path(), &newer);
            Err(outcome)
        }
        _ => Err(roll_back(vault, target, after)),
    }
}

/// Lets go of the file that was taken out. It is the one that is held, unless the name stood for
/// another one by then.
fn discard_old(vault: &Vault, target: &AtomicFile, old: ReplacedFile, note: &File, before: &[u8]) {
    if target.temp_is(note) {
        old.discard(vault, target);
    } else if discard_temp(vault, target, |bytes| bytes == before).is_err() {
        // With the bytes of the plan as well. A program that has it open keeps it, and the change is made.
        vault.replaced_files().hold_open_temp(target, before);
    }
}

/// Resolves the case that the file with the note's name is not the staged one. A regular file there
/// is a newer save of another program, which took the place of ours in that moment, and stays.
/// Anything else had taken the temporary name before, and is moved back there.
fn restore_displaced(vault: &Vault, target: &AtomicFile, before: &[u8]) -> StepError {
    if !matches!(target.read_note_entry(), Ok(EntryContent::File(_))) {
        return match target.exchange() {
            Ok(_) => disturbed_error(target),
            Err(error) => StepError::open(target.io_error(error)),
        };
    }
    match target.read_temp_entry() {
        Ok(EntryContent::File(bytes))
            if bytes == before && discard_temp(vault, target, |now| now == bytes).is_ok() => {}
        // It was saved twice in that moment, or is still written to. Both are kept.
        Ok(EntryContent::File(bytes)) => {
            vault
                .replaced_files()
                .hold_open_temp(target, if bytes == before { before } else { b"" });
            return StepError::overtaken(target.path());
        }
        _ => return StepError::overtaken(target.path()),
    }
    match target.sync() {
        Ok(()) => stale_error(target),
        Err(error) => StepError::open(error),
    }
}

/// For file systems without exchange. With leases, a program that writes to the note waits; without,
/// it writes to the file that the trash keeps. A file that another program renames into the note's
/// place between this look and the rename is lost.
fn replace_without_exchange(
    vault: &Vault,
    target: &AtomicFile,
    old: ReplacedFile,
    before: &[u8],
) -> Result<(), StepError> {
    let given_up = |refusal| {
        target.discard_temp();
        refusal
    };
    match target.read_note_entry() {
        Ok(EntryContent::File(bytes)) if bytes == before => {}
        Ok(_) => return Err(given_up(stale_error(target))),
        Err(error) => return Err(given_up(StepError::failed(error))),
    }
    let failed = |error| given_up(StepError::failed(target.io_error(error)));
    target.copy_metadata_to_temp().map_err(|why| given_up(StepError::failed(why)))?;
    if old.has_no_lease() {
        replaced_backup::link_backup(vault, target).map_err(failed)?;
    } else if old.has_new_writer() {
        let path = target.path().clone();
        return Err(given_up(StepError::stale(VaultError::BeingWritten { path })));
    }
    target.rename_over_note().map_err(|error| {
        replaced_backup::unlink_backup(vault, target);
        failed(error)
    })?;
    old.hold_unlinked(vault);
    Ok(())
}

/// Another program took the temporary file's name; the note is as it was.
fn disturbed_error(target: &AtomicFile) -> StepError {
    StepError::failed(VaultError::Disturbed { path: target.path().clone() })
}

fn stale_error(target: &AtomicFile) -> StepError {
    StepError::stale(VaultError::Stale { path: target.path().clone() })
}

fn check_size(intent: &Intent, after: &[u8]) -> Result<(), StepError> {
    let (path, size) = (intent.change.path.clone(), after.len() as u64);
    if size > NOTE_LIMIT {
        return Err(StepError::failed(VaultError::TooLarge { path, size }));
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]
#[cfg(test)]
mod tests;
