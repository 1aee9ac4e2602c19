//! Finding out how interrupted changes ended, and finishing them.

use protocol::{Act, Change, ChangeKind, Intent, NotePath};
use tokio::sync::OwnedMutexGuard;
use tokio::task::spawn_blocking;

use crate::apply::{Settled, follow, settle};
use crate::folder::is_same;
use crate::found::Found;
use crate::ledger::Ledger;
use crate::place::Place;
use crate::root::Changing;
use crate::swap::{self, Refusal, is_base, is_staged};
use crate::unit::Left;
use crate::{ApplyError, Vault, VaultError, act, elsewhere, replaced, unit};

/// What became of the changes that were open, in the order they were intended. Each intent names
/// its turn and call, so a caller can say of every call whether its change happened.
#[derive(Debug, Default)]
pub struct Recovery {
    /// The note holds the bytes after: found so, or finished now.
    pub done: Vec<Intent>,
    /// The note does not hold the bytes after, and why.
    pub problems: Vec<(Intent, VaultError)>,
}

impl Vault {
    /// Settles every open intent by what is on disk. To be called before the first
    /// [`Vault::apply`] after a start; doing it twice is harmless.
    pub async fn recover(&self, ledger: &dyn Ledger) -> Result<Recovery, ApplyError> {
        let mut held = self.changing().lock_owned().await;
        held.unsettled = true;
        self.put_right(held, ledger).await.map(|(_, recovery)| recovery)
    }

    /// The same for a caller who changes notes already.
    pub(crate) async fn put_right(
        &self,
        held: OwnedMutexGuard<Changing>,
        ledger: &dyn Ledger,
    ) -> Result<(OwnedMutexGuard<Changing>, Recovery), ApplyError> {
        // Since the interruption somebody may have put another note there. What is moved or deleted is that
        // file and no other; an edit is finished on what says what it was made on, also where notes and
        // data were restored from a backup and all files are new.
        let keeps_to_its_file = |intent: Intent| Intent {
            is_exact: intent.change.kind() != ChangeKind::Replace
                && intent.base.is_some_and(|base| base.born.is_some()),
            ..intent
        };
        let intents: Vec<_> = ledger.open().await?.into_iter().map(keeps_to_its_file).collect();
        let vault = self.clone();
        let work = move || {
            let is_other = vault.is_unmarked();
            let finish = |group| match is_other {
                true => unit::not_here(group),
                false => unit::finish(&vault, group),
            };
            let outcomes: Vec<_> = unit::groups(intents).into_iter().flat_map(finish).collect();
            follow(&vault, &outcomes);
            vault.let_go();
            (held, outcomes)
        };
        let (mut held, outcomes) =
            spawn_blocking(work).await.map_err(|_| ApplyError::Interrupted)?;
        let mut recovery = Recovery::default();
        // What is not stored is found out again.
        held.unsettled = settle(ledger, &outcomes).await != Settled::All;
        for (intent, outcome) in outcomes {
            match outcome {
                Ok(_) => recovery.done.push(intent),
                Err(refusal) => recovery.problems.push((intent, refusal.why)),
            }
        }
        Ok((held, recovery))
    }
}

/// What stands under one of the two names, compared with what the ledger knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Image {
    Nothing,
    Before,
    After,
    /// The beginning of the bytes after: a temporary file that was being written.
    Part,
    Other,
}

/// What to do about an open intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remedy {
    /// It did not happen; it happens now.
    Apply,
    /// It happened.
    Done,
    /// It took out bytes that the plan was not made on; they go back.
    TakeBack,
    /// Nobody can tell; nothing is touched.
    Park,
    /// A creation that was being taken back took out somebody else's bytes; they go back.
    PutBack,
    /// It certainly did not happen, and the note is another one or gone: what was made ready goes.
    GiveUp,
    /// It happened, and the note was moved since.
    Moved,
    /// It happened, and the note is gone since.
    Gone,
}

/// The three states of a note, each with what its temporary file tells.
const fn remedy(kind: ChangeKind, note: Image, temp: Image) -> Remedy {
    use ChangeKind::{Create, Replace};
    match (kind, note, temp) {
        (Replace, Image::Before, Image::Other) => Remedy::Park,
        (Create, Image::Nothing, Image::Other) => Remedy::PutBack,
        (Replace, Image::Before, _) | (Create, Image::Nothing, _) => Remedy::Apply,
        (Replace, Image::After, Image::Part | Image::Other) => Remedy::TakeBack,
        (_, Image::After, _) => Remedy::Done,
        _ => Remedy::Park,
    }
}

