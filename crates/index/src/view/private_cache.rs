//! Which notes their own text keeps out of the index, remembered so that they are not opened again.
#![expect(clippy::disallowed_methods, reason = "its file is one of the cache directory")]

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use protocol::NotePath;
use vault::Fingerprint;

const FILE_NAME: &str = "withheld";
const NEW_FILE_NAME: &str = "withheld.new";

/// Tells the format, and this version of it.
const MAGIC: [u8; 8] = *b"VMHIDES\x01";

const KEY_LENGTH: usize = blake3::KEY_LEN;
const HASH_LENGTH: usize = 16;

/// Hashes of notes that were private as they were.
///
/// The file holds a random key, created with each write, and for each note 16 bytes of BLAKE3 under
/// this key over its path, its fingerprint and the rules; sorted, so that their order says nothing.
/// A reader of the file learns how many such notes there are. He can test whether a note of a
/// certain path is among them only if he knows its inode, size and times to the nanosecond too: a
/// program that can read these can list the notes' own folder. The file reveals no name and no
/// text.
///
/// A torn file is not used, and then the notes are read once more.
#[derive(Debug, Default)]
pub(crate) struct PrivateCache {
    key: [u8; KEY_LENGTH],
    hashes: HashSet<[u8; HASH_LENGTH]>,
}

impl PrivateCache {
    /// The hashes in `dir`; none when there is no whole file.
    pub(crate) fn open(dir: &Path) -> Self {
        fs::read(dir.join(FILE_NAME))
            .ok()
            .and_then(|bytes| Self::decode(&bytes))
            .unwrap_or_default()
    }

    /// Whether the file at `path` was private under these rules when it had this stamp.
    pub(crate) fn contains(&self, path: &NotePath, fingerprint: Fingerprint, rules: u64) -> bool {
        !self.hashes.is_empty() && self.hashes.contains(&hash(&self.key, path, fingerprint, rules))
    }

    /// Keeps in `dir` which these are, and no others.
    pub(crate) fn save<'a>(
        dir: &Path,
        rules: u64,
        notes: impl Iterator<Item = (&'a NotePath, Fingerprint)>,
    ) -> io::Result<()> {
        let mut key = [0; KEY_LENGTH];
        fastrand::fill(&mut key);
        let mut hashes: Vec<_> =
            notes.map(|(path, stamp)| hash(&key, path, stamp, rules)).collect();
        hashes.sort_unstable();
        let body = [key.as_slice(), hashes.as_flattened()].concat();
        let mut private = OpenOptions::new();
        private.write(true).create(true).truncate(true).mode(0o600);
        let mut file = private.open(dir.join(NEW_FILE_NAME))?;
        file.write_all(&MAGIC)?;
        file.write_all(blake3::hash(&body).as_bytes())?;
        file.write_all(&body)?;
        drop(file);
        fs::rename(dir.join(NEW_FILE_NAME), dir.join(FILE_NAME))
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (checksum, body) = bytes.strip_prefix(&MAGIC)?.split_at_checked(blake3::OUT_LEN)?;
        if blake3::hash(body).as_bytes() != checksum {
            return None;
        }
        let (key, rest) = body.split_first_chunk()?;
        let (hashes, rest) = rest.as_chunks();
        rest.is_empty().then(|| Self { key: *key, hashes: hashes.iter().copied().collect() })
    }
}

fn hash(
    key: &[u8; KEY_LENGTH],
    path: &NotePath,
    fingerprint: Fingerprint,
    rules: u64,
) -> [u8; HASH_LENGTH] {
    let mut hasher = blake3::Hasher::new_keyed(key);
    for number in fingerprint.to_numbers().into_iter().chain([rules]) {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(path.as_str().as_bytes());
    hasher.finalize().as_bytes().first_chunk().copied().unwrap_or_default()
}
