//! How one note changes: made ready beside it, then put in its place in one step, and taken back
//! if something else was there than the plan was made on.

use protocol::{Intent, IntentState};
use rustix::fs;
use rustix::io::Errno;

use crate::place::{Exchange, Found, Place};
use crate::read::{self, NOTE_LIMIT};
use crate::{Vault, VaultError};

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
        Self { state: IntentState::Parked, why: VaultError::Parked { path: place.path().clone() } }
    }

    /// Nobody knows: the next recovery looks again.
    pub(crate) fn open(why: VaultError) -> Self {
        Self { state: IntentState::Open, why }
    }
}

/// Makes the change ready: the folder is there, the note is what the plan was made on, and the
/// bytes after are durable in the temporary file. The note itself is untouched.
pub(crate) fn stage(vault: &Vault, intent: &Intent) -> Result<(), Refusal> {
    let change = &intent.change;
    let size = change.after.len() as u64;
    if size > NOTE_LIMIT {
        return Err(Refusal::failed(VaultError::TooLarge { path: change.path.clone(), size }));
    }
    let Some(before) = &change.before else {
        let place = Place::make(vault, intent).map_err(Refusal::failed)?;
        if !matches!(place.note().map_err(Refusal::failed)?, Found::Nothing) {
            return Err(Refusal::stale(VaultError::Exists { path: change.path.clone() }));
        }
        return place.write_temp(change, None).map_err(Refusal::failed);
    };
    let place = Place::open(vault, intent).map_err(unreachable_note)?;
    let note = place.open_note().map_err(|error| unreachable_note(place.failed(error)))?;
    let stat = fs::fstat(&note).map_err(|error| Refusal::failed(place.failed(error)))?;
    read::admit(&change.path, &stat).map_err(Refusal::failed)?;
    let bytes = read::contents(&change.path, &note, &stat).map_err(Refusal::failed)?;
    if bytes != *before {
        return Err(stale(&place));
    }
    place.write_temp(change, Some(&note)).map_err(Refusal::failed)
}

/// Puts what was staged in place, durable when this returns.
pub(crate) fn commit(vault: &Vault, intent: &Intent) -> Result<(), Refusal> {
    let place = Place::open(vault, intent).map_err(Refusal::open)?;
    match &intent.change.before {
        None => create(&place)?,
        Some(before) => replace(&place, before, &intent.change.after)?,
    }
    place.sync().map_err(Refusal::open)
}

/// Puts back what the exchange took out of the note's place, because it is not what the plan was
/// made on. If the note was written again in that moment, the newest bytes stay in its place and
/// the others beside it.
pub(crate) fn take_back(place: &Place, after: &[u8]) -> Refusal {
    let unknown = |error| Refusal::open(place.failed(error));
    match place.exchange() {
        Ok(Exchange::Done) => {}
        Ok(Exchange::Unsupported) => return unknown(Errno::NOTSUP),
        Err(error) => return unknown(error),
    }
    match place.temp() {
        Ok(Found::File(bytes)) if bytes == after => place.discard_temp(),
        _ => return place.exchange().map_or_else(unknown, |_| Refusal::parked(place)),
    }
    match place.sync() {
        Ok(()) => stale(place),
        Err(error) => Refusal::open(error),
    }
}

fn create(place: &Place) -> Result<(), Refusal> {
    place.put_new().map_err(|error| {
        place.discard_temp();
        match error {
            Errno::EXIST => Refusal::stale(place.failed(error)),
            _ => Refusal::failed(place.failed(error)),
        }
    })
}

fn replace(place: &Place, before: &[u8], after: &[u8]) -> Result<(), Refusal> {
    match place.exchange() {
        Ok(Exchange::Done) => {}
        Ok(Exchange::Unsupported) => return replace_unexchanged(place, before),
        Err(error) => {
            place.discard_temp();
            return Err(unreachable_note(place.failed(error)));
        }
    }
    match place.temp() {
        Ok(Found::File(bytes)) if bytes == before => {
            place.discard_temp();
            Ok(())
        }
        _ => Err(take_back(place, after)),
    }
}

/// For file systems without exchange: a write between this look and the rename is lost.
fn replace_unexchanged(place: &Place, before: &[u8]) -> Result<(), Refusal> {
    match place.note() {
        Ok(Found::File(bytes)) if bytes == before => {}
        Ok(_) => {
            place.discard_temp();
            return Err(stale(place));
        }
        Err(error) => {
            place.discard_temp();
            return Err(Refusal::failed(error));
        }
    }
    place.put_over().map_err(|error| {
        place.discard_temp();
        Refusal::failed(place.failed(error))
    })
}

fn stale(place: &Place) -> Refusal {
    Refusal::stale(VaultError::Stale { path: place.path().clone() })
}

/// A note that is gone makes its plan stale; one that is refused is a failure.
fn unreachable_note(why: VaultError) -> Refusal {
    match why {
        VaultError::NotFound { .. } => Refusal::stale(why),
        _ => Refusal::failed(why),
    }
}
