//! A file or folder gets another path, or a folder goes to the trash and comes back.

use std::collections::HashSet;

use protocol::{Act, FileId, Intent, NotePath, Renamed};
use rustix::fs::FileType;

use crate::folder::is_same;
use crate::spot::Spot;
use crate::swap::Refusal;
use crate::unit::Left;
use crate::{Vault, VaultError};

/// Checks that the source is there and its new place is free. Returns the folder that is to come back from the trash:
/// nothing else tells of it later.
pub(crate) fn stage(vault: &Vault, intent: &Intent) -> Result<Left, Refusal> {
    let way = Way::of(intent);
    if let End::Path(path) = &way.to
        && let Ok(there) = Spot::open(vault, path)
        && there.kind().map_err(Refusal::failed)?.is_some()
    {
        return Err(Refusal::stale(VaultError::Exists { path: (*path).clone() }));
    }
    let path = &intent.change.path;
    let here = match &way.from {
        End::Trash(name) => Spot::in_trash(vault, name, path).map_err(Refusal::failed)?,
        End::Path(path) => Spot::open(vault, path).map_err(Refusal::of_missing)?,
    };
    let kind = here.kind().map_err(Refusal::failed)?;
    admit(path, way.what, kind).map_err(Refusal::of_missing)?;
    is_meant(intent, &here)?;
    Ok(here.file_id().filter(|_| matches!(intent.change.act, Act::RestoreFolder { .. })))
}

/// The file or folder that is carried, as far as it is recorded.
fn carried(intent: &Intent) -> Option<FileId> {
    match &intent.change.act {
        Act::RestoreFolder { .. } => intent.staged,
        _ => intent.base,
    }
}

/// Refuses what is not the file or folder that the plan was made on. Its text says nothing: what is
/// carried is carried whatever is in it.
fn is_meant(intent: &Intent, spot: &Spot) -> Result<(), Refusal> {
    match carried(intent).zip(Some(spot.file_id())) {
        Some((it, found))
            if it.born.is_some() && !found.is_some_and(|found| is_same(it, found)) =>
        {
            Err(Refusal::stale(VaultError::Stale { path: intent.change.path.clone() }))
        }
        _ => Ok(()),
    }
}

/// Carries it, durable when this returns. Says which file or folder that was.
pub(crate) fn commit(vault: &Vault, intent: &Intent) -> Result<Left, Refusal> {
    let (here, there) = Way::of(intent).spots(vault)?;
    let path = &intent.change.path;
    let changed = || Refusal::stale(VaultError::FolderChanged { path: path.clone() });
    if let Act::TrashFolder { .. } = &intent.change.act {
        here.admit_deletion().map_err(Refusal::of_missing)?;
    }
    if !holds_as_planned(intent, &here)? {
        return Err(changed());
    }
    is_meant(intent, &here)?;
    here.carry(&there).map_err(Refusal::of_missing)?;
    if let Err(other) = is_meant(intent, &there) {
        // Another one took its name in that moment.
        there.carry(&here).map_err(|_| Refusal::parked_at(path))?;
        there.sync_with(&here).map_err(Refusal::open)?;
        return Err(other);
    }
    confirm(intent, &here, &there)?;
    here.sync_with(&there).map_err(Refusal::open)?;
    Ok(left(intent, &there))
}

/// What goes to the trash is left nowhere; what somebody moved on by now is still what was carried.
fn left(intent: &Intent, there: &Spot) -> Left {
    match &intent.change.act {
        Act::Rename { .. } | Act::RestoreFolder { .. } => {
            carried(intent).filter(|it| it.born.is_some()).or_else(|| there.file_id())
        }
        _ => None,
    }
}

/// Carries a folder back from the trash if something was put into it, or taken out, in the moment in
/// which it went there.
fn confirm(intent: &Intent, here: &Spot, there: &Spot) -> Result<(), Refusal> {
    if !matches!(intent.change.act, Act::TrashFolder { .. }) {
        return Ok(());
    }
    let path = &intent.change.path;
    let why = match holds_as_planned(intent, there) {
        Ok(true) => return Ok(()),
        Ok(false) => Refusal::stale(VaultError::FolderChanged { path: path.clone() }),
        Err(why) => why,
    };
    there.carry(here).map_err(|_| Refusal::parked_at(path))?;
    there.sync_with(here).map_err(Refusal::open)?;
    Err(why)
}

