//! One change of an order, whatever it does: made ready, carried out, taken back, finished.

use protocol::{Act, ChangeKind, Intent};

use crate::found::Found;
use crate::place::Place;
use crate::spot::Spot;
use crate::swap::{self, Refusal};
use crate::unit::Left;
use crate::{Vault, carrying, recover, trash, twin};

/// Makes the change ready and touches no note. Says which file was made to get the note's name, or which folder
/// is to come back from the trash.
pub(crate) fn stage(vault: &Vault, intent: &Intent) -> Result<Left, Refusal> {
    for path in std::iter::once(&intent.change.path).chain(intent.change.target()) {
        vault.takes_changes(path).map_err(Refusal::failed)?;
    }
    twin::admit(vault, &intent.change.path, None).map_err(Refusal::failed)?;
    if let Some(target) = intent.change.target() {
        twin::admit(vault, target, Some(&intent.change.path)).map_err(Refusal::failed)?;
    }
    match &intent.change.act {
        Act::Create { after, like } => swap::stage_new(vault, intent, after, like.as_deref()),
        Act::Replace { before, after } => swap::stage(vault, intent, before, after),
        Act::Trash { before } => trash::stage(vault, intent, before).map(|()| None),
        Act::Rename { .. } | Act::TrashFolder { .. } | Act::RestoreFolder { .. } => {
            carrying::stage(vault, intent)
        }
        Act::MakeFolder => Ok(None),
    }
}

/// Forgets what [`stage`] made.
pub(crate) fn unstage(vault: &Vault, intent: &Intent) {
    swap::sweep(vault, intent);
}

/// Carries out what was staged, durable when this returns. Says in which file it left what it is about.
pub(crate) fn commit(vault: &Vault, intent: &Intent) -> Result<Left, Refusal> {
    match &intent.change.act {
        Act::Create { after, .. } => swap::commit_new(vault, intent, after),
        Act::Replace { before, after } => swap::commit(vault, intent, before, after),
        Act::Trash { before } => trash::commit(vault, intent, before),
        Act::Rename { .. } | Act::TrashFolder { .. } | Act::RestoreFolder { .. } => {
            carrying::commit(vault, intent)
        }
        Act::MakeFolder => {
            let spot = Spot::make(vault, &intent.change.path).map_err(Refusal::failed)?;
            spot.make_folder().map_err(Refusal::failed)?;
            Ok(spot.file_id())
        }
    }
}

/// Takes back what was carried out a moment ago. If somebody changed it since, it is parked; if
/// the system refuses, it stays open for the next recovery.
pub(crate) fn revert(vault: &Vault, intent: &Intent) -> Result<(), Refusal> {
    match &intent.change.act {
        Act::Create { after, .. } => swap::revert_new(vault, intent, after),
        Act::Replace { before, after } => swap::revert(vault, intent, before, after),
        Act::Trash { .. } => trash::revert(vault, intent),
        Act::Rename { .. } | Act::TrashFolder { .. } | Act::RestoreFolder { .. } => {
            carrying::revert(vault, intent)
        }
        Act::MakeFolder => {
            // A folder that is used by now stays, and one that was there before.
            if intent.base.is_none()
                && let Ok(spot) = Spot::open(vault, &intent.change.path)
            {
                let _ = spot.remove_empty_folder();
            }
            Ok(())
        }
    }
}

/// Finishes what was interrupted, by what is on disk.
pub(crate) fn finish(vault: &Vault, intent: &Intent) -> Result<Left, Refusal> {
    match &intent.change.act {
        Act::Create { .. } | Act::Replace { .. } => recover::finish_note(vault, intent),
        Act::Trash { before } => trash::finish(vault, intent, before),
        Act::Rename { .. } | Act::TrashFolder { .. } | Act::RestoreFolder { .. } => {
            carrying::finish(vault, intent)
        }
        Act::MakeFolder => commit(vault, intent),
    }
}

/// Whether an interrupted change of a unit stands on disk, so that it can be taken back.
pub(crate) fn has_happened(vault: &Vault, intent: &Intent) -> Result<bool, Refusal> {
    match &intent.change.act {
        Act::Create { after, .. } | Act::Replace { after, .. } => {
            let Ok(place) = Place::open(vault, intent) else { return Ok(false) };
            // Somebody may have gone on writing in it.
            if swap::is_staged(intent, place.note_id()) {
                return Ok(true);
            }
            let note = place.note().map_err(Refusal::open)?;
            Ok(matches!(note, Found::File(bytes) if bytes == *after))
        }
        Act::Trash { before } => trash::has_happened(vault, intent, before),
        Act::Rename { .. } | Act::TrashFolder { .. } | Act::RestoreFolder { .. } => {
            carrying::has_happened(vault, intent)
        }
        Act::MakeFolder => Ok(false),
    }
}

/// Whether new bytes of a note, or a new note, certainly still wait for their exchange.
pub(crate) fn is_waiting(vault: &Vault, intent: &Intent) -> bool {
    let Ok(place) = Place::open(vault, intent) else { return false };
    // Without a stored file nothing was exchanged, unless the power was cut.
    intent.staged.is_none()
        || swap::is_staged(intent, place.temp_id())
        || (intent.change.kind() == ChangeKind::Replace && swap::is_base(intent, place.note_id()))
}
