//! The record in a data folder about its vault.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

use protocol::{UserError, VaultId};
use rustix::fs::{AtFlags, StatxFlags};
use vault::Vault;

use crate::user_texts;
use crate::workspace::data_dir::{FileAction, io_error, plain_reason, write_private};

/// The name of the record in a vault's data folder.
const RECORD_FILE: &str = "home";
/// And in one that a vault had, before it got another.
const ABANDONED_RECORD_FILE: &str = "home-left";
/// Where a vault carries its card.
const CARD: &str = ".vaultmate/vault.json";
/// Numbers up to this are those of the top folders of file systems: each has one.
pub(super) const MAX_ROOT_INODE: u64 = 256;

/// By what a folder is told from a copy of it, however it is called and wherever it is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FolderIdentity {
    pub(super) inode: u64,
    /// Nanoseconds since 1970 at which the folder was made, where the file system knows. No program
    /// can set it.
    born: Option<i128>,
}

impl FolderIdentity {
    /// Whether both are of one folder, by a birth time that no copy has.
    pub(super) fn is_certainly(&self, other: &Self) -> bool {
        self == other && self.born.is_some()
    }
}

/// How sure it is that two marks are of one folder, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum IdentityMatch {
    /// Certainly the same folder.
    Same,
    /// Probably the same folder: the file system renumbers its folders (FAT), or knows no times.
    Likely,
    /// The file system tells nothing.
    Unknown,
    /// Certainly another folder.
    Other,
}

impl FolderIdentity {
    pub(super) fn of_folder(folder: &Path) -> io::Result<Self> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let found = rustix::fs::statx(rustix::fs::CWD, folder, AtFlags::empty(), wanted)?;
        let is_known = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        let (seconds, nanoseconds) = (found.stx_btime.tv_sec, found.stx_btime.tv_nsec);
        let born = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        Ok(Self { inode: found.stx_ino, born: Some(born).filter(|born| is_known && *born > 0) })
    }

    /// Of the file with the card of the vault at `place`, if it has one.
    pub(super) fn of_card(place: &Path) -> Option<Self> {
        Self::of_folder(&place.join(CARD)).ok()
    }

    fn has_whole_seconds(&self) -> bool {
        self.born.is_some_and(|born| born % 1_000_000_000 == 0)
    }

    pub(super) fn compare(&self, other: &Self) -> IdentityMatch {
        let same_inode = self.inode == other.inode;
        match (self.born, other.born) {
            (Some(one), Some(another)) if one != another => IdentityMatch::Other,
            (Some(_), Some(_)) if same_inode => IdentityMatch::Same,
            (Some(_), Some(_)) => IdentityMatch::Likely,
            _ if same_inode && self.inode > MAX_ROOT_INODE => IdentityMatch::Likely,
            _ => IdentityMatch::Unknown,
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (inode, born) = text.split_once('@').unwrap_or((text, "-"));
        Some(Self { inode: inode.parse().ok()?, born: born.parse().ok() })
    }

    fn to_text(self) -> String {
        let born = self.born.map_or_else(|| "-".to_owned(), |born| born.to_string());
        format!("{}@{born}", self.inode)
    }
}

/// The vault of a data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VaultRecord {
    /// The data folder.
    pub(super) dir: PathBuf,
    /// By which the vault is known on this device.
    pub(super) id: VaultId,
    /// The id that the vault was seen to carry.
    pub(super) vault_id: Option<String>,
    pub(super) identity: FolderIdentity,
    /// Where the vault was seen last.
    pub(super) path: PathBuf,
    /// Of the data folder that the record was written into.
    pub(super) data_folder_identity: Option<FolderIdentity>,
    /// Of the file with the vault's card, which a copy has in another file.
    pub(super) card_mark: Option<FolderIdentity>,
}

impl VaultRecord {
    /// Three lines: the id; card, mark, data folder's mark and card file's mark; the path, in any
    /// bytes. Before records had times, the second line told whether the id was carried, and the
    /// inode.
    pub(super) fn read(dir: PathBuf) -> Option<Self> {
        let bytes = read_file(&dir).ok()?;
        Self::parse(dir, &bytes)
    }

