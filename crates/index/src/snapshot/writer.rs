//! Writing a snapshot: file by file in the order of their paths, then all at once in its place.
#![expect(clippy::disallowed_methods, reason = "the snapshot is a file of the cache directory")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use protocol::{NotePath, Privacy};
use vault::{EntryKind, Fingerprint, VaultEntry};

use super::{HEADER_LENGTH, MAGIC, NoteSnapshot, SnapshotPart, SnapshotRow, StoredRow, is_binary};

/// A row's kind is its place here.
pub(super) const KINDS: [EntryKind; 6] = [
    EntryKind::Note,
    EntryKind::Folder,
    EntryKind::Attachment,
    EntryKind::Conflict,
    EntryKind::Placeholder,
    EntryKind::Link,
];

/// The privacy of a text is stored in a row as its index here.
pub(super) const PRIVACY: [Option<Privacy>; 4] =
    [None, Some(Privacy::Open), Some(Privacy::Local), Some(Privacy::Never)];

/// The scanned data of one file.
#[derive(Debug, Clone)]
pub(crate) struct ScannedFile {
    pub(crate) entry: VaultEntry,
    /// `None`: it has to be looked at again.
    pub(crate) stamp: Option<Fingerprint>,
    /// Its text without byte order mark; empty unless searches look into it.
    pub(crate) text: Vec<u8>,
    /// [`crate::metadata::note_metadata::NoteMetadata`], encoded.
    pub(crate) metadata: Vec<u8>,
    /// The privacy of its text by the private rules; `None` where they were not checked.
    pub(crate) text_privacy: Option<Privacy>,
}

/// A snapshot that is being written. Nobody sees it until it is [finished](Self::finish).
pub(crate) struct SnapshotWriter {
    dir: PathBuf,
    part: SnapshotPart,
    /// The text goes into its place at once.
    text: BufWriter<HashingFile>,
    facts: BufWriter<File>,
    rows: Vec<StoredRow>,
}