/// Finishes the creation or the new bytes of one note.
pub(crate) fn finish_note(vault: &Vault, intent: &Intent) -> Result<Left, Refusal> {
    let change = &intent.change;
    let place = match Place::open(vault, intent) {
        Ok(place) => place,
        Err(VaultError::NotFound { .. }) => return finish_without_folder(vault, intent),
        Err(error) => return Err(Refusal::open(error)),
    };
    finish_way_back(vault, intent)?;
    let note = image(change, place.note().map_err(Refusal::open)?);
    let temp = image(change, place.temp().map_err(Refusal::open)?);
    // A note is never half of ours: only the temporary file is written in place.
    let note = if note == Image::Part { Image::Other } else { note };
    let left = left(intent, &place);
    let mut remedy = by_files(vault, intent, &place, (note, temp));
    let is_ready = remedy == Remedy::Apply
        && temp == Image::After
        && intent.staged.is_some()
        && place.temp_id() == intent.staged;
    if is_ready {
        if let Ok(note) = place.open_note() {
            place.admit_change(&note).map_err(Refusal::failed)?;
        }
        replaced::unlink(vault, &place);
        return act::commit(vault, intent);
    }
    // The temporary file holds only a beginning of the bytes after. If it is not the note's own file, which
    // only the exchange puts there, it may be our half-written one, and the note may have got these bytes
    // from another program. Both stay.
    if remedy == Remedy::TakeBack && temp == Image::Part && place.temp_id() != intent.base {
        return Err(Refusal::parked(&place));
    }
    if remedy != Remedy::TakeBack
        && !matches!(temp, Image::Nothing | Image::Other)
        && swap::discard_temp(vault, &place).is_err()
    {
        // It had the note's name for a moment, and somebody opened it for writing.
        remedy = match (change.kind(), remedy) {
            (ChangeKind::Create, Remedy::Apply) => Remedy::PutBack,
            (ChangeKind::Replace, Remedy::Done) => Remedy::TakeBack,
            _ => Remedy::Park,
        };
    }
    match remedy {
        Remedy::Apply => {
            replaced::unlink(vault, &place);
            act::stage(vault, intent).and_then(|_| act::commit(vault, intent))
        }
        Remedy::Done => {
            place.sync().map_err(Refusal::open)?;
            Ok(left)
        }
        Remedy::TakeBack => Err(swap::take_back(vault, &place, change.after().unwrap_or_default())),
        Remedy::Park => Err(Refusal::parked(&place)),
        Remedy::Moved => Ok(intent.staged),
        Remedy::Gone => Ok(None),
        Remedy::GiveUp => Err(Refusal::stale(match change.kind() {
            ChangeKind::Create => VaultError::Exists { path: change.path.clone() },
            _ => VaultError::Stale { path: change.path.clone() },
        })),
        Remedy::PutBack => {
            place.put_new().map_err(|error| Refusal::open(place.failed(error)))?;
            place.sync().map_err(Refusal::open)?;
            Err(Refusal::parked(&place))
        }
    }
}

/// The remedy by what stands under the two names, and by which files these are. The file that was made ready
/// is under the temporary name until it is put in place, and never there again: so it tells what happened.
fn by_files(vault: &Vault, intent: &Intent, place: &Place, (note, temp): (Image, Image)) -> Remedy {
    let kind = intent.change.kind();
    let staged = intent.staged;
    let is_ready =
        temp == Image::After && staged.is_none_or(|_| is_staged(intent, place.temp_id()));
    let was_put = staged.is_some() && matches!(temp, Image::Nothing | Image::Before);
    match remedy(kind, note, temp) {
        // It happened, and somebody went on writing in the note, maybe what stood there before.
        Remedy::Park | Remedy::Apply if was_put && is_staged(intent, place.note_id()) => {
            Remedy::Done
        }
        Remedy::Park if is_ready && matches!(note, Image::Other | Image::Nothing) => Remedy::GiveUp,
        Remedy::Park | Remedy::Apply
            if was_put
                && note == Image::Nothing
                && staged
                    .is_some_and(|file| elsewhere::stands(vault, file, &intent.change.path)) =>
        {
            Remedy::Moved
        }
        // Only a unit takes a change back, and one of a unit may have been.
        Remedy::Apply if was_put && kind == ChangeKind::Create && intent.unit.is_none() => {
            Remedy::Gone
        }
        Remedy::Apply
            if was_put
                && temp == Image::Nothing
                && intent.unit.is_none()
                && intent.base.is_some_and(|base| base.born.is_some())
                && !is_base(intent, place.note_id()) =>
        {
            Remedy::Park
        }
        Remedy::Apply if is_another_note(vault, intent, place) => Remedy::Park,
        remedy => remedy,
    }
}

