//! Which folder of the data directory belongs to a vault: found by where the vault stands, or by
//! the id that it carries when it was moved. A copy of a vault gets a folder of its own.
#![expect(clippy::disallowed_methods, reason = "these are files of the data directory, not notes")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use protocol::UserError;
use uuid::Uuid;
use vault::Vault;

use crate::data_dir::{DataDir, make_private, trouble, write_private};

/// The name of the record in a vault's data folder.
const RECORD: &str = "home";

/// A vault's data folder, and the id that the vault has or will get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) dir: PathBuf,
    pub(crate) id: String,
}

/// What is known of the vault that a data folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Record {
    dir: PathBuf,
    id: String,
    /// Whether the vault was seen to carry the id, so that another one means another vault.
    carried: bool,
    /// The folder itself, whatever its name.
    inode: u64,
    folder: PathBuf,
}

impl Home {
    /// The data folder of `vault`, made when there is none.
    ///
    /// A record for this place is taken, unless the vault that was here carried an id which this
    /// one does not; the very folder may have lost it. Else a
    /// record of the same id whose vault is not where it was: the vault was moved. When that is
    /// still there, this one is a copy; when several could be meant, nobody can tell. Both begin
    /// anew, because two vaults must never share what they remember.
    pub(crate) fn of(vault: &Vault, data: &DataDir) -> Result<Self, UserError> {
        let named = vault.folder();
        let folder = fs::canonicalize(named).map_err(|error| trouble("find", named, &error))?;
        let carried = vault.identity();
        let records = records(&data.vaults());
        let inode = fs::metadata(&folder).map_err(|error| trouble("find", named, &error))?.ino();
        let is_it = |record: &Record| match (&carried, record.carried) {
            (_, false) => true,
            (Some(id), true) => *id == record.id,
            (None, true) => inode == record.inode,
        };
        let is_here = |record: &&Record| record.folder == folder && is_it(record);
        let left = |record: &&Record| {
            Some(&record.id) == carried.as_ref() && !stands_at(&record.folder, &record.id)
        };
        let moved = || match records.iter().filter(left).collect::<Vec<_>>().as_slice() {
            [one] => Some((*one).clone()),
            _ => None,
        };
        let known = records.iter().find(is_here).cloned().or_else(moved);
        let dir = match &known {
            Some(record) => record.dir.clone(),
            None => free_place(data, &folder),
        };
        make_private(&dir)?;
        let fresh = || known.as_ref().map_or_else(|| Uuid::now_v7().to_string(), |r| r.id.clone());
        let id = carried.clone().unwrap_or_else(fresh);
        let before = known.as_ref().is_some_and(|record| record.carried && record.id == id);
        let now = Record { dir, id, carried: carried.is_some() || before, inode, folder };
        if known.as_ref() != Some(&now) {
            now.write()?;
        }
        Ok(Self { dir: now.dir, id: now.id })
    }
}

impl Record {
    fn read(dir: PathBuf) -> Option<Self> {
        let bytes = fs::read(dir.join(RECORD)).ok()?;
        let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
        let mut word = || lines.next().and_then(|line| String::from_utf8(line.to_vec()).ok());
        let (id, about) = (word()?, word()?);
        let (carried, inode) = about.split_once(' ')?;
        let (carried, inode) = (carried == "carried", inode.parse().ok()?);
        let folder = PathBuf::from(OsString::from_vec(lines.next()?.to_vec()));
        Some(Self { dir, id, carried, inode, folder })
    }

    fn write(&self) -> Result<(), UserError> {
        let carried = if self.carried { "carried" } else { "promised" };
        let mut bytes = format!("{}\n{carried} {}\n", self.id, self.inode).into_bytes();
        bytes.extend_from_slice(self.folder.as_os_str().as_bytes());
        write_private(&self.dir.join(RECORD), &bytes)
    }
}

/// The data folder of the vault that was last seen in `folder`, if one was; nothing is made.
pub(crate) fn of_folder(data: &DataDir, folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    records(&data.vaults())
        .into_iter()
        .find(|record| record.folder == folder)
        .map(|record| record.dir)
}

/// The data folders of the other vaults that are known, each with where it was last seen.
pub(crate) fn others(data: &DataDir, home: &Path) -> Vec<(PathBuf, PathBuf)> {
    let all = records(&data.vaults()).into_iter().filter(|record| record.dir != home);
    all.map(|record| (record.dir, record.folder)).collect()
}

/// What is known of all vaults; a folder without a record is from before there were any.
fn records(vaults: &Path) -> Vec<Record> {
    let dirs = fs::read_dir(vaults).into_iter().flatten().flatten();
    let mut records: Vec<Record> = dirs.filter_map(|dir| Record::read(dir.path())).collect();
    records.sort_by(|a, b| a.dir.cmp(&b.dir));
    records
}

/// Whether a vault with this id stands there.
fn stands_at(folder: &Path, id: &str) -> bool {
    Vault::open(folder).is_ok_and(|vault| vault.identity().as_deref() == Some(id))
}

