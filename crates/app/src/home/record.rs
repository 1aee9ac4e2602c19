//! What a data folder says of the vault that it belongs to.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use protocol::{UserError, VaultId};
use rustix::fs::{AtFlags, StatxFlags};
use vault::Vault;

use crate::data_dir::{trouble, write_private};

/// The name of the record in a vault's data folder.
const NAME: &str = "home";
/// And in one that a vault had, before it got another.
const LEFT: &str = "home-left";
/// Where a vault carries its card.
const CARD: &str = ".vaultmate/vault.json";
/// Numbers up to this are those of the top folders of file systems: each has one.
pub(super) const LAST_OF_TOPS: u64 = 256;

/// By what a folder is told from a copy of it, however it is called and wherever it is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) inode: u64,
    /// Nanoseconds since 1970 at which the folder was made, where the file system knows. No program
    /// can set it.
    born: Option<i128>,
}

/// How sure it is that two marks are of one folder, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// They are.
    Same,
    /// As far as the file system tells: it numbers its folders anew (FAT), or knows no times.
    Likely,
    /// The file system tells nothing.
    Unknown,
    /// They are not.
    Other,
}

impl Mark {
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let found = rustix::fs::statx(rustix::fs::CWD, folder, AtFlags::empty(), wanted)?;
        let is_known = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        let (seconds, nanoseconds) = (found.stx_btime.tv_sec, found.stx_btime.tv_nsec);
        let born = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        Ok(Self { inode: found.stx_ino, born: Some(born).filter(|born| is_known && *born > 0) })
    }

    /// Of the file with the card of the vault at `place`, if it has one.
    pub(super) fn of_card(place: &Path) -> Option<Self> {
        Self::of(&place.join(CARD)).ok()
    }

    fn has_whole_seconds(&self) -> bool {
        self.born.is_some_and(|born| born % 1_000_000_000 == 0)
    }

    pub(super) fn likeness(&self, other: &Self) -> Likeness {
        let same_inode = self.inode == other.inode;
        match (self.born, other.born) {
            (Some(one), Some(another)) if one != another => Likeness::Other,
            (Some(_), Some(_)) if same_inode => Likeness::Same,
            (Some(_), Some(_)) => Likeness::Likely,
            _ if same_inode && self.inode > LAST_OF_TOPS => Likeness::Likely,
            _ => Likeness::Unknown,
        }
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        let (inode, born) = text.split_once('@').unwrap_or((text, "-"));
        Some(Self { inode: inode.parse().ok()?, born: born.parse().ok() })
    }

    fn written(&self) -> String {
        let born = self.born.map_or_else(|| "-".to_owned(), |born| born.to_string());
        format!("{}@{born}", self.inode)
    }
}

/// What is known of the vault that a data folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// The data folder.
    pub(super) dir: PathBuf,
    /// By which the vault is known on this device.
    pub(super) id: VaultId,
    /// The id that the vault was seen to carry.
    pub(super) card: Option<String>,
    pub(super) mark: Mark,
    /// Where the vault was seen last.
    pub(super) place: PathBuf,
    /// Of the data folder that the record was written into.
    pub(super) data_mark: Option<Mark>,
    /// Of the file with the vault's card, which a copy has in another file.
    pub(super) card_mark: Option<Mark>,
}

impl Record {
    /// Three lines: the id; card, mark, data folder's mark and card file's mark; the place, whatever bytes it has. Before
    /// there were times in it the second said whether the id was carried, and the inode.
    pub(super) fn read(dir: PathBuf) -> Option<Self> {
        let bytes = fs::read(dir.join(NAME)).ok()?;
        let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
        let mut line = || lines.next().and_then(|line| std::str::from_utf8(line).ok());
        let (id, about) = (line()?, line()?);
        let mut words = about.split(' ');
        let (card, mark) = (words.next()?, Mark::read(words.next()?)?);
        let card = match card {
            "carried" => Some(id),
            "promised" => None,
            card => Some(card.strip_prefix("card:")?),
        };
        let (data_mark, card_mark) =
            (words.next().and_then(Mark::read), words.next().and_then(Mark::read));
        let place = PathBuf::from(OsString::from_vec(lines.next()?.to_vec()));
        let (id, card) = (VaultId::from(id), card.map(str::to_owned));
        Some(Self { dir, id, card, mark, place, data_mark, card_mark })
    }