    fn parse(dir: PathBuf, bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
        let mut line = || lines.next().and_then(|line| std::str::from_utf8(line).ok());
        let (id, about) = (line()?, line()?);
        let mut words = about.split(' ');
        let (card, mark) = (words.next()?, FolderIdentity::parse(words.next()?)?);
        let card = match card {
            "carried" => Some(id),
            "promised" => None,
            card => Some(card.strip_prefix("card:")?),
        };
        let (data_mark, card_mark) = (
            words.next().and_then(FolderIdentity::parse),
            words.next().and_then(FolderIdentity::parse),
        );
        let place = PathBuf::from(OsString::from_vec(lines.next()?.to_vec()));
        let (id, card) = (VaultId::from(id), card.map(str::to_owned));
        Some(Self {
            dir,
            id,
            vault_id: card,
            identity: mark,
            path: place,
            data_folder_identity: data_mark,
            card_mark,
        })
    }

    pub(super) fn write(&self) -> Result<(), UserError> {
        let card = self.vault_id.as_ref().map(|card| format!("card:{card}"));
        let card = card.unwrap_or_else(|| "promised".to_owned());
        let written = |mark: &Option<FolderIdentity>| {
            mark.as_ref().map_or_else(|| "-".to_owned(), |identity| identity.to_text())
        };
        let (data_mark, card_mark) =
            (written(&self.data_folder_identity), written(&self.card_mark));
        let about = format!("{card} {} {data_mark} {card_mark}", self.identity.to_text());
        let mut bytes = format!("{}\n{}\n", self.id, about.trim_end()).into_bytes();
        bytes.extend_from_slice(self.path.as_os_str().as_bytes());
        write_private(&self.dir.join(RECORD_FILE), &bytes)
    }

    /// The id that the vault carries, or gets with its first change.
    pub(super) fn expected_vault_id(&self) -> &str {
        self.vault_id.as_deref().unwrap_or(self.id.as_str())
    }

    /// How sure it is that a folder with these marks is the vault. The top folders of two disks can have the
    /// same mark, where the file system stores the time of its making in whole seconds (ext4): then the file with
    /// the card tells a copy.
    pub(super) fn compare(
        &self,
        mark: &FolderIdentity,
        card: Option<&FolderIdentity>,
    ) -> IdentityMatch {
        let likeness = mark.compare(&self.identity);
        let is_vague = mark.inode <= MAX_ROOT_INODE && mark.has_whole_seconds();
        let is_other_card =
            self.card_mark.as_ref().zip(card).is_some_and(|(then, now)| then != now);
        if likeness == IdentityMatch::Same && is_vague && is_other_card {
            return IdentityMatch::Other;
        }
        likeness
    }

    /// Whether the vault is where it was seen last.
    pub(super) fn is_at_recorded_path(&self) -> bool {
        let card_mark = FolderIdentity::of_card(&self.path);
        let is_it =
            |mark: FolderIdentity| self.compare(&mark, card_mark.as_ref()) != IdentityMatch::Other;
        let carries = |vault: Vault| self.vault_id.is_none() || vault.vault_id() == self.vault_id;
        FolderIdentity::of_folder(&self.path).is_ok_and(is_it)
            && Vault::open(&self.path).is_ok_and(carries)
    }

    /// Whether the data folder is not the one that the record was written into: all was restored from
    /// a backup, and marks of before say nothing.
    pub(super) fn was_restored(&self) -> bool {
        let now = FolderIdentity::of_folder(&self.dir).ok();
        let both = self.data_folder_identity.zip(now);
        both.is_some_and(|(then, now)| then.compare(&now) == IdentityMatch::Other)
    }
}