/// The data folder by the vault's place, unless another vault that stood there has it.
fn free_place(data: &DataDir, folder: &Path) -> PathBuf {
    let plain = data.by_place(folder);
    let is_free = |dir: &PathBuf| !dir.join(RECORD).exists();
    let numbered = (2_u32..).map(|number| {
        let mut name = plain.clone().into_os_string();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    });
    std::iter::once(plain.clone()).chain(numbered).find(is_free).unwrap_or_else(|| plain.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stage {
        all: tempfile::TempDir,
        data: DataDir,
    }

    impl Stage {
        fn new() -> Self {
            let all = tempfile::tempdir().expect("a folder");
            let data = DataDir::at(all.path().join("data")).expect("a data directory");
            let stage = Self { all, data };
            stage.make("Notes");
            stage
        }

        fn at(&self, name: &str) -> PathBuf {
            self.all.path().join(name)
        }

        fn make(&self, name: &str) {
            fs::create_dir_all(self.at(name)).expect("a vault");
        }

        fn home(&self, name: &str) -> Home {
            let vault = Vault::open(&self.at(name)).expect("a vault");
            Home::of(&vault, &self.data).expect("a home")
        }

        /// As the first change does.
        fn carry(&self, name: &str, id: &str) {
            fs::create_dir_all(self.at(name).join(".vaultmate")).expect("a folder");
            let card = format!("{{\"id\":\"{id}\"}}");
            fs::write(self.at(name).join(".vaultmate/vault.json"), card).expect("written");
        }

        fn rename(&self, from: &str, to: &str) {
            fs::rename(self.at(from), self.at(to)).expect("renamed");
        }
    }

    #[test]
    fn a_vault_that_carries_its_id_is_known_wherever_it_is_moved() {
        let stage = Stage::new();
        let first = stage.home("Notes");
        assert_eq!(stage.home("Notes"), first, "known by its place before it carries an id");
        stage.carry("Notes", &first.id);
        assert_eq!(stage.home("Notes"), first);
        fs::remove_dir_all(stage.at("Notes/.vaultmate")).expect("removed");
        assert_eq!(stage.home("Notes"), first, "the very folder, that lost it");
        stage.carry("Notes", &first.id);
        stage.rename("Notes", "Moved");
        stage.make("Notes");
        let early = stage.home("Notes");
        assert!(early.dir != first.dir, "another folder in its place, before it is found again");
        fs::remove_dir_all(stage.at("Notes")).expect("removed");
        assert_eq!(stage.home("Moved"), first);
        stage.rename("Moved", "Again");
        assert_eq!(stage.home("Again"), first);
        stage.make("Notes");
        let other = stage.home("Notes");
        assert!(other.dir != first.dir && other.id != first.id, "another vault at the old place");
        assert_eq!(stage.home("Again"), first);
    }

    #[test]
    fn a_copy_has_a_folder_of_its_own_and_the_first_keeps_its() {
        let stage = Stage::new();
        let first = stage.home("Notes");
        for name in ["Notes", "Copy"] {
            stage.carry(name, &first.id);
        }
        let copy = stage.home("Copy");
        assert!(copy.dir != first.dir && copy.id == first.id);
        assert_eq!((stage.home("Notes"), stage.home("Copy")), (first.clone(), copy.clone()));
        // The first is moved: only one vault with its id left its place.
        stage.rename("Notes", "Moved");
        assert_eq!((stage.home("Moved"), stage.home("Copy")), (first, copy));
        // Both are moved: nobody can tell which is which, so neither is taken for the other.
        stage.rename("Moved", "A");
        stage.rename("Copy", "B");
        let (a, b) = (stage.home("A"), stage.home("B"));
        assert!(a.dir != b.dir);
    }

    #[test]
    fn an_id_that_sync_brings_is_taken_and_a_folder_from_before_is_found_again() {
        let stage = Stage::new();
        let old = stage.data.by_place(&fs::canonicalize(stage.at("Notes")).expect("there"));
        fs::create_dir_all(&old).expect("made");
        fs::write(old.join("vaultmate.db"), "before").expect("written");
        let first = stage.home("Notes");
        assert_eq!(first.dir, old);
        stage.carry("Notes", "from-another-device");
        let now = stage.home("Notes");
        assert_eq!((now.dir, now.id.as_str()), (first.dir.clone(), "from-another-device"));
        // From here on another id at this place is another vault.
        stage.carry("Notes", "somebody-elses-vault");
        assert!(stage.home("Notes").dir != first.dir);
    }

    #[test]
    fn a_vault_has_one_place_however_the_way_to_it_is_spelled() {
        let stage = Stage::new();
        stage.make("Notes/sub");
        std::os::unix::fs::symlink(stage.at("Notes"), stage.at("link")).expect("a link");
        let first = stage.home("Notes");
        for other in ["Notes/", "./Notes", "Notes/sub/..", "link"] {
            assert_eq!(stage.home(other), first, "{other}");
        }
        assert_ne!(stage.home("Notes/sub").dir, first.dir);
    }
}
