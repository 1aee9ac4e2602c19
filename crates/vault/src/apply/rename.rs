//! Renames a file or folder, moves a folder to the trash or restores it from there.

use std::collections::HashSet;

use protocol::{ChangeAction, FileId, Intent, NotePath, RenamedKind};
use rustix::fs::FileType;

use crate::apply::outcome::{FileAfter, StepError};
use crate::filesystem::dir_entry::DirEntry;
use crate::filesystem::folder::is_same_file;
use crate::{Vault, VaultError};

/// Checks that the source exists and its new place is free: for a folder an empty one there is no obstacle. Returns the folder that is to be
/// restored from the trash: no later step can identify it.
pub(crate) fn stage(vault: &Vault, intent: &Intent) -> Result<FileAfter, StepError> {
    let way = RenamePaths::from_intent(intent);
    if let RenameEnd::Path(path) = &way.to
        && let Ok(there) = DirEntry::open(vault, path)
        && there.kind().map_err(StepError::failed)?.is_some()
        && !(way.is_folder_into_vault() && there.is_empty_folder())
        && !is_respelling(vault, &way)
    {
        return Err(StepError::stale(VaultError::Exists { path: (*path).clone() }));
    }
    let path = &intent.change.path;
    let here = match &way.from {
        RenameEnd::Trash(name) => {
            DirEntry::in_trash(vault, name, path).map_err(StepError::failed)?
        }
        RenameEnd::Path(path) => DirEntry::open(vault, path).map_err(StepError::from_missing)?,
    };
    let kind = here.kind().map_err(StepError::failed)?;
    check_kind(path, way.what, kind).map_err(StepError::from_missing)?;
    check_planned_file(intent, &here)?;
    Ok(here.file_id().filter(|_| matches!(intent.change.act, ChangeAction::RestoreFolder { .. })))
}

/// The file or folder that is carried, as far as it is recorded.
fn carried(intent: &Intent) -> Option<FileId> {
    match &intent.change.act {
        ChangeAction::RestoreFolder { .. } => intent.staged,
        _ => intent.base,
    }
}

/// Refuses what is not the file or folder that the plan was made on. Its text says nothing: what is
/// carried is carried whatever is in it.
fn check_planned_file(intent: &Intent, entry: &DirEntry) -> Result<(), StepError> {
    match carried(intent).zip(Some(entry.file_id())) {
        Some((it, found))
            if it.born.is_some() && !found.is_some_and(|found| is_same_file(it, found)) =>
        {
            Err(StepError::stale(VaultError::Stale { path: intent.change.path.clone() }))
        }
        _ => Ok(()),
    }
}

/// Carries it, durable when this returns. Says which file or folder that was.
pub(crate) fn commit(vault: &Vault, intent: &Intent) -> Result<FileAfter, StepError> {
    let way = RenamePaths::from_intent(intent);
    let (here, there) = way.dir_entries(vault)?;
    let path = &intent.change.path;
    let changed = || StepError::stale(VaultError::FolderChanged { path: path.clone() });
    if let ChangeAction::TrashFolder { .. } = &intent.change.act {
        here.check_deletable().map_err(StepError::from_missing)?;
    }
    if !holds_as_planned(intent, &here)? {
        return Err(changed());
    }
    check_planned_file(intent, &here)?;
    match way.is_folder_into_vault() && there.is_empty_folder() {
        true if !here.is_respelled_by(&there).map_err(StepError::failed)? => {
            here.rename_over_empty_folder(&there).map_err(StepError::from_missing)?;
        }
        _ => carry(vault, intent, &here, &there)?,
    }
    if let Err(other) = check_planned_file(intent, &there) {
        // Another one took its name in that moment.
        carry(vault, intent, &there, &here).map_err(|_| StepError::parked_at(path))?;
        there.sync_with(&here).map_err(StepError::open)?;
        return Err(other);
    }
    verify_trashed(intent, &here, &there, holds_as_planned)?;
    here.sync_with(&there).map_err(StepError::open)?;
    Ok(file_after(intent, &there))
}

/// Whether a rename only spells the name of an entry in another way, on a disk that takes both for one name. Where
/// that cannot be told, the name counts as taken.
fn is_respelling(vault: &Vault, way: &RenamePaths<'_>) -> bool {
    let (RenameEnd::Path(from), RenameEnd::Path(to)) = (&way.from, &way.to) else { return false };
    let entries =
        DirEntry::open(vault, from).and_then(|here| Ok((here, DirEntry::open(vault, to)?)));
    entries.and_then(|(here, there)| here.is_respelled_by(&there)).unwrap_or(false)
}

