//! How one note changes: made ready beside it, then put in its place in one step, and taken back
//! if something else was there than the plan was made on.

use std::fs::File;
use std::os::fd::AsFd;

use protocol::{FileId, Intent, IntentState, NotePath, Succession};
use rustix::fs;
use rustix::io::Errno;

use crate::folder::{id_of, is_same};
use crate::found::Found;
use crate::old_file::OldFile;
use crate::place::{Exchange, Place};
use crate::read::{self, NOTE_LIMIT};
use crate::unit::Left;
use crate::{Vault, VaultError, replaced, trash};

/// Why a note was not changed, and how its intent ended.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) state: IntentState,
    pub(crate) why: VaultError,
}

impl Refusal {
    pub(crate) fn stale(why: VaultError) -> Self {
        Self { state: IntentState::Stale, why }
    }

    pub(crate) fn failed(why: VaultError) -> Self {
        Self { state: IntentState::Failed, why }
    }

    pub(crate) fn parked(place: &Place) -> Self {
        Self::parked_at(place.path())
    }

    pub(crate) fn parked_at(path: &NotePath) -> Self {
        Self { state: IntentState::Parked, why: VaultError::Parked { path: path.clone() } }
    }

    /// What is gone or in the way makes its plan stale; what is refused is a failure.
    pub(crate) fn of_missing(why: VaultError) -> Self {
        match why {
            VaultError::NotFound { .. }
            | VaultError::Exists { .. }
            | VaultError::Stale { .. }
            | VaultError::BeingWritten { .. } => Self::stale(why),
            _ => Self::failed(why),
        }
    }

    /// What is gone or in the way when a change is taken back was done by somebody else; what the
    /// system refuses now, it may allow to the next recovery.
    pub(crate) fn of_taking_back(path: &NotePath, why: VaultError) -> Self {
        match why {
            VaultError::Io { .. }
            | VaultError::NoSpace { .. }
            | VaultError::ReadOnly { .. }
            | VaultError::Protected { .. }
            | VaultError::Unkept { .. }
            | VaultError::BeingWritten { .. }
            | VaultError::Denied { .. } => Self::open(why),
            _ => Self::parked_at(path),
        }
    }

    /// Nobody knows: the next recovery looks again.
    pub(crate) fn open(why: VaultError) -> Self {
        Self { state: IntentState::Open, why }
    }
}

/// Makes a new note ready: its folder is there, its name is free, and its bytes are durable in the
/// temporary file, with what the file `like` in the trash has beside the same bytes. Says which file that is.
pub(crate) fn stage_new(
    vault: &Vault,
    intent: &Intent,
    after: &[u8],
    like: Option<&str>,
) -> Result<Left, Refusal> {
    under_limit(intent, after)?;
    let place = Place::make(vault, intent).map_err(Refusal::failed)?;
    if !matches!(place.note().map_err(Refusal::failed)?, Found::Nothing) {
        return Err(Refusal::stale(VaultError::Exists { path: intent.change.path.clone() }));
    }
    let like = like.and_then(|name| trash::file_with(vault, name, place.path(), after));
    place.write_temp(after, like.as_ref()).map_err(Refusal::failed)
}

/// Makes new bytes of a note ready: the note is what the plan was made on, nobody has it open for
/// writing, and the bytes after are durable in the temporary file. The note itself is untouched. Says which
/// file the temporary one is.
pub(crate) fn stage(
    vault: &Vault,
    intent: &Intent,
    before: &[u8],
    after: &[u8],
) -> Result<Left, Refusal> {
    under_limit(intent, after)?;
    let path = &intent.change.path;
    let place = Place::open(vault, intent).map_err(Refusal::of_missing)?;
    let note = place.open_note().map_err(|error| Refusal::of_missing(place.failed(error)))?;
    admit_file(intent, &note)?;
    let stat = fs::fstat(&note).map_err(|error| Refusal::failed(place.failed(error)))?;
    read::admit(path, &stat).map_err(Refusal::failed)?;
    place.admit_change(&note).map_err(Refusal::failed)?;
    // Nobody is in the middle of writing what is read here.
    let held = OldFile::hold(path, &note).map_err(Refusal::of_missing)?;
    let bytes = read::contents(path, &note, &stat).map_err(Refusal::failed)?;
    drop(held);
    if bytes != before {
        return Err(stale(&place));
    }
    place.write_temp(after, Some(&note)).map_err(Refusal::failed)
}

