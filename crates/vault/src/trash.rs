//! A note goes to the vault's trash. It is never removed.

use std::fs::File;
use std::io::Seek;

use protocol::{Intent, NotePath};
use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;

use crate::found::Found;
use crate::old_file::OldFile;
use crate::place::Place;
use crate::spot::{Spot, TRASH};
use crate::swap::{Refusal, admit_file, is_base};
use crate::unit::Left;
use crate::{Vault, VaultError, elsewhere, read};

/// The note is what the plan was made on.
pub(crate) fn stage(vault: &Vault, intent: &Intent, before: &[u8]) -> Result<(), Refusal> {
    let place = Place::open(vault, intent).map_err(Refusal::of_missing)?;
    match place.note().map_err(Refusal::failed)? {
        Found::File(bytes) if bytes == before => {
            vault.may_write(&intent.change.path).map_err(Refusal::failed)?;
            hold(intent, &place).map(drop)
        }
        Found::Nothing => Err(Refusal::of_missing(place.failed(Errno::NOENT))),
        _ => Err(Refusal::stale(VaultError::Stale { path: place.path().clone() })),
    }
}

/// Carries the note to the trash, and back if it was another one by then or somebody came to write.
pub(crate) fn commit(vault: &Vault, intent: &Intent, before: &[u8]) -> Result<Left, Refusal> {
    let (note, trashed) = spots(vault, intent)?;
    let held = hold(intent, &Place::open(vault, intent).map_err(Refusal::of_missing)?)?;
    note.carry(&trashed).map_err(Refusal::of_missing)?;
    let is_it = !intent.is_exact || is_base(intent, trashed.file_id());
    match trashed.found() {
        Ok(Found::File(bytes)) if bytes == before && is_it && !held.is_wanted() => {
            note.sync_with(&trashed).map_err(Refusal::open)?;
            Ok(None)
        }
        Err(why) => Err(Refusal::open(why)),
        Ok(_) => {
            trashed.carry(&note).map_err(|_| Refusal::parked_at(&intent.change.path))?;
            trashed.sync_with(&note).map_err(Refusal::open)?;
            Err(Refusal::stale(VaultError::Stale { path: intent.change.path.clone() }))
        }
    }
}

/// Brings the note back from the trash, and no other that has its name there.
pub(crate) fn revert(vault: &Vault, intent: &Intent) -> Result<(), Refusal> {
    let (note, trashed) = spots(vault, intent).map_err(|refusal| Refusal::open(refusal.why))?;
    let before = intent.change.before().unwrap_or_default();
    if !is_it(intent, &trashed, before)? {
        return Err(Refusal::parked_at(&intent.change.path));
    }
    trashed.carry(&note).map_err(|why| Refusal::of_taking_back(&intent.change.path, why))?;
    if !is_it(intent, &note, before)? {
        // Another one took its name in that moment.
        note.carry(&trashed).map_err(|_| Refusal::parked_at(&intent.change.path))?;
        note.sync_with(&trashed).map_err(Refusal::open)?;
        return Err(Refusal::parked_at(&intent.change.path));
    }
    trashed.sync_with(&note).map_err(Refusal::open)
}

/// Whether the note is in the trash.
pub(crate) fn has_happened(vault: &Vault, intent: &Intent, before: &[u8]) -> Result<bool, Refusal> {
    let path = &intent.change.path;
    let trashed = Spot::in_trash(vault, &intent.temp_name, path).map_err(Refusal::open)?;
    is_it(intent, &trashed, before)
}

/// Whether it is the note that the change is about. Where its file was not recorded its text has to do.
fn is_it(intent: &Intent, spot: &Spot, before: &[u8]) -> Result<bool, Refusal> {
    if intent.base.is_some_and(|base| base.born.is_some()) {
        return Ok(is_base(intent, spot.file_id()));
    }
    let found = spot.found().map_err(Refusal::open)?;
    Ok(matches!(found, Found::File(bytes) if bytes == before))
}