/// Renames the entry, never over something. A disk that takes both names for one would leave the name as it is, so
/// the entry goes by the temporary name there.
fn carry(vault: &Vault, intent: &Intent, from: &DirEntry, to: &DirEntry) -> Result<(), StepError> {
    if !from.is_respelled_by(to).map_err(StepError::failed)? {
        return from.rename_to(to).map_err(StepError::from_missing);
    }
    let between = DirEntry::beside(vault, &intent.change.path, &intent.temp_name);
    let between = between.map_err(StepError::from_missing)?;
    from.rename_to(&between).map_err(StepError::from_missing)?;
    leave_temp_name(intent, &between, to, from)
}

/// Gives an entry with the temporary name the name `to`, or `from` where it cannot get that. If another program
/// took the name in that moment, the entry stays under the temporary name.
fn leave_temp_name(
    intent: &Intent,
    between: &DirEntry,
    to: &DirEntry,
    from: &DirEntry,
) -> Result<(), StepError> {
    let Err(why) = between.rename_to(to) else { return Ok(()) };
    let path = &intent.change.path;
    between.rename_to(from).map_err(|why| StepError::from_rollback(path, why))?;
    from.sync_with(to).map_err(StepError::open)?;
    Err(StepError::from_missing(why))
}

/// The entry that stopped between two spellings of its name, if it did.
fn entry_between(vault: &Vault, intent: &Intent) -> Result<Option<DirEntry>, StepError> {
    let between = match DirEntry::beside(vault, &intent.change.path, &intent.temp_name) {
        Ok(between) if intent.change.is_rename() => between,
        _ => return Ok(None),
    };
    let is_there = between.kind().map_err(StepError::open)?.is_some();
    Ok((is_there && check_planned_file(intent, &between).is_ok()).then_some(between))
}

/// Takes an entry that was interrupted between two spellings of its name on to the new one. To be called before
/// anything else is finished: under the temporary name nobody finds it.
pub(crate) fn finish_respelling(vault: &Vault, intent: &Intent) -> Result<(), StepError> {
    let Some(between) = entry_between(vault, intent)? else { return Ok(()) };
    let (here, there) = RenamePaths::from_intent(intent).dir_entries(vault)?;
    leave_temp_name(intent, &between, &there, &here)
}

/// A folder in the trash leaves no file to record. A file that somebody moved on by now is still
/// the file that was moved.
fn file_after(intent: &Intent, there: &DirEntry) -> FileAfter {
    match &intent.change.act {
        ChangeAction::Rename { .. } | ChangeAction::RestoreFolder { .. } => {
            carried(intent).filter(|it| it.born.is_some()).or_else(|| there.file_id())
        }
        _ => None,
    }
}

/// Carries a folder back from the trash unless it `holds` what it may. Files come into a folder, leave it, are
/// write-protected or opened for writing until the moment in which it goes, and the review showed none of that.
fn verify_trashed(
    intent: &Intent,
    here: &DirEntry,
    there: &DirEntry,
    holds: fn(&Intent, &DirEntry) -> Result<bool, StepError>,
) -> Result<(), StepError> {
    if !matches!(intent.change.act, ChangeAction::TrashFolder { .. }) {
        return Ok(());
    }
    let path = &intent.change.path;
    let changed = || StepError::stale(VaultError::FolderChanged { path: path.clone() });
    let checked = holds(intent, there)
        .and_then(|holds| holds.then_some(()).ok_or_else(changed))
        .and_then(|()| there.check_deletable().map_err(StepError::from_missing));
    let Err(why) = checked else { return Ok(()) };
    there.rename_to(here).map_err(|_| StepError::parked_at(path))?;
    there.sync_with(here).map_err(StepError::open)?;
    Err(why)
}

/// Whether a folder that is moved to the trash, or restored from it, holds exactly what the plan
/// was based on.
fn holds_as_planned(intent: &Intent, entry: &DirEntry) -> Result<bool, StepError> {
    match &intent.change.act {
        ChangeAction::TrashFolder { holds: Some(holds) }
        | ChangeAction::RestoreFolder { holds: Some(holds), .. } => {
            Ok(entry.contents().map_err(StepError::from_missing)? == *holds)
        }
        _ => Ok(true),
    }
}

/// Whether everything in a folder in the trash is part of what the plan was based on: files that
/// the user took out of it there say nothing about the deletion.
fn holds_nothing_new(intent: &Intent, entry: &DirEntry) -> Result<bool, StepError> {
    let ChangeAction::TrashFolder { holds: Some(holds) } = &intent.change.act else {
        return Ok(true);
    };
    let held: HashSet<&[u8]> = holds.as_bytes().split(|byte| *byte == b'\n').collect();
    let found = entry.contents().map_err(StepError::from_missing)?;
    Ok(found.as_bytes().split(|byte| *byte == b'\n').all(|line| held.contains(line)))
}