/// The bytes of the record in a data folder. Only of a file: a pipe in its place would never end.
fn read_file(dir: &Path) -> io::Result<Vec<u8>> {
    let file = dir.join(RECORD_FILE);
    if !fs::metadata(&file)?.is_file() {
        return Err(io::Error::other("It is not a file"));
    }
    fs::read(file)
}

/// Why the record in a data folder cannot be read; `None` where there is none, or it can.
pub(super) fn unreadable_reason(dir: &Path) -> Option<String> {
    match read_file(dir) {
        Ok(bytes) => {
            VaultRecord::parse(dir.to_owned(), &bytes).is_none().then(|| "It is damaged".to_owned())
        }
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => None,
            _ => Some(plain_reason(&error)),
        },
    }
}

/// The message about a data folder whose record cannot be read.
pub(super) fn unreadable_error(vault: &Path, dir: &Path, why: &str) -> UserError {
    let file = dir.join(RECORD_FILE);
    let [file, dir, vault] = [file.as_path(), dir, vault].map(|path| path.display().to_string());
    UserError::other(user_texts::vault_record_unreadable(file, dir, vault, why))
}

/// Whether a data folder has or had a record, readable or not.
pub(super) fn has_record(dir: &Path) -> bool {
    [RECORD_FILE, ABANDONED_RECORD_FILE].iter().any(|name| dir.join(name).exists())
}

/// From here on the data folder belongs to no vault, and none gets it.
pub(super) fn abandon(dir: &Path) -> Result<(), UserError> {
    let (from, to) = (dir.join(RECORD_FILE), dir.join(ABANDONED_RECORD_FILE));
    match fs::rename(&from, &to) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => write_private(&to, b""),
        Err(error) => Err(io_error(FileAction::Release, dir, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_as_alike_as_what_the_file_system_tells() {
        let alike = |one: &str, other: &str| {
            let read = |text| FolderIdentity::parse(text).expect("a mark");
            read(one).compare(&read(other))
        };
        assert_eq!(alike("5001@17", "5001@17"), IdentityMatch::Same);
        assert_eq!(alike("5001@17", "5001@18"), IdentityMatch::Other, "a number is given again");
        assert_eq!(alike("5001@17", "5002@17"), IdentityMatch::Likely);
        assert_eq!(alike("5001@-", "5001@17"), IdentityMatch::Likely);
        assert_eq!(alike("5001", "5002@17"), IdentityMatch::Unknown);
        assert_eq!(alike("2@-", "2@-"), IdentityMatch::Unknown, "the top folder of any mount");
        assert_eq!(FolderIdentity::parse("5001@17").expect("a mark").to_text(), "5001@17");
    }

    #[test]
    fn the_card_file_tells_two_disks_apart_that_were_formatted_in_one_second() {
        let record = |mark: &str, card: &str| VaultRecord {
            dir: PathBuf::new(),
            id: VaultId::from("id".to_owned()),
            vault_id: Some("card".to_owned()),
            identity: FolderIdentity::parse(mark).expect("a mark"),
            path: PathBuf::new(),
            data_folder_identity: None,
            card_mark: FolderIdentity::parse(card),
        };
        let likeness = |mark: &str, then: &str, now: &str| {
            let found = FolderIdentity::parse(mark).expect("a mark");
            record(mark, then).compare(&found, FolderIdentity::parse(now).as_ref())
        };
        let (whole, exact) = ("2@1700000000000000000", "2@1700000000000000001");
        assert_eq!(
            likeness(whole, "12@5", "12@6"),
            IdentityMatch::Other,
            "the copy has another file"
        );
        assert_eq!(likeness(whole, "12@5", "12@5"), IdentityMatch::Same, "the same disk");
        assert_eq!(
            likeness(whole, "-", "12@6"),
            IdentityMatch::Same,
            "recorded by an earlier version"
        );
        assert_eq!(likeness(exact, "12@5", "12@6"), IdentityMatch::Same, "its time is enough");
        let folder = "5001@1700000000000000000";
        assert_eq!(likeness(folder, "12@5", "12@6"), IdentityMatch::Same, "no top folder");
    }
}
