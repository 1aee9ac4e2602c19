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
use uuid::Uuid;
use vault::Vault;

use crate::data_dir::{DataDir, make_private, trouble};
use record::{LAST_OF_TOPS, Likeness, Mark, Record};

/// A vault's data folder, and the id by which it is known on this device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) dir: PathBuf,
    pub(crate) id: VaultId,
    /// Where a vault stood that carries the same card and is away, while this one has no history yet.
    pub(crate) copy_of: Option<PathBuf>,
    now: Record,
    is_news: bool,
}

impl Home {
    /// The data folder of `vault`, or the one it will have. Nothing is written.
    pub(crate) fn find(vault: &Vault, data: &DataDir) -> Result<Self, UserError> {
        let seen = Seen::of(vault)?;
        let records = records(&data.vaults());
        let known = seen.known(&records);
        let dir = known.map_or_else(|| free_place(data, &seen.place), |known| known.dir.clone());
        let is_free = |id: &VaultId| !records.iter().any(|r| r.id == *id && r.dir != dir);
        // Versions before gave copies the id of their original.
        let id = known.map(|known| known.id.clone()).filter(is_free);
        let id = id.unwrap_or_else(|| VaultId::from(Uuid::now_v7()));
        let original = records.iter().find(|record| seen.is_copy_of(record));
        let copy_of = original.filter(|_| known.is_none()).map(|record| record.place.clone());
        let card = seen.card.or_else(|| known.and_then(|known| known.card.clone()));
        let (mark, place) = (seen.mark, seen.place);
        let (data_mark, card_mark) = (Mark::of(&dir).ok(), seen.card_mark);
        let now = Record { dir, id, card, mark, place, data_mark, card_mark };
        let is_news = known != Some(&now);
        Ok(Self { dir: now.dir.clone(), id: now.id.clone(), copy_of, now, is_news })
    }

    /// Makes the data folder where there is none.
    pub(crate) fn make(&self) -> Result<(), UserError> {
        make_private(&self.dir)
    }

    /// Writes down what is known of the vault now. The caller holds the lock of the data folder.
    pub(crate) fn keep(&self) -> Result<(), UserError> {
        if !self.is_news {
            return Ok(());
        }
        let data_mark = Mark::of(&self.dir).ok();
        Record { data_mark, ..self.now.clone() }.write()
    }
}

/// What is seen of a vault when it is opened.
struct Seen {
    /// The id that it carries.
    card: Option<String>,
    mark: Mark,
    /// Of the file with the card.
    card_mark: Option<Mark>,
    /// Device and inode, as they are now.
    number: (u64, u64),
    /// Its canonical path.
    place: PathBuf,
}

impl Seen {
    fn of(vault: &Vault) -> Result<Self, UserError> {
        let named = vault.folder();
        let place = fs::canonicalize(named).map_err(|error| trouble("find", named, &error))?;
        let told = |error: std::io::Error| trouble("find", named, &error);
        let (mark, found) = (Mark::of(&place).map_err(told)?, fs::metadata(&place).map_err(told)?);
        let number = (found.dev(), found.ino());
        let card_mark = Mark::of_card(&place);
        Ok(Self { card: vault.identity(), mark, card_mark, number, place })
    }

    /// The record of this very vault: the surest one. Where several are as sure nobody can tell, and
    /// none is, unless the vault stands where one of them says.
    fn known<'a>(&self, records: &'a [Record]) -> Option<&'a Record> {
        let its: Vec<&Record> = records.iter().filter(|record| self.is_it(record)).collect();
        let likeness = |record: &&Record| record.likeness(&self.mark, self.card_mark.as_ref());
        let surest = its.iter().map(likeness).min()?;
        let surest: Vec<&Record> =
            its.into_iter().filter(|record| likeness(record) == surest).collect();
        match surest.as_slice() {
            [one] => Some(one),
            several => several.iter().find(|record| record.place == self.place).copied(),
        }
    }

    /// The table of ADR 0017, row by row.
    fn is_it(&self, record: &Record) -> bool {
        let is_here = record.place == self.place;
        let same_card = match (&record.card, &self.card) {
            (None, _) => true,
            (Some(known), Some(card)) => known == card,
            // The user may have removed the id. But the top folders of all disks have the same number,
            // so there it is another disk.
            (Some(_), None) => {
                self.mark.inode == record.mark.inode && self.mark.inode > LAST_OF_TOPS
            }
        };
        if !same_card {
            return false;
        }
        let carries = record.card.is_some() && record.card == self.card;
        match record.likeness(&self.mark, self.card_mark.as_ref()) {
            Likeness::Same => is_here || self.is_at(&record.place) || !record.still_stands(),
            Likeness::Likely => is_here || carries && !record.still_stands(),
            Likeness::Unknown => is_here,
            Likeness::Other => is_here && record.was_restored(),
        }
    }

    /// Whether the very folder can be reached by this path too, as through a second mount.
    fn is_at(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == self.number)
    }

    /// Whether the vault carries the card of another one, which is not where it was seen last.
    fn is_copy_of(&self, record: &Record) -> bool {
        self.card.is_some()
            && self.card == record.card
            && !self.is_it(record)
            && !record.still_stands()
    }
}

/// Said once of a vault that carries the card of one that is away.
pub(crate) fn copied(folder: &Path, home: &Home) -> Option<UserError> {
    let original = home.copy_of.as_ref()?.display();
    let folder = folder.display();
    Some(UserError::other(format!(
        "{folder} carries the id of the vault that was at {original}, but it is another folder, so it \
         begins with a history of its own. If it is that vault, moved or restored, run \
         `vaultmate-cli adopt --vault {folder} --from {original}`."
    )))
}

/// The data folder of the vault that stands in `folder`, if it has one; nothing is made.
pub(crate) fn of_folder(data: &DataDir, folder: &Path) -> Option<PathBuf> {
    let seen = Seen::of(&Vault::open(folder).ok()?).ok()?;
    seen.known(&records(&data.vaults())).map(|record| record.dir.clone())
}

/// The data folders of the other vaults that are known, each with where it was last seen.
pub(crate) fn others(data: &DataDir, home: &Path) -> Vec<(PathBuf, PathBuf)> {
    let all = records(&data.vaults()).into_iter().filter(|record| record.dir != home);
    all.map(|record| (record.dir, record.place)).collect()
}

/// What is known of all vaults; a folder without a record is from before there were any.
fn records(vaults: &Path) -> Vec<Record> {
    let dirs = fs::read_dir(vaults).into_iter().flatten().flatten();
    let mut records: Vec<Record> = dirs.filter_map(|dir| Record::read(dir.path())).collect();
    records.sort_by(|a, b| a.dir.cmp(&b.dir));
    records
}

/// The data folder by the vault's place, unless another vault that stood there has it.
fn free_place(data: &DataDir, folder: &Path) -> PathBuf {
    let plain = data.by_place(folder);
    let is_free = |dir: &PathBuf| !record::is_in(dir);
    let numbered = (2_u32..).map(|number| {
        let mut name = plain.clone().into_os_string();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    });
    std::iter::once(plain.clone()).chain(numbered).find(is_free).unwrap_or_else(|| plain.clone())
}

#[cfg(test)]
mod tests;
