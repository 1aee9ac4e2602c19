//! Which folder of the data directory belongs to a vault. The rules are the table in ADR 0017: the
//! folder itself decides, by its inode and the time it was made; a copy gets a data folder of its own.
#![expect(clippy::disallowed_methods, reason = "these are files of the data directory, not notes")]

mod adopt;
mod record;

pub use adopt::adopt;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use protocol::{UserError, VaultId};
use vault::Vault;

use crate::support::clock::new_id;
use crate::user_texts;
use crate::workspace::data_dir::{DataDir, FileAction, io_error, make_private};
use record::{FolderIdentity, IdentityMatch, MAX_ROOT_INODE, VaultRecord};

/// A vault's data folder, and the id by which it is known on this device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VaultDataDir {
    pub(crate) dir: PathBuf,
    pub(crate) id: VaultId,
    /// Where a vault stood that carries the same card and is away, while this one has no history yet.
    pub(crate) copy_of: Option<PathBuf>,
    /// Whether the folder is certainly the one that carried the id, and carries none by now.
    pub(crate) has_lost_id: bool,
    record: VaultRecord,
    is_changed: bool,
}

impl VaultDataDir {
    /// The data folder of `vault`, or the one it will have. Nothing is written.
    pub(crate) fn find(vault: &Vault, data: &DataDir) -> Result<Self, UserError> {
        let seen = ObservedVault::observe(vault)?;
        let records = read_records(&data.vaults());
        let known = seen.matching_record(&records);
        let dir = match known {
            Some(known) => known.dir.clone(),
            None => unused_data_folder(data, &seen.path)?,
        };
        let is_free = |id: &VaultId| !records.iter().any(|r| r.id == *id && r.dir != dir);
        // Versions before gave copies the id of their original.
        let id = known.map(|known| known.id.clone()).filter(is_free);
        let id = id.unwrap_or_else(new_id);
        let original = records.iter().find(|record| seen.is_copy_of(record));
        let copy_of = original.filter(|_| known.is_none()).map(|record| record.path.clone());
        let has_lost_id = seen.vault_id.is_none()
            && known.is_some_and(|known| {
                known.vault_id.is_some() && known.identity.is_certainly(&seen.identity)
            });
        let card = seen.vault_id.or_else(|| known.and_then(|known| known.vault_id.clone()));
        let (mark, place) = (seen.identity, seen.path);
        let (data_mark, card_mark) = (FolderIdentity::of_folder(&dir).ok(), seen.card_mark);
        let now = VaultRecord {
            dir,
            id,
            vault_id: card,
            identity: mark,
            path: place,
            data_folder_identity: data_mark,
            card_mark,
        };
        let is_news = known != Some(&now);
        Ok(Self {
            dir: now.dir.clone(),
            id: now.id.clone(),
            copy_of,
            has_lost_id,
            record: now,
            is_changed: is_news,
        })
    }

    /// Makes the data folder where there is none.
    pub(crate) fn create(&self) -> Result<(), UserError> {
        make_private(&self.dir)
    }

    /// Writes down what is known of the vault now. The caller holds the lock of the data folder.
    pub(crate) fn save(&self) -> Result<(), UserError> {
        if !self.is_changed {
            return Ok(());
        }
        let data_mark = FolderIdentity::of_folder(&self.dir).ok();
        VaultRecord { data_folder_identity: data_mark, ..self.record.clone() }.write()
    }

    /// Writes down that the vault carries its id by now. A record that could not be written again is only logged: it
    /// still tells which id the vault gets.
    pub(crate) fn record_written_id(&self) {
        let record = VaultRecord {
            vault_id: Some(self.id.as_str().to_owned()),
            card_mark: FolderIdentity::of_card(&self.record.path),
            data_folder_identity: FolderIdentity::of_folder(&self.dir).ok(),
            ..self.record.clone()
        };
        if let Err(error) = record.write() {
            tracing::warn!(error = error.message, "the id of the vault is not in its record");
        }
    }
}

/// A vault as it is found when it is opened.
struct ObservedVault {
    /// The id that it carries.
    vault_id: Option<String>,
    identity: FolderIdentity,
    /// Of the file with the card.
    card_mark: Option<FolderIdentity>,
    /// Device and inode, as they are now.
    device_and_inode: (u64, u64),
    /// Its canonical path.
    path: PathBuf,
}

impl ObservedVault {
    fn observe(vault: &Vault) -> Result<Self, UserError> {
        let named = vault.folder();
        let place =
            fs::canonicalize(named).map_err(|error| io_error(FileAction::Find, named, &error))?;
        let told = |error: std::io::Error| io_error(FileAction::Find, named, &error);
        let (mark, found) =
            (FolderIdentity::of_folder(&place).map_err(told)?, fs::metadata(&place).map_err(told)?);
        let number = (found.dev(), found.ino());
        let card_mark = FolderIdentity::of_card(&place);
        Ok(Self {
            vault_id: vault.vault_id(),
            identity: mark,
            card_mark,
            device_and_inode: number,
            path: place,
        })
    }