/// Moves it back, if it is the entry that was moved. A folder that was restored from the trash is
/// moved there again only if nothing in it changed: the user may work in it by now.
pub(crate) fn revert(vault: &Vault, intent: &Intent) -> Result<(), StepError> {
    let path = &intent.change.path;
    let (here, there) = RenamePaths::from_intent(intent)
        .dir_entries(vault)
        .map_err(|refusal| StepError::open(refusal.why))?;
    if let Some(between) = entry_between(vault, intent)? {
        leave_temp_name(intent, &between, &here, &there)?;
        return here.sync_with(&there).map_err(StepError::open);
    }
    let may_go = |spot: &DirEntry| match &intent.change.act {
        ChangeAction::RestoreFolder { .. } => {
            intent.staged.is_some()
                && check_planned_file(intent, spot).is_ok()
                && spot.check_deletable().is_ok()
                && holds_as_planned(intent, spot).is_ok_and(|holds| holds)
        }
        _ => check_planned_file(intent, spot).is_ok(),
    };
    if !may_go(&there) {
        return Err(StepError::parked_at(path));
    }
    carry(vault, intent, &there, &here)
        .map_err(|refusal| StepError::from_rollback(path, refusal.why))?;
    if !may_go(&here) {
        // Another one took its name in that moment, or somebody came to work in it.
        carry(vault, intent, &here, &there).map_err(|_| StepError::parked_at(path))?;
        here.sync_with(&there).map_err(StepError::open)?;
        return Err(StepError::parked_at(path));
    }
    there.sync_with(&here).map_err(StepError::open)
}

/// Whether it is where it was carried to.
pub(crate) fn is_applied(vault: &Vault, intent: &Intent) -> Result<bool, StepError> {
    Ok(matches!(stand(vault, intent)?, Stand::There | Stand::Between))
}

/// Whether its old place is empty, and another one has its new place: it may have been carried and replaced
/// there since, and it may never have been carried.
pub(crate) fn is_untold(vault: &Vault, intent: &Intent) -> Result<bool, StepError> {
    Ok(stand(vault, intent)? == Stand::Untold)
}

/// Where the moved entry is, for finishing an interrupted move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// Where it was, or another one is there: it goes now, or is refused.
    Here,
    /// Where it was carried to, whatever has its old place by now.
    There,
    /// Under the temporary name, between two spellings of its name.
    Between,
    /// Nobody can tell.
    Untold,
    /// Nothing is where it was, and nothing where it was to go.
    Missing,
}

fn stand(vault: &Vault, intent: &Intent) -> Result<Stand, StepError> {
    let way = RenamePaths::from_intent(intent);
    Ok(match (way.from.found(vault, intent)?, way.to.found(vault, intent)?) {
        (At::It | At::Unknown, At::It | At::Unknown) if is_respelling(vault, &way) => {
            let (_, there) = way.dir_entries(vault)?;
            if there.is_listed().map_err(StepError::open)? { Stand::There } else { Stand::Here }
        }
        (At::Nothing | At::Other | At::Unknown, At::It) | (At::Nothing, At::Unknown) => {
            Stand::There
        }
        // A different folder in the trash is never restored.
        (At::Other, _) if matches!(way.from, RenameEnd::Trash(_)) => Stand::Untold,
        // Another one in the trash may have had its place there all the time.
        (At::Other, At::Other) if matches!(way.to, RenameEnd::Trash(_)) => Stand::Untold,
        (At::It | At::Other | At::Unknown, _) => Stand::Here,
        (At::Nothing, At::Other) => Stand::Untold,
        (At::Nothing, At::Nothing) if entry_between(vault, intent)?.is_some() => Stand::Between,
        (At::Nothing, At::Nothing) => Stand::Missing,
    })
}

/// Finishes what was interrupted.
pub(crate) fn finish(vault: &Vault, intent: &Intent) -> Result<FileAfter, StepError> {
    let parked = || StepError::parked_at(&intent.change.path);
    match stand(vault, intent)? {
        Stand::Here => {
            let staged = stage(vault, intent)?;
            vault.record_staged_file(intent, staged);
            commit(vault, &Intent { staged: intent.staged.or(staged), ..intent.clone() })
        }
        Stand::There => {
            let (here, there) = RenamePaths::from_intent(intent).dir_entries(vault)?;
            let found = carried(intent).zip(there.file_id());
            let is_known = found.is_some_and(|(it, found)| is_same_file(it, found));
            if !is_known && !holds_as_planned(intent, &there)? {
                return Err(parked());
            }
            let may_hold = match is_known && holds_nothing_new(intent, &there)? {
                true => holds_nothing_new,
                false => holds_as_planned,
            };
            verify_trashed(intent, &here, &there, may_hold)?;
            here.sync_with(&there).map_err(StepError::open)?;
            // Where nobody recorded what was carried, it may be another one.
            Ok(is_known.then(|| file_after(intent, &there)).flatten())
        }
        Stand::Between | Stand::Untold | Stand::Missing => Err(parked()),
    }
}