/// Refuses a file that is not the one that the change is about: another note may have its path by now,
/// and say the same.
pub(crate) fn admit_file(intent: &Intent, file: &impl AsFd) -> Result<(), Refusal> {
    if intent.is_exact && !is_base(intent, id_of(file).ok()) {
        return Err(Refusal::stale(VaultError::Stale { path: intent.change.path.clone() }));
    }
    Ok(())
}

/// Whether a file is the one that the change is about.
pub(crate) fn is_base(intent: &Intent, file: Option<FileId>) -> bool {
    intent.base.zip(file).is_some_and(|(base, file)| is_same(base, file))
}

/// Whether a file is the one that was made ready for the change.
pub(crate) fn is_staged(intent: &Intent, file: Option<FileId>) -> bool {
    intent.staged.zip(file).is_some_and(|(staged, file)| is_same(staged, file))
}

/// Puts a new note that was staged in place, durable when this returns. Says which file it is.
pub(crate) fn commit_new(vault: &Vault, intent: &Intent, after: &[u8]) -> Result<Left, Refusal> {
    let place = Place::open(vault, intent).map_err(Refusal::open)?;
    let (ours, id) = place.staged(after).map_err(Refusal::failed)?;
    place.put_new().map_err(|error| {
        place.discard_temp();
        match error {
            Errno::EXIST => Refusal::stale(place.failed(error)),
            _ => Refusal::failed(place.failed(error)),
        }
    })?;
    if !place.holds(ours).map_err(|error| Refusal::open(place.failed(error)))? {
        // A file there is another program's, which took the place of ours in that moment, and stays.
        if matches!(place.note(), Ok(Found::File(_))) {
            place.sync().map_err(Refusal::open)?;
            return Err(Refusal::stale(VaultError::Exists { path: intent.change.path.clone() }));
        }
        // What was planted goes back under the temporary name, where nobody looks for a note.
        place.take_out().map_err(|error| Refusal::open(place.failed(error)))?;
        return Err(disturbed(&place));
    }
    place.sync().map_err(Refusal::open)?;
    Ok(id)
}

/// Puts new bytes that were staged in place, durable when this returns. Says which file has them.
pub(crate) fn commit(
    vault: &Vault,
    intent: &Intent,
    before: &[u8],
    after: &[u8],
) -> Result<Left, Refusal> {
    let place = Place::open(vault, intent).map_err(Refusal::open)?;
    let left = replace(vault, intent, &place, before, after)?;
    place.sync().map_err(Refusal::open)?;
    Ok(left)
}

