//! A note goes to the vault's trash. It is never removed.

use std::fs::File;

use protocol::{Change, ChangeKind, FileAccess, Intent, NotePath, TrashedFile};
use rustix::fs::{self, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::apply::atomic_file::AtomicFile;
use crate::apply::outcome::{FileAfter, StepError, check_base_file, is_base_file};
use crate::apply::replaced_backup::NAME_LIMIT;
use crate::apply::replaced_file::ReplacedFile;
use crate::apply::system_trash;
use crate::filesystem::dir_entry::{DirEntry, TRASH};
use crate::filesystem::entry_content::EntryContent;
use crate::filesystem::folder::file_id_of;
use crate::filesystem::{file_metadata, moved_file, note_file};
use crate::{Vault, VaultError};

/// The permissions and the owner of the note that a change brings to the trash, for the way back.
pub(crate) fn access_before(vault: &Vault, change: &Change) -> Option<FileAccess> {
    if change.kind() != ChangeKind::Trash {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let note = vault.root().open(change.path.as_str(), flags, Mode::empty()).ok()?;
    file_metadata::access_of(&File::from(note)).ok()
}

/// Checks that the note is what the plan was based on.
pub(crate) fn stage(vault: &Vault, intent: &Intent, before: &[u8]) -> Result<(), StepError> {
    let place = AtomicFile::open(vault, intent).map_err(StepError::from_missing)?;
    match place.read_note_entry().map_err(StepError::failed)? {
        EntryContent::File(bytes) if bytes == before => {
            vault.check_writable(&intent.change.path).map_err(StepError::failed)?;
            hold_for_trash(intent, &place).map(drop)
        }
        EntryContent::Nothing => Err(StepError::from_missing(place.io_error(Errno::NOENT))),
        _ => Err(StepError::stale(VaultError::Stale { path: place.path().clone() })),
    }
}

/// Carries the note to the trash, and back if it was another one by then, somebody came to write, or it
/// became write-protected.
pub(crate) fn commit(
    vault: &Vault,
    intent: &Intent,
    before: &[u8],
) -> Result<FileAfter, StepError> {
    let (note, trashed) = dir_entries(vault, intent)?;
    let held =
        hold_for_trash(intent, &AtomicFile::open(vault, intent).map_err(StepError::from_missing)?)?;
    note.rename_to(&trashed).map_err(StepError::from_missing)?;
    let is_it = !intent.is_exact || is_base_file(intent, trashed.file_id());
    let refusal = match trashed.read_content() {
        Ok(EntryContent::File(bytes)) if bytes == before && is_it && !held.has_new_writer() => {
            match trashed.check_writable() {
                Ok(()) => {
                    note.sync_with(&trashed).map_err(StepError::open)?;
                    return Ok(None);
                }
                Err(why) => StepError::failed(why),
            }
        }
        Err(why) => return Err(StepError::open(why)),
        Ok(_) => StepError::stale(VaultError::Stale { path: intent.change.path.clone() }),
    };
    trashed.rename_to(&note).map_err(|_| StepError::parked_at(&intent.change.path))?;
    trashed.sync_with(&note).map_err(StepError::open)?;
    Err(refusal)
}

/// Restores exactly this note from the trash, and no other that has its name there.
pub(crate) fn revert(vault: &Vault, intent: &Intent) -> Result<(), StepError> {
    let (note, trashed) =
        dir_entries(vault, intent).map_err(|refusal| StepError::open(refusal.why))?;
    let before = intent.change.before().unwrap_or_default();
    if !is_it(intent, &trashed, before)? {
        return Err(StepError::parked_at(&intent.change.path));
    }
    trashed.rename_to(&note).map_err(|why| StepError::from_rollback(&intent.change.path, why))?;
    if !is_it(intent, &note, before)? {
        // Another one took its name in that moment.
        note.rename_to(&trashed).map_err(|_| StepError::parked_at(&intent.change.path))?;
        note.sync_with(&trashed).map_err(StepError::open)?;
        return Err(StepError::parked_at(&intent.change.path));
    }
    trashed.sync_with(&note).map_err(StepError::open)
}

/// Whether the note is in the trash.
pub(crate) fn has_happened(
    vault: &Vault,
    intent: &Intent,
    before: &[u8],
) -> Result<bool, StepError> {
    let path = &intent.change.path;
    let trashed = DirEntry::in_trash(vault, &intent.temp_name, path).map_err(StepError::open)?;
    is_it(intent, &trashed, before)
}

/// Whether it is the note that the change is about. Where its file was not recorded its text has to do.
fn is_it(intent: &Intent, entry: &DirEntry, before: &[u8]) -> Result<bool, StepError> {
    if intent.base.is_some_and(|base| base.born.is_some()) {
        return Ok(is_base_file(intent, entry.file_id()));
    }
    let found = entry.read_content().map_err(StepError::open)?;
    Ok(matches!(found, EntryContent::File(bytes) if bytes == before))
}

/// Finishes what was interrupted.
pub(crate) fn finish(
    vault: &Vault,
    intent: &Intent,
    before: &[u8],
) -> Result<FileAfter, StepError> {
    let (note, trashed) = dir_entries(vault, intent)?;
    let in_trash = trashed.read_content();
    let is_other = intent.is_exact && !is_base_file(intent, trashed.file_id());
    match in_trash.map_err(StepError::open)? {
        // Somebody threw another note away under this name. It stays there, whatever became of the first.
        EntryContent::File(_) | EntryContent::Other if is_other => {
            match is_base_file(intent, note.file_id()) {
                true => {
                    Err(StepError::stale(VaultError::Stale { path: intent.change.path.clone() }))
                }
                false => Err(StepError::parked_at(&intent.change.path)),
            }
        }
        EntryContent::File(bytes) if bytes == before && !trashed.is_being_written() => {
            note.sync_with(&trashed).map_err(StepError::open)?;
            Ok(None)
        }
        // Neither here nor there: it was handed on to the user's own trash, or emptied away. If it stands
        // elsewhere somebody moved it, before it went or after.
        EntryContent::Nothing if note.kind().map_err(StepError::open)?.is_none() => {
            match intent.base.filter(|base| base.born.is_some()) {
                Some(base) if moved_file::is_elsewhere(vault, base, &intent.change.path) => {
                    Err(StepError::parked_at(&intent.change.path))
                }
                _ => Ok(None),
            }
        }
        EntryContent::Nothing => {
            stage(vault, intent, before).and_then(|()| commit(vault, intent, before))
        }
        // It is the note, which somebody saved or opened before it went.
        _ if intent.base.is_some() && trashed.file_id() == intent.base => {
            trashed.rename_to(&note).map_err(|_| StepError::parked_at(&intent.change.path))?;
            trashed.sync_with(&note).map_err(StepError::open)?;
            Err(StepError::stale(VaultError::Stale { path: intent.change.path.clone() }))
        }
        _ => Err(StepError::parked_at(&intent.change.path)),
    }
}

/// The file of a note that went to the trash, open for reading, wherever it is by now. A mount, a backup or another
/// computer gives a file another number: one that has its name and these bytes is taken for it, unless it is open to more
/// people.
pub(crate) fn open_trashed(
    vault: &Vault,
    trashed: &TrashedFile,
    path: &NotePath,
    bytes: &[u8],
) -> Option<File> {
    let in_trash = || open_in_trash(vault, &trashed.name);
    let known = trashed.file.filter(|file| file.born.is_some()).and_then(|file| {
        let is_it = |found: &File| file_id_of(found) == Ok(file);
        in_trash().filter(is_it).or_else(|| system_trash::open_file(vault, &trashed.name, file))
    });
    let is_copy = |found: &File| {
        let is_no_wider = |access| file_metadata::is_no_wider(found, access);
        has_bytes(found, path, bytes) && trashed.access.is_none_or(is_no_wider)
    };
    known.or_else(|| in_trash().filter(is_copy))
}

/// The regular file under a name in the trash.
fn open_in_trash(vault: &Vault, name: &str) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let file = vault.root().open_folder(TRASH).ok()?.open(name, flags, Mode::empty()).ok()?;
    let stat = fs::fstat(&file).ok()?;
    FileType::from_raw_mode(stat.st_mode).is_file().then(|| File::from(file))
}

fn has_bytes(file: &File, path: &NotePath, bytes: &[u8]) -> bool {
    fs::fstat(file).is_ok_and(|stat| {
        note_file::check_readable(path, &stat).is_ok()
            && note_file::read_contents(path, file, &stat).is_ok_and(|found| found == bytes)
    })
}

/// A name that is free in the trash, like `wanted`.
pub(crate) fn free_name(vault: &Vault, wanted: &str, taken: &[String]) -> String {
    let trash = vault.root().open_folder(TRASH);
    let is_free = |name: &String| {
        !taken.contains(name)
            && trash.as_ref().map_or(true, |trash| trash.stat(name).err() == Some(Errno::NOENT))
    };
    let (stem, extension) = match wanted.rsplit_once('.') {
        Some((stem, extension)) => (stem, format!(".{extension}")),
        None => (wanted, String::new()),
    };
    let with_end = |end: String| {
        let end = format!(" {end}{extension}");
        let room = stem.floor_char_boundary(NAME_LIMIT.saturating_sub(end.len()));
        format!("{}{end}", stem.get(..room).unwrap_or(stem))
    };
    let numbered = (2..100).map(|number: u32| with_end(number.to_string()));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_else(|| with_end(format!("{:08x}", fastrand::u32(..))))
}

/// Nobody may be in the middle of writing what goes to the trash.
fn hold_for_trash(intent: &Intent, target: &AtomicFile) -> Result<ReplacedFile, StepError> {
    let note =
        target.open_note().map_err(|error| StepError::from_missing(target.io_error(error)))?;
    check_base_file(intent, &note)?;
    ReplacedFile::hold(target.path(), &note).map_err(StepError::from_missing)
}

fn dir_entries(vault: &Vault, intent: &Intent) -> Result<(DirEntry, DirEntry), StepError> {
    let path = &intent.change.path;
    let trashed = DirEntry::in_trash(vault, &intent.temp_name, path).map_err(StepError::failed)?;
    let note = DirEntry::open(vault, path).map_err(StepError::from_missing)?;
    Ok((note, trashed))
}