    pub(super) fn write(&self) -> Result<(), UserError> {
        let card = self.card.as_ref().map(|card| format!("card:{card}"));
        let card = card.unwrap_or_else(|| "promised".to_owned());
        let written =
            |mark: &Option<Mark>| mark.as_ref().map_or_else(|| "-".to_owned(), Mark::written);
        let (data_mark, card_mark) = (written(&self.data_mark), written(&self.card_mark));
        let about = format!("{card} {} {data_mark} {card_mark}", self.mark.written());
        let mut bytes = format!("{}\n{}\n", self.id, about.trim_end()).into_bytes();
        bytes.extend_from_slice(self.place.as_os_str().as_bytes());
        write_private(&self.dir.join(NAME), &bytes)
    }

    /// How sure it is that a folder with these marks is the vault. The top folders of two disks can have the
    /// same mark, where the file system stores the time of its making in whole seconds (ext4): then the file with
    /// the card tells a copy.
    pub(super) fn likeness(&self, mark: &Mark, card: Option<&Mark>) -> Likeness {
        let likeness = mark.likeness(&self.mark);
        let is_vague = mark.inode <= LAST_OF_TOPS && mark.has_whole_seconds();
        let is_other_card =
            self.card_mark.as_ref().zip(card).is_some_and(|(then, now)| then != now);
        if likeness == Likeness::Same && is_vague && is_other_card {
            return Likeness::Other;
        }
        likeness
    }

    /// Whether the vault is where it was seen last.
    pub(super) fn still_stands(&self) -> bool {
        let card_mark = Mark::of_card(&self.place);
        let is_it = |mark: Mark| self.likeness(&mark, card_mark.as_ref()) != Likeness::Other;
        let carries = |vault: Vault| self.card.is_none() || vault.identity() == self.card;
        Mark::of(&self.place).is_ok_and(is_it) && Vault::open(&self.place).is_ok_and(carries)
    }

    /// Whether the data folder is not the one that the record was written into: all was restored from
    /// a backup, and marks of before say nothing.
    pub(super) fn was_restored(&self) -> bool {
        let now = Mark::of(&self.dir).ok();
        let both = self.data_mark.zip(now);
        both.is_some_and(|(then, now)| then.likeness(&now) == Likeness::Other)
    }
}

/// Whether a data folder has or had a record, readable or not.
pub(super) fn is_in(dir: &Path) -> bool {
    [NAME, LEFT].iter().any(|name| dir.join(name).exists())
}

/// From here on the data folder belongs to no vault, and none gets it.
pub(super) fn leave(dir: &Path) -> Result<(), UserError> {
    let (from, to) = (dir.join(NAME), dir.join(LEFT));
    match fs::rename(&from, &to) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => write_private(&to, b""),
        Err(error) => Err(trouble("leave", dir, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_as_alike_as_what_the_file_system_tells() {
        let alike = |one: &str, other: &str| {
            let read = |text| Mark::read(text).expect("a mark");
            read(one).likeness(&read(other))
        };
        assert_eq!(alike("5001@17", "5001@17"), Likeness::Same);
        assert_eq!(alike("5001@17", "5001@18"), Likeness::Other, "a number is given again");
        assert_eq!(alike("5001@17", "5002@17"), Likeness::Likely);
        assert_eq!(alike("5001@-", "5001@17"), Likeness::Likely);
        assert_eq!(alike("5001", "5002@17"), Likeness::Unknown);
        assert_eq!(alike("2@-", "2@-"), Likeness::Unknown, "the top folder of any mount");
        assert_eq!(Mark::read("5001@17").expect("a mark").written(), "5001@17");
    }

    #[test]
    fn the_card_file_tells_two_disks_apart_that_were_formatted_in_one_second() {
        let record = |mark: &str, card: &str| Record {
            dir: PathBuf::new(),
            id: VaultId::from("id".to_owned()),
            card: Some("card".to_owned()),
            mark: Mark::read(mark).expect("a mark"),
            place: PathBuf::new(),
            data_mark: None,
            card_mark: Mark::read(card),
        };
        let likeness = |mark: &str, then: &str, now: &str| {
            let found = Mark::read(mark).expect("a mark");
            record(mark, then).likeness(&found, Mark::read(now).as_ref())
        };
        let (whole, exact) = ("2@1700000000000000000", "2@1700000000000000001");
        assert_eq!(likeness(whole, "12@5", "12@6"), Likeness::Other, "the copy has another file");
        assert_eq!(likeness(whole, "12@5", "12@5"), Likeness::Same, "the same disk");
        assert_eq!(likeness(whole, "-", "12@6"), Likeness::Same, "recorded by an earlier version");
        assert_eq!(likeness(exact, "12@5", "12@6"), Likeness::Same, "its time is enough");
        let folder = "5001@1700000000000000000";
        assert_eq!(likeness(folder, "12@5", "12@6"), Likeness::Same, "no top folder");
    }
}