/// Whether a folder that goes to the trash, or comes back, holds what the plan was made on, and nothing
/// else.
fn holds_as_planned(intent: &Intent, spot: &Spot) -> Result<bool, Refusal> {
    match &intent.change.act {
        Act::TrashFolder { holds: Some(holds) } | Act::RestoreFolder { holds: Some(holds), .. } => {
            Ok(spot.contents().map_err(Refusal::of_missing)? == *holds)
        }
        _ => Ok(true),
    }
}

/// Whether all that a folder in the trash holds is part of what the plan was made on: what the user took out
/// of it there says nothing about the deletion.
fn holds_nothing_new(intent: &Intent, spot: &Spot) -> Result<bool, Refusal> {
    let Act::TrashFolder { holds: Some(holds) } = &intent.change.act else { return Ok(true) };
    let held: HashSet<&[u8]> = holds.as_bytes().split(|byte| *byte == b'\n').collect();
    let found = spot.contents().map_err(Refusal::of_missing)?;
    Ok(found.as_bytes().split(|byte| *byte == b'\n').all(|line| held.contains(line)))
}

/// Carries it back, if it is what was carried. A folder that came back from the trash goes there again only as
/// it was: the user may work in it by now.
pub(crate) fn revert(vault: &Vault, intent: &Intent) -> Result<(), Refusal> {
    let path = &intent.change.path;
    let (here, there) =
        Way::of(intent).spots(vault).map_err(|refusal| Refusal::open(refusal.why))?;
    let may_go = |spot: &Spot| match &intent.change.act {
        Act::RestoreFolder { .. } => {
            intent.staged.is_some()
                && is_meant(intent, spot).is_ok()
                && spot.admit_deletion().is_ok()
                && holds_as_planned(intent, spot).is_ok_and(|holds| holds)
        }
        _ => is_meant(intent, spot).is_ok(),
    };
    if !may_go(&there) {
        return Err(Refusal::parked_at(path));
    }
    there.carry(&here).map_err(|why| Refusal::of_taking_back(path, why))?;
    if !may_go(&here) {
        // Another one took its name in that moment, or somebody came to work in it.
        here.carry(&there).map_err(|_| Refusal::parked_at(path))?;
        here.sync_with(&there).map_err(Refusal::open)?;
        return Err(Refusal::parked_at(path));
    }
    there.sync_with(&here).map_err(Refusal::open)
}

/// Whether it is where it was carried to.
pub(crate) fn has_happened(vault: &Vault, intent: &Intent) -> Result<bool, Refusal> {
    Ok(stand(vault, intent)? == Stand::There)
}

/// Whether its old place is empty, and another one has its new place: it may have been carried and replaced
/// there since, and it may never have been carried.
pub(crate) fn is_untold(vault: &Vault, intent: &Intent) -> Result<bool, Refusal> {
    Ok(stand(vault, intent)? == Stand::Untold)
}

/// Where it is, for whoever finishes what was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// Where it was, or another one is there: it goes now, or is refused.
    Here,
    /// Where it was carried to, whatever has its old place by now.
    There,
    /// Nobody can tell.
    Untold,
    /// Nothing is where it was, and nothing where it was to go.
    Nowhere,
}

fn stand(vault: &Vault, intent: &Intent) -> Result<Stand, Refusal> {
    let way = Way::of(intent);
    Ok(match (way.from.found(vault, intent)?, way.to.found(vault, intent)?) {
        (At::Nothing | At::Other | At::Unknown, At::It) | (At::Nothing, At::Unknown) => {
            Stand::There
        }
        // Another folder in the trash never comes back.
        (At::Other, _) if matches!(way.from, End::Trash(_)) => Stand::Untold,
        // Another one in the trash may have had its place there all the time.
        (At::Other, At::Other) if matches!(way.to, End::Trash(_)) => Stand::Untold,
        (At::It | At::Other | At::Unknown, _) => Stand::Here,
        (At::Nothing, At::Other) => Stand::Untold,
        (At::Nothing, At::Nothing) => Stand::Nowhere,
    })
}