impl SnapshotWriter {
    /// Begins a snapshot in `dir`; files that an earlier one left there are overwritten.
    pub(crate) fn begin(dir: &Path, part: SnapshotPart) -> io::Result<Self> {
        let mut private = OpenOptions::new();
        private.read(true).write(true).create(true).truncate(true).mode(0o600);
        let mut file = private.open(temp_path(dir, part))?;
        file.write_all(&[0; HEADER_LENGTH])?;
        let hashing = HashingFile { file, hasher: blake3::Hasher::new() };
        let text = BufWriter::with_capacity(1 << 20, hashing);
        let facts = BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(dir)?);
        Ok(Self { dir: dir.to_owned(), part, text, facts, rows: Vec::new() })
    }

    /// Adds a file, which stands behind the last one added in the order of paths.
    pub(crate) fn add(&mut self, scanned: &ScannedFile) -> io::Result<()> {
        let text = scanned.text.as_slice();
        let entry = &scanned.entry;
        let is_lent = !text.is_empty() && !text.ends_with(b"\n");
        self.text.write_all(text)?;
        if is_lent {
            self.text.write_all(b"\n")?;
        }
        self.facts.write_all(&scanned.metadata)?;
        self.rows.push(StoredRow {
            path: entry.path.as_str().to_owned(),
            is_gone: false,
            kind: kind_code(entry.kind),
            size: entry.size,
            modified: entry.modified.0,
            stamp: scanned.stamp.map(Fingerprint::to_numbers),
            is_odd: is_binary(text),
            key: note_key(&entry.path, text),
            by_text: privacy_code(scanned.text_privacy),
            is_lent,
            text: (text.len() + usize::from(is_lent)) as u64,
            facts: scanned.metadata.len() as u64,
        });
        Ok(())
    }

    /// Adds a row of another snapshot as it is there; `by_text` is what the rules say of its text.
    pub(crate) fn copy_row(
        &mut self,
        from: &NoteSnapshot,
        row: &SnapshotRow,
        by_text: Option<Privacy>,
    ) -> io::Result<()> {
        let facts = from.encoded_metadata(row);
        self.text.write_all(from.bytes.get(row.text.clone()).unwrap_or_default())?;
        self.facts.write_all(facts)?;
        self.rows.push(StoredRow {
            path: row.path.as_str().to_owned(),
            is_gone: false,
            kind: kind_code(row.kind),
            size: row.size,
            modified: row.modified.0,
            stamp: row.stamp.map(Fingerprint::to_numbers),
            is_odd: row.is_binary,
            key: row.key,
            by_text: privacy_code(by_text),
            is_lent: row.has_added_newline,
            text: row.text.len() as u64,
            facts: facts.len() as u64,
        });
        Ok(())
    }

    /// Adds that a file is gone.
    pub(crate) fn add_gone(&mut self, path: &NotePath) {
        self.rows.push(StoredRow {
            path: path.as_str().to_owned(),
            is_gone: true,
            kind: 0,
            size: 0,
            modified: 0,
            stamp: None,
            is_odd: false,
            key: 0,
            by_text: 0,
            is_lent: false,
            text: 0,
            facts: 0,
        });
    }

    /// Puts the snapshot in the place of the one before and opens it; `rules` is the hash of those
    /// that kept notes out of it, `added_to` the generation that it adds to, or 0. It is not made
    /// durable: one that a power cut tears is not taken.
    pub(crate) fn finish(self, rules: u64, added_to: u64) -> io::Result<NoteSnapshot> {
        let Self { dir, part, text, facts, rows } = self;
        let mut body = text.into_inner().map_err(io::IntoInnerError::into_error)?;
        let text_size = body.file.stream_position()? - HEADER_LENGTH as u64;
        let mut facts = facts.into_inner().map_err(io::IntoInnerError::into_error)?;
        let facts_size = facts.stream_position()?;
        facts.seek(SeekFrom::Start(0))?;
        io::copy(&mut BufReader::with_capacity(1 << 18, facts), &mut body)?;
        let rows = postcard::to_allocvec(&rows).map_err(io::Error::other)?;
        body.write_all(&rows)?;
        let HashingFile { mut file, hasher } = body;
        let mut header = MAGIC.to_vec();
        let generation = fastrand::u64(1..);
        let sizes = [text_size, facts_size, rows.len() as u64];
        for number in [generation, rules, added_to].into_iter().chain(sizes) {
            header.extend(number.to_le_bytes());
        }
        header.extend(hasher.finalize().as_bytes());
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&header)?;
        drop(file);
        fs::rename(temp_path(&dir, part), dir.join(part.file_name()))?;
        NoteSnapshot::open_unverified(&dir, part)
            .ok_or_else(|| io::Error::other("what was written can’t be read back"))
    }
}

/// Where a snapshot is written before it takes its place.
fn temp_path(dir: &Path, part: SnapshotPart) -> PathBuf {
    dir.join(format!("{}.new", part.file_name()))
}

/// A hash of both, which is theirs alone: among a million notes two share one in every 40 million
/// vaults.
fn note_key(path: &NotePath, text: &[u8]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(path.as_str().as_bytes()).update(&[0]).update(text);
    hasher.finalize().as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}

fn kind_code(kind: EntryKind) -> u8 {
    let at = KINDS.iter().position(|known| *known == kind).unwrap_or(KINDS.len());
    u8::try_from(at).unwrap_or(u8::MAX)
}

fn privacy_code(by_text: Option<Privacy>) -> u8 {
    let at = PRIVACY.iter().position(|known| *known == by_text).unwrap_or_default();
    u8::try_from(at).unwrap_or_default()
}

/// A file, and the hash of all that goes into it.
struct HashingFile {
    file: File,
    hasher: blake3::Hasher,
}

impl Write for HashingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