/// Finishes what was interrupted.
pub(crate) fn finish(vault: &Vault, intent: &Intent, before: &[u8]) -> Result<Left, Refusal> {
    let (note, trashed) = spots(vault, intent)?;
    let in_trash = trashed.found();
    let is_other = intent.is_exact && !is_base(intent, trashed.file_id());
    match in_trash.map_err(Refusal::open)? {
        // Somebody threw another note away under this name. It stays there, whatever became of the first.
        Found::File(_) | Found::Other if is_other => match is_base(intent, note.file_id()) {
            true => Err(Refusal::stale(VaultError::Stale { path: intent.change.path.clone() })),
            false => Err(Refusal::parked_at(&intent.change.path)),
        },
        Found::File(bytes) if bytes == before && !trashed.is_being_written() => {
            note.sync_with(&trashed).map_err(Refusal::open)?;
            Ok(None)
        }
        // Neither here nor there: it was handed on to the user's own trash, or emptied away. If it stands
        // elsewhere somebody moved it, before it went or after.
        Found::Nothing if note.kind().map_err(Refusal::open)?.is_none() => {
            match intent.base.filter(|base| base.born.is_some()) {
                Some(base) if elsewhere::stands(vault, base, &intent.change.path) => {
                    Err(Refusal::parked_at(&intent.change.path))
                }
                _ => Ok(None),
            }
        }
        Found::Nothing => stage(vault, intent, before).and_then(|()| commit(vault, intent, before)),
        // It is the note, which somebody saved or opened before it went.
        _ if intent.base.is_some() && trashed.file_id() == intent.base => {
            trashed.carry(&note).map_err(|_| Refusal::parked_at(&intent.change.path))?;
            trashed.sync_with(&note).map_err(Refusal::open)?;
            Err(Refusal::stale(VaultError::Stale { path: intent.change.path.clone() }))
        }
        _ => Err(Refusal::parked_at(&intent.change.path)),
    }
}

/// The file `name` in the trash, open for reading, if it is one of its own with these bytes.
pub(crate) fn file_with(vault: &Vault, name: &str, path: &NotePath, bytes: &[u8]) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let file = vault.root().folder(TRASH).ok()?.open(name, flags, Mode::empty()).ok()?;
    let mut file = File::from(file);
    let stat = fs::fstat(&file).ok()?;
    read::admit(path, &stat).ok()?;
    let is_it = read::contents(path, &file, &stat).ok()? == bytes;
    file.rewind().ok()?;
    is_it.then_some(file)
}

/// A name that is free in the trash, like `wanted`.
pub(crate) fn free_name(vault: &Vault, wanted: &str, taken: &[String]) -> String {
    let trash = vault.root().folder(TRASH);
    let is_free = |name: &String| {
        !taken.contains(name)
            && trash.as_ref().map_or(true, |trash| trash.stat(name).err() == Some(Errno::NOENT))
    };
    let (stem, extension) = match wanted.rsplit_once('.') {
        Some((stem, extension)) => (stem, format!(".{extension}")),
        None => (wanted, String::new()),
    };
    let numbered = (2..100).map(|n| format!("{stem} {n}{extension}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_else(|| format!("{stem} {:08x}{extension}", fastrand::u32(..)))
}

/// Nobody may be in the middle of writing what goes to the trash.
fn hold(intent: &Intent, place: &Place) -> Result<OldFile, Refusal> {
    let note = place.open_note().map_err(|error| Refusal::of_missing(place.failed(error)))?;
    admit_file(intent, &note)?;
    OldFile::hold(place.path(), &note).map_err(Refusal::of_missing)
}

fn spots(vault: &Vault, intent: &Intent) -> Result<(Spot, Spot), Refusal> {
    let path = &intent.change.path;
    let trashed = Spot::in_trash(vault, &intent.temp_name, path).map_err(Refusal::failed)?;
    let note = Spot::open(vault, path).map_err(Refusal::of_missing)?;
    Ok((note, trashed))
}