/// Finishes what was interrupted.
pub(crate) fn finish(vault: &Vault, intent: &Intent) -> Result<Left, Refusal> {
    let parked = || Refusal::parked_at(&intent.change.path);
    match stand(vault, intent)? {
        Stand::Here => {
            let staged = stage(vault, intent)?;
            commit(vault, &Intent { staged: intent.staged.or(staged), ..intent.clone() })
        }
        Stand::There => {
            let (here, there) = Way::of(intent).spots(vault)?;
            let found = carried(intent).zip(there.file_id());
            let is_known = found.is_some_and(|(it, found)| is_same(it, found));
            if !is_known && !holds_as_planned(intent, &there)? {
                return Err(parked());
            }
            if !(is_known && holds_nothing_new(intent, &there)?) {
                confirm(intent, &here, &there)?;
            }
            here.sync_with(&there).map_err(Refusal::open)?;
            // Where nobody recorded what was carried, it may be another one.
            Ok(is_known.then(|| left(intent, &there)).flatten())
        }
        Stand::Untold | Stand::Nowhere => Err(parked()),
    }
}

/// From where to where.
struct Way<'a> {
    from: End<'a>,
    to: End<'a>,
    what: Renamed,
}

enum End<'a> {
    Path(&'a NotePath),
    Trash(&'a str),
}

impl<'a> Way<'a> {
    fn of(intent: &'a Intent) -> Self {
        let path = &intent.change.path;
        let trash = |name: &'a str| End::Trash(name);
        match &intent.change.act {
            Act::Rename { to, what } => {
                Self { from: End::Path(path), to: End::Path(to), what: *what }
            }
            Act::RestoreFolder { trashed, .. } => {
                Self { from: trash(trashed), to: End::Path(path), what: Renamed::Folder }
            }
            _ => {
                Self { from: End::Path(path), to: trash(&intent.temp_name), what: Renamed::Folder }
            }
        }
    }

    fn spots(&self, vault: &Vault) -> Result<(Spot, Spot), Refusal> {
        let named = match (&self.from, &self.to) {
            (End::Path(path), _) | (_, End::Path(path)) => (*path).clone(),
            // From the trash to the trash: no act is that.
            (End::Trash(name), End::Trash(_)) => {
                return Err(Refusal::failed(VaultError::NotFound {
                    asked: (*name).to_owned(),
                    nearest: Vec::new(),
                }));
            }
        };
        let spot =
            |end: &End<'_>, makes: fn(&Vault, &NotePath) -> Result<Spot, VaultError>| match end {
                End::Path(path) => makes(vault, path),
                End::Trash(name) => Spot::in_trash(vault, name, &named),
            };
        let here = spot(&self.from, Spot::open).map_err(Refusal::of_missing)?;
        let there = spot(&self.to, Spot::make).map_err(Refusal::failed)?;
        Ok((here, there))
    }
}

/// The content of one of the two places of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Nothing,
    /// The recorded file or folder.
    It,
    Other,
    /// Something; what is carried was not recorded, or the file system knows no birth times.
    Unknown,
}

impl End<'_> {
    fn found(&self, vault: &Vault, intent: &Intent) -> Result<At, Refusal> {
        let spot = match self {
            End::Path(path) => Spot::open(vault, path),
            End::Trash(name) => Spot::in_trash(vault, name, &intent.change.path),
        };
        match spot {
            Ok(spot) if spot.kind().map_err(Refusal::open)?.is_none() => Ok(At::Nothing),
            Ok(spot) => Ok(match (carried(intent), spot.file_id()) {
                (Some(it), Some(found)) if is_same(it, found) => At::It,
                (Some(it), Some(_)) if it.born.is_some() => At::Other,
                _ => At::Unknown,
            }),
            Err(VaultError::NotFound { .. }) => Ok(At::Nothing),
            Err(error) => Err(Refusal::open(error)),
        }
    }
}

fn admit(path: &NotePath, what: Renamed, kind: Option<FileType>) -> Result<(), VaultError> {
    let what = match (what, kind) {
        (Renamed::File, Some(FileType::RegularFile))
        | (Renamed::Folder, Some(FileType::Directory)) => return Ok(()),
        (_, None) => {
            let asked = path.as_str().to_owned();
            return Err(VaultError::NotFound { asked, nearest: Vec::new() });
        }
        (_, Some(FileType::Symlink)) => "a link",
        (Renamed::File, Some(FileType::Directory)) => "a folder",
        (Renamed::Folder, Some(FileType::RegularFile)) => "a file, not a folder",
        _ => "a pipe, socket or device",
    };
    Err(VaultError::NotANote { path: path.clone(), what })
}