    /// The record of this very vault: the surest one. Where several are as sure nobody can tell, and
    /// none is, unless the vault stands where one of them says.
    fn matching_record<'a>(&self, records: &'a [VaultRecord]) -> Option<&'a VaultRecord> {
        let carries_known_id = records.iter().any(|record| self.carries_id_of(record));
        let is_this = |record: &&VaultRecord| {
            self.is_same_vault(record) || !carries_known_id && self.got_other_id(record)
        };
        let its: Vec<&VaultRecord> = records.iter().filter(is_this).collect();
        let likeness =
            |record: &&VaultRecord| record.compare(&self.identity, self.card_mark.as_ref());
        let surest = its.iter().map(likeness).min()?;
        let surest: Vec<&VaultRecord> =
            its.into_iter().filter(|record| likeness(record) == surest).collect();
        match surest.as_slice() {
            [one] => Some(one),
            several => several.iter().find(|record| record.path == self.path).copied(),
        }
    }

    /// The table of ADR 0017, row by row.
    fn is_same_vault(&self, record: &VaultRecord) -> bool {
        let is_here = record.path == self.path;
        let same_card = match (&record.vault_id, &self.vault_id) {
            (None, _) => true,
            (Some(known), Some(card)) => known == card,
            // The user may have removed the id. But the top folders of all disks have the same number,
            // so there it is another disk.
            (Some(_), None) => {
                self.identity.inode == record.identity.inode && self.identity.inode > MAX_ROOT_INODE
            }
        };
        if !same_card {
            return false;
        }
        let carries = self.carries_id_of(record);
        match record.compare(&self.identity, self.card_mark.as_ref()) {
            IdentityMatch::Same => {
                is_here || self.is_at(&record.path) || !record.is_at_recorded_path()
            }
            IdentityMatch::Likely => is_here || carries && !record.is_at_recorded_path(),
            IdentityMatch::Unknown => is_here,
            IdentityMatch::Other => is_here && record.was_restored(),
        }
    }

    /// Whether this is certainly the recorded folder, in its place, with the id of a vault that is not known on this
    /// device: two computers wrote an id each before they synced the folder, and one of the ids is left.
    fn got_other_id(&self, record: &VaultRecord) -> bool {
        let is_this_folder = self.identity.is_certainly(&record.identity)
            && self.identity.inode > MAX_ROOT_INODE
            && record.path == self.path;
        is_this_folder && self.vault_id.is_some() && !self.carries_id_of(record)
    }

    fn carries_id_of(&self, record: &VaultRecord) -> bool {
        self.vault_id.as_deref() == Some(record.expected_vault_id())
    }

    /// Whether the very folder can be reached by this path too, as through a second mount.
    fn is_at(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == self.device_and_inode)
    }

    /// Whether the vault carries the card of another one, which is not where it was seen last.
    fn is_copy_of(&self, record: &VaultRecord) -> bool {
        self.carries_id_of(record) && !self.is_same_vault(record) && !record.is_at_recorded_path()
    }
}

/// The warning, shown once, about a vault that carries the card of one that is away.
pub(crate) fn copy_warning(folder: &Path, home: &VaultDataDir) -> Option<UserError> {
    let original = home.copy_of.as_ref()?.display().to_string();
    let folder = folder.display().to_string();
    Some(UserError::other(user_texts::vault_may_be_copy(folder, original)))
}

/// The data folder of the vault that stands in `folder`, if it has one; nothing is made.
pub(crate) fn data_folder_of(data: &DataDir, folder: &Path) -> Option<PathBuf> {
    let seen = ObservedVault::observe(&Vault::open(folder).ok()?).ok()?;
    seen.matching_record(&read_records(&data.vaults())).map(|record| record.dir.clone())
}

/// The data folders of the other vaults that are known, each with where it was last seen.
pub(crate) fn other_vaults(data: &DataDir, home: &Path) -> Vec<(PathBuf, PathBuf)> {
    let all = read_records(&data.vaults()).into_iter().filter(|record| record.dir != home);
    all.map(|record| (record.dir, record.path)).collect()
}

/// The records of all vaults; a folder without a record is from before there were any.
fn read_records(vaults: &Path) -> Vec<VaultRecord> {
    let dirs = fs::read_dir(vaults).into_iter().flatten().flatten();
    let mut records: Vec<VaultRecord> =
        dirs.filter_map(|dir| VaultRecord::read(dir.path())).collect();
    records.sort_by(|a, b| a.dir.cmp(&b.dir));
    records
}

/// The data folder by the vault's place, unless another vault that stood there has it. One whose record cannot be read
/// may be that of this very vault, with changes that are to be finished: then there is no other one.
fn unused_data_folder(data: &DataDir, folder: &Path) -> Result<PathBuf, UserError> {
    let plain = data.folder_for_path(folder);
    let numbered = (2_u32..).map(|number| {
        let mut name = plain.clone().into_os_string();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    });
    for dir in std::iter::once(plain.clone()).chain(numbered) {
        if let Some(why) = record::unreadable_reason(&dir) {
            return Err(record::unreadable_error(folder, &dir, &why));
        }
        if !record::has_record(&dir) {
            return Ok(dir);
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests;