/// The file that has the note's name, unless it is somebody's copy of ours: it has to be the one that was made
/// ready. Where that was not stored, the old file tells as long as it has the temporary name: the exchange was
/// the last that happened to it, and what was made later is not ours. Without that nobody can tell any more, unless
/// the note is still the file that the change was made on.
fn left(intent: &Intent, place: &Place) -> Left {
    let note = place.note_id()?;
    if let Some(staged) = intent.staged {
        return is_same(staged, note).then_some(note);
    }
    let old = place.temp_id().filter(|old| Some(*old) == intent.base);
    if old.is_none() {
        return is_base(intent, Some(note)).then_some(note);
    }
    match (note.born, place.temp_changed()) {
        (Some(born), Some(exchanged)) => (born <= exchanged).then_some(note),
        _ => Some(note),
    }
}

/// Whether the note that the edit was planned on is elsewhere by now, and another one with the same text has
/// its place. After a restore from a backup all files are new, and none is elsewhere.
fn is_another_note(vault: &Vault, intent: &Intent, place: &Place) -> bool {
    let Some((base, note)) = intent.base.zip(place.note_id()) else { return false };
    base.born.is_some()
        && !is_same(base, note)
        && elsewhere::stands(vault, base, &intent.change.path)
}

/// The change may have been interrupted while it was taken back. What that left is put in order,
/// so that the change is either made or not.
fn finish_way_back(vault: &Vault, intent: &Intent) -> Result<(), Refusal> {
    let Act::Replace { before, after } = &intent.change.act else { return Ok(()) };
    let back = Place::named(vault, intent, swap::way_back(intent)).map_err(Refusal::open)?;
    let found = back.temp().map_err(Refusal::open)?;
    if matches!(found, Found::Nothing) {
        return Ok(());
    }
    let change = Change::replace(intent.change.path.clone(), after.clone(), before.clone());
    let note = image(&change, back.note().map_err(Refusal::open)?);
    match (note, image(&change, found)) {
        // It took out bytes that were not those of the change.
        (Image::After, Image::Other) => Err(swap::take_back(vault, &back, before)),
        (Image::After, Image::Part) => Err(Refusal::parked(&back)),
        (_, Image::Other) => Err(Refusal::parked(&back)),
        _ => swap::discard_temp(vault, &back).map_err(|_| Refusal::parked(&back)),
    }
}

/// A creation may have stopped before its folder was made; an edited note went with its folder.
fn finish_without_folder(vault: &Vault, intent: &Intent) -> Result<Left, Refusal> {
    let path = &intent.change.path;
    let found = intent.staged.and_then(|file| elsewhere::path_of(vault, file, path));
    if let Some(found) = found {
        let (folder, name) = found.rsplit_once('/').unwrap_or(("", &found));
        let beside = format!("{folder}/{}", path.name());
        if let Ok(beside) = NotePath::parse(beside.trim_start_matches('/')) {
            tidy_up(vault, intent, &beside);
        }
        if name != intent.temp_name {
            return Ok(intent.staged);
        }
        if intent.change.kind() == ChangeKind::Replace {
            return Err(Refusal::stale(VaultError::Stale { path: path.clone() }));
        }
    }
    if intent.change.kind() == ChangeKind::Replace {
        return Err(Refusal::parked_at(path));
    }
    act::stage(vault, intent).and_then(|_| act::commit(vault, intent))
}

/// Removes the temporary file beside a note whose folder has another path by now: what was made ready, or the
/// file that the change was made on.
fn tidy_up(vault: &Vault, intent: &Intent, beside: &NotePath) {
    let Ok(place) = Place::beside(vault, beside, intent.temp_name.clone()) else { return };
    let is_ours = is_staged(intent, place.temp_id()) || is_base(intent, place.temp_id());
    let found = place.temp().map(|found| image(&intent.change, found));
    if is_ours && matches!(found, Ok(Image::Before | Image::After)) {
        let _one_in_use_stays = swap::discard_temp(vault, &place);
    }
}

fn image(change: &Change, found: Found) -> Image {
    match found {
        Found::Nothing => Image::Nothing,
        Found::Other => Image::Other,
        Found::File(bytes) if change.before() == Some(&bytes) => Image::Before,
        Found::File(bytes) if change.after() == Some(&bytes) => Image::After,
        Found::File(bytes) if change.after().is_some_and(|after| after.starts_with(&bytes)) => {
            Image::Part
        }
        Found::File(_) => Image::Other,
    }
}