/// Takes a new note out of its place again, if it is the file that was put there and holds what it held.
pub(crate) fn revert_new(vault: &Vault, intent: &Intent, after: &[u8]) -> Result<(), Refusal> {
    let path = &intent.change.path;
    let refused = |why| Refusal::of_taking_back(path, why);
    let place = Place::open(vault, intent).map_err(refused)?;
    let note = place.open_note().map_err(|error| refused(place.failed(error)))?;
    if !is_staged(intent, id_of(&note).ok()) {
        return Err(Refusal::parked_at(path));
    }
    let old = OldFile::hold(path, &note).map_err(refused)?;
    place.take_out().map_err(|error| refused(place.failed(error)))?;
    match place.temp() {
        Ok(Found::File(bytes)) if bytes == after && place.temp_is(&note) && !old.is_wanted() => {
            old.discard(vault, &place);
            place.sync().map_err(Refusal::open)
        }
        _ => {
            let _ = place.put_new();
            Err(Refusal::parked_at(path))
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
) -> Result<(), Refusal> {
    // The file there is the one that was staged, and not the one that the change was made on.
    let base = intent.staged.ok_or_else(|| Refusal::parked_at(&intent.change.path))?;
    let back =
        Intent { temp_name: way_back(intent), base: Some(base), is_exact: true, ..intent.clone() };
    let reverted =
        stage(vault, &back, after, before).and_then(|_| commit(vault, &back, after, before));
    let left = reverted.map_err(|refusal| match refusal.state {
        IntentState::Open => refusal,
        _ => Refusal::of_taking_back(&intent.change.path, refusal.why),
    })?;
    // The note says what it said before, in a file of ours.
    if let Some((from, to)) = intent.base.zip(left) {
        vault.seats().replaced(&intent.change.path, Succession { from, to });
    }
    Ok(())
}

/// The name of the temporary file with which a change is taken back.
pub(crate) fn way_back(intent: &Intent) -> String {
    let name = &intent.temp_name;
    format!("{}.back.tmp", name.strip_suffix(".tmp").unwrap_or(name))
}

/// Removes what was made ready, if it is that. It may be half written: then no exchange has put another
/// file under its name.
pub(crate) fn sweep(vault: &Vault, intent: &Intent) {
    let Ok(place) = Place::open(vault, intent) else { return };
    let Some(after) = intent.change.after() else { return };
    let Ok(Found::File(bytes)) = place.temp() else { return };
    let was_exchanged = || {
        is_base(intent, place.temp_id())
            || is_staged(intent, place.note_id())
            || matches!(place.note(), Ok(Found::File(note)) if note == after)
    };
    if bytes == after || (after.starts_with(&bytes) && !was_exchanged()) {
        place.discard_temp();
    }
}

/// Puts back what the exchange took out of the note's place, because it is not what the plan was
/// made on. If the note was written again in that moment, the newest bytes stay in its place and
/// the others beside it.
pub(crate) fn take_back(vault: &Vault, place: &Place, after: &[u8]) -> Refusal {
    let unknown = |error| Refusal::open(place.failed(error));
    match place.exchange() {
        Ok(Exchange::Done) => {}
        Ok(Exchange::Unsupported) => return unknown(Errno::NOTSUP),
        Err(error) => return unknown(error),
    }
    match place.temp() {
        Ok(Found::File(bytes)) if bytes == after => {
            // Under the note's name somebody may have opened it.
            if discard_temp(vault, place).is_err() {
                vault.held().follow_temp(place, after);
                return Refusal::parked(place);
            }
        }
        _ => return place.exchange().map_or_else(unknown, |_| Refusal::parked(place)),
    }
    match place.sync() {
        Ok(()) => stale(place),
        Err(error) => Refusal::open(error),
    }
}

/// Removes a file that once had the note's name and now has the temporary one; refused if a program has
/// it open for writing.
pub(crate) fn discard_temp(vault: &Vault, place: &Place) -> Result<(), VaultError> {
    match place.open_temp() {
        Ok(file) => OldFile::hold(place.path(), &file)?.discard(vault, place),
        Err(_) => place.discard_temp(),
    }
    Ok(())
}

/// Somebody opened the note for writing in that moment: it goes back, and they write to it.
fn wanted(vault: &Vault, place: &Place, after: &[u8]) -> Refusal {
    match take_back(vault, place, after) {
        back if back.state == IntentState::Stale => {
            Refusal::stale(VaultError::BeingWritten { path: place.path().clone() })
        }
        left => left,
    }
}

/// The note got something beside its bytes in that moment which ours cannot have, so it goes back.
fn unkept(vault: &Vault, place: &Place, after: &[u8], why: VaultError) -> Refusal {
    match take_back(vault, place, after) {
        back if back.state == IntentState::Stale => Refusal::failed(why),
        left => left,
    }
}

fn replace(
    vault: &Vault,
    intent: &Intent,
    place: &Place,
    before: &[u8],
    after: &[u8],
) -> Result<Left, Refusal> {
    let (ours, id) = place.staged(after).map_err(Refusal::failed)?;
    let unready = |why: VaultError| {
        place.discard_temp();
        Refusal::of_missing(why)
    };
    let note = place.open_note().map_err(|error| unready(place.failed(error)))?;
    admit_file(intent, &note).inspect_err(|_| place.discard_temp())?;
    let old = OldFile::hold(place.path(), &note).map_err(unready)?;
    // From here on nobody writes to it, so only a file that is renamed over it can be another one below.
    let stat = fs::fstat(&note).map_err(|error| unready(place.failed(error)))?;
    if read::contents(place.path(), &note, &stat).map_err(unready)? != before {
        return Err(unready(VaultError::Stale { path: place.path().clone() }));
    }
    match place.exchange() {
        Ok(Exchange::Done) => match place.holds(ours) {
            Ok(true) => {}
            Ok(false) => return Err(displaced(vault, place, before)),
            // It cannot be seen who has the name: the note goes back, unless it is newer than both.
            Err(_) => return Err(take_back(vault, place, after)),
        },
        Ok(Exchange::Unsupported) => {
            return replace_unexchanged(vault, place, old, before).map(|()| id);
        }
        Err(error) => return Err(unready(place.failed(error))),
    }
    // With the same bytes it may still be another file, which was renamed there in that moment.
    let is_it = !intent.is_exact || place.temp_is(&note);
    match place.temp() {
        Ok(Found::File(bytes)) if bytes == before && is_it => {
            place.keep_newest_attributes().map_err(|why| unkept(vault, place, after, why))?;
            if old.is_wanted() {
                return Err(wanted(vault, place, after));
            }
            discard_old(vault, place, old, &note, before)?;
            Ok(id)
        }
        _ => Err(take_back(vault, place, after)),
    }
}

/// Lets go of the file that was taken out. It is the one that is held, unless the name stood for
/// another one by then.
fn discard_old(
    vault: &Vault,
    place: &Place,
    old: OldFile,
    note: &File,
    before: &[u8],
) -> Result<(), Refusal> {
    if place.temp_is(note) {
        old.discard(vault, place);
        return Ok(());
    }
    // With the bytes of the plan as well; who has it open keeps it.
    discard_temp(vault, place).map_err(|_| {
        vault.held().follow_temp(place, before);
        Refusal::parked(place)
    })
}

/// What has the note's name is not what was staged. A file there is a newer save of another
/// program, which took the place of ours in that moment, and stays. Anything else had taken the
/// temporary name before, and goes back there.
fn displaced(vault: &Vault, place: &Place, before: &[u8]) -> Refusal {
    if !matches!(place.note(), Ok(Found::File(_))) {
        return match place.exchange() {
            Ok(_) => disturbed(place),
            Err(error) => Refusal::open(place.failed(error)),
        };
    }
    match place.temp() {
        Ok(Found::File(bytes)) if bytes == before && discard_temp(vault, place).is_ok() => {}
        // It was saved twice in that moment, or is still written to. Both are kept.
        Ok(Found::File(bytes)) => {
            vault.held().follow_temp(place, if bytes == before { before } else { b"" });
            return Refusal::parked(place);
        }
        _ => return Refusal::parked(place),
    }
    match place.sync() {
        Ok(()) => stale(place),
        Err(error) => Refusal::open(error),
    }
}

/// For file systems without exchange. With leases, a program that writes to the note waits; without,
/// it writes to the file that the trash keeps. A file that another program renames into the note's
/// place between this look and the rename is lost.
fn replace_unexchanged(
    vault: &Vault,
    place: &Place,
    old: OldFile,
    before: &[u8],
) -> Result<(), Refusal> {
    let given_up = |refusal| {
        place.discard_temp();
        refusal
    };
    match place.note() {
        Ok(Found::File(bytes)) if bytes == before => {}
        Ok(_) => return Err(given_up(stale(place))),
        Err(error) => return Err(given_up(Refusal::failed(error))),
    }
    let failed = |error| given_up(Refusal::failed(place.failed(error)));
    place.keep_latest_attributes().map_err(|why| given_up(Refusal::failed(why)))?;
    if old.is_unseen() {
        replaced::link(vault, place).map_err(failed)?;
    } else if old.is_wanted() {
        let path = place.path().clone();
        return Err(given_up(Refusal::stale(VaultError::BeingWritten { path })));
    }
    place.put_over().map_err(|error| {
        replaced::unlink(vault, place);
        failed(error)
    })?;
    old.watch_nameless(vault);
    Ok(())
}

/// Another program took the temporary file's name; the note is as it was.
fn disturbed(place: &Place) -> Refusal {
    Refusal::failed(VaultError::Disturbed { path: place.path().clone() })
}

fn stale(place: &Place) -> Refusal {
    Refusal::stale(VaultError::Stale { path: place.path().clone() })
}

fn under_limit(intent: &Intent, after: &[u8]) -> Result<(), Refusal> {
    let (path, size) = (intent.change.path.clone(), after.len() as u64);
    if size > NOTE_LIMIT {
        return Err(Refusal::failed(VaultError::TooLarge { path, size }));
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "tests make the files of the vault")]
#[cfg(test)]
mod tests;
