//! A file or folder gets another path, or a folder goes to the trash and comes back.

use protocol::{Act, Intent, NotePath, Renamed};
use rustix::fs::FileType;

use crate::spot::Spot;
use crate::swap::{Refusal, is_base};
use crate::unit::Left;
use crate::{Vault, VaultError};

/// What is carried is there and its new place is free.
pub(crate) fn stage(vault: &Vault, intent: &Intent) -> Result<(), Refusal> {
    let way = Way::of(intent);
    if let End::Path(path) = &way.to
        && let Ok(there) = Spot::open(vault, path)
        && there.kind().map_err(Refusal::failed)?.is_some()
    {
        return Err(Refusal::stale(VaultError::Exists { path: (*path).clone() }));
    }
    if let End::Trash(name) = &way.from {
        let path = &intent.change.path;
        let here = Spot::in_trash(vault, name, path).map_err(Refusal::failed)?;
        let kind = here.kind().map_err(Refusal::failed)?;
        admit(path, way.what, kind).map_err(Refusal::of_missing)?;
    }
    if let End::Path(path) = &way.from {
        let here = Spot::open(vault, path).map_err(Refusal::of_missing)?;
        let kind = here.kind().map_err(Refusal::failed)?;
        admit(path, way.what, kind).map_err(Refusal::of_missing)?;
        is_meant(intent, &here)?;
    }
    Ok(())
}

/// Refuses what is not the file or folder that the plan was made on. Its text says nothing: what is
/// carried is carried whatever is in it.
fn is_meant(intent: &Intent, spot: &Spot) -> Result<(), Refusal> {
    match intent.base {
        Some(base) if base.born.is_some() && !is_base(intent, spot.file_id()) => {
            Err(Refusal::stale(VaultError::Stale { path: intent.change.path.clone() }))
        }
        _ => Ok(()),
    }
}

/// Carries it, durable when this returns. Says which file or folder that was.
pub(crate) fn commit(vault: &Vault, intent: &Intent) -> Result<Left, Refusal> {
    let way = Way::of(intent);
    let is_from_trash = matches!(way.from, End::Trash(_));
    let (here, there) = way.spots(vault)?;
    let path = &intent.change.path;
    let changed = || Refusal::stale(VaultError::FolderChanged { path: path.clone() });
    if let Act::TrashFolder { .. } = &intent.change.act {
        here.admit_deletion().map_err(Refusal::of_missing)?;
    }
    if !holds_as_planned(intent, &here)? {
        return Err(changed());
    }
    if !is_from_trash {
        is_meant(intent, &here)?;
    }
    here.carry(&there).map_err(Refusal::of_missing)?;
    if !is_from_trash && let Err(other) = is_meant(intent, &there) {
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
            intent.base.filter(|base| base.born.is_some()).or_else(|| there.file_id())
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

/// Carries it back.
pub(crate) fn revert(vault: &Vault, intent: &Intent) -> Result<(), Refusal> {
    let (here, there) =
        Way::of(intent).spots(vault).map_err(|refusal| Refusal::open(refusal.why))?;
    if matches!(intent.change.act, Act::Rename { .. }) && is_meant(intent, &there).is_err() {
        return Err(Refusal::parked_at(&intent.change.path));
    }
    there.carry(&here).map_err(|why| Refusal::of_taking_back(&intent.change.path, why))?;
    there.sync_with(&here).map_err(Refusal::open)
}

/// Whether it is where it was carried to, and not where it was.
pub(crate) fn has_happened(vault: &Vault, intent: &Intent) -> Result<bool, Refusal> {
    let way = Way::of(intent);
    Ok(!way.from.is_there(vault, intent)? && way.to.is_there(vault, intent)?)
}

/// Finishes what was interrupted.
pub(crate) fn finish(vault: &Vault, intent: &Intent) -> Result<Left, Refusal> {
    let way = Way::of(intent);
    match (way.from.is_there(vault, intent)?, way.to.is_there(vault, intent)?) {
        (true, _) => stage(vault, intent).and_then(|()| commit(vault, intent)),
        (false, true) => {
            let (here, there) = way.spots(vault)?;
            confirm(intent, &here, &there)?;
            here.sync_with(&there).map_err(Refusal::open)?;
            // Somebody may have moved it on, and put another one there.
            Ok(is_meant(intent, &there).ok().and_then(|()| left(intent, &there)))
        }
        (false, false) => Err(Refusal::parked_at(&intent.change.path)),
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

impl End<'_> {
    fn is_there(&self, vault: &Vault, intent: &Intent) -> Result<bool, Refusal> {
        let spot = match self {
            End::Path(path) => Spot::open(vault, path),
            End::Trash(name) => Spot::in_trash(vault, name, &intent.change.path),
        };
        match spot {
            Ok(spot) => Ok(spot.kind().map_err(Refusal::open)?.is_some()),
            Err(VaultError::NotFound { .. }) => Ok(false),
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