struct RenamePaths<'a> {
    from: RenameEnd<'a>,
    to: RenameEnd<'a>,
    what: RenamedKind,
}

enum RenameEnd<'a> {
    Path(&'a NotePath),
    Trash(&'a str),
}

impl<'a> RenamePaths<'a> {
    fn from_intent(intent: &'a Intent) -> Self {
        let path = &intent.change.path;
        let trash = |name: &'a str| RenameEnd::Trash(name);
        match &intent.change.act {
            ChangeAction::Rename { to, what } => {
                Self { from: RenameEnd::Path(path), to: RenameEnd::Path(to), what: *what }
            }
            ChangeAction::RestoreFolder { trashed, .. } => {
                Self { from: trash(trashed), to: RenameEnd::Path(path), what: RenamedKind::Folder }
            }
            _ => Self {
                from: RenameEnd::Path(path),
                to: trash(&intent.temp_name),
                what: RenamedKind::Folder,
            },
        }
    }

    /// Whether it puts a folder at a path of the vault.
    const fn is_folder_into_vault(&self) -> bool {
        matches!((self.what, &self.to), (RenamedKind::Folder, RenameEnd::Path(_)))
    }

    fn dir_entries(&self, vault: &Vault) -> Result<(DirEntry, DirEntry), StepError> {
        let named = match (&self.from, &self.to) {
            (RenameEnd::Path(path), _) | (_, RenameEnd::Path(path)) => (*path).clone(),
            // From the trash to the trash: no act is that.
            (RenameEnd::Trash(name), RenameEnd::Trash(_)) => {
                return Err(StepError::failed(VaultError::NotFound {
                    asked: (*name).to_owned(),
                    nearest: Vec::new(),
                }));
            }
        };
        let spot =
            |end: &RenameEnd<'_>, makes: fn(&Vault, &NotePath) -> Result<DirEntry, VaultError>| {
                match end {
                    RenameEnd::Path(path) => makes(vault, path),
                    RenameEnd::Trash(name) => DirEntry::in_trash(vault, name, &named),
                }
            };
        let here = spot(&self.from, DirEntry::open).map_err(StepError::from_missing)?;
        let there = spot(&self.to, DirEntry::open_or_create_folders).map_err(StepError::failed)?;
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
    /// An entry; the moved file was not recorded, or the file system knows no birth times.
    Unknown,
}

impl RenameEnd<'_> {
    fn found(&self, vault: &Vault, intent: &Intent) -> Result<At, StepError> {
        let spot = match self {
            RenameEnd::Path(path) => DirEntry::open(vault, path),
            RenameEnd::Trash(name) => DirEntry::in_trash(vault, name, &intent.change.path),
        };
        match spot {
            Ok(spot) if spot.kind().map_err(StepError::open)?.is_none() => Ok(At::Nothing),
            Ok(spot) => Ok(match (carried(intent), spot.file_id()) {
                (Some(it), Some(found)) if is_same_file(it, found) => At::It,
                (Some(it), Some(_)) if it.born.is_some() => At::Other,
                _ => At::Unknown,
            }),
            Err(VaultError::NotFound { .. }) => Ok(At::Nothing),
            Err(error) => Err(StepError::open(error)),
        }
    }
}

fn check_kind(
    path: &NotePath,
    what: RenamedKind,
    kind: Option<FileType>,
) -> Result<(), VaultError> {
    let what = match (what, kind) {
        (RenamedKind::File, Some(FileType::RegularFile))
        | (RenamedKind::Folder, Some(FileType::Directory)) => return Ok(()),
        (_, None) => {
            let asked = path.as_str().to_owned();
            return Err(VaultError::NotFound { asked, nearest: Vec::new() });
        }
        (_, Some(FileType::Symlink)) => "a link",
        (RenamedKind::File, Some(FileType::Directory)) => "a folder",
        (RenamedKind::Folder, Some(FileType::RegularFile)) => "a file, not a folder",
        _ => "a pipe, socket or device",
    };
    Err(VaultError::NotANote { path: path.clone(), what })
}
