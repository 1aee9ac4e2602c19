//! Checks that a directory is complete: the hash of the rules that excluded notes, and the hash of
//! each file. The library trusts its files, so it is given only files as it wrote them.
#![allow(
    clippy::disallowed_methods,
    reason = "files of the cache directory; no note is among them"
)]

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Another version's directory is not opened: raise it when fields or words change.
const VERSION: u32 = 2;

const FILE_NAME: &str = "seal.json";
const NEW_FILE_NAME: &str = "seal.new";

/// The files of a whole directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FulltextManifest {
    version: u32,
    rules: u64,
    /// Name to hash.
    files: BTreeMap<String, String>,
}

impl FulltextManifest {
    /// The seal of a directory that is as it was closed under `rules`.
    pub(super) fn verify(dir: &Path, rules: u64) -> Option<Self> {
        let seal: Self = serde_json::from_slice(&fs::read(dir.join(FILE_NAME)).ok()?).ok()?;
        let is_asked_for = seal.version == VERSION && seal.rules == rules;
        let mut files = seal.files.iter();
        let is_whole = |(name, kept): (&String, &String)| {
            hash_file(&dir.join(name)).is_ok_and(|hash| hash == *kept)
        };
        (is_asked_for && files.all(is_whole)).then_some(seal)
    }

    /// Closes a directory that nobody writes any more. Files that are never changed and were under
    /// the seal `before` are not read again.
    pub(super) fn write(dir: &Path, rules: u64, before: Option<&Self>) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let is_never_changed = !name.ends_with(".json");
            if name == FILE_NAME || name == NEW_FILE_NAME || name.ends_with(".lock") {
                continue;
            }
            let known = before.filter(|_| is_never_changed).and_then(|seal| seal.files.get(&name));
            let hash = known.cloned().map_or_else(|| hash_file(&entry.path()), Ok)?;
            files.insert(name, hash);
        }
        let seal = Self { version: VERSION, rules, files };
        fs::write(dir.join(NEW_FILE_NAME), serde_json::to_vec(&seal)?)?;
        fs::rename(dir.join(NEW_FILE_NAME), dir.join(FILE_NAME))?;
        Ok(seal)
    }

    pub(super) const fn rules(&self) -> u64 {
        self.rules
    }
}

/// Takes the directory away with all that is in it. A ranking that is open keeps answering.
pub(crate) fn remove_directory(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes the directory, which others cannot look into.
pub(super) fn create_directory(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

fn hash_file(file: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(file)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}
