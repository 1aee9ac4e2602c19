//! The texts of all notes one behind the other in one mapped file, with the metadata of each.
//!
//! Opening files is the main cost of a search; here nothing is opened. The file lies in the cache
//! directory and can be deleted at any time. It is never changed: a new one takes its place. A torn
//! file, one of another version or one with other bytes fails its checksum and counts as missing.
//!
//! The format, numbers in little-endian order:
//!
//! | bytes | |
//! |---|---|
//! | 8 | `VMNOTES` and the version |
//! | 8 | the generation: no two snapshots of a vault have the same |
//! | 8 | the rules that kept private notes out of it, hashed |
//! | 8 | the generation of the snapshot that it adds to; 0 for a complete one |
//! | 8 × 3 | how many bytes of text, facts and rows follow |
//! | 32 | BLAKE3 of all that follows |
//! | … | text: for each row its bytes without byte order mark, and a line end where it lacks one |
//! | … | facts: for each row [`NoteMetadata`], encoded |
//! | … | rows: a [`StoredRow`] each, in postcard's format, sorted by path |

mod writer;

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use protocol::{NotePath, Privacy, Timestamp};
use serde::{Deserialize, Serialize};
use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};
use vault::{EntryKind, Fingerprint};

pub(crate) use writer::{ScannedFile, SnapshotWriter};

use crate::metadata::note_metadata::NoteMetadata;

/// Which of the files in its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SnapshotPart {
    /// All notes.
    Whole,
    /// The changes since, as few as are worth a separate file.
    Later,
}

impl SnapshotPart {
    /// Its name in the directory.
    pub(crate) const fn file_name(self) -> &'static str {
        match self {
            Self::Whole => "notes",
            Self::Later => "later",
        }
    }
}

const MAGIC: [u8; 8] = *b"VMNOTES\x03";

/// Where the checksum stands.
const CHECKSUM_OFFSET: usize = 8 + 6 * 8;

/// Where the text begins.
const HEADER_LENGTH: usize = CHECKSUM_OFFSET + 32;

/// An open snapshot.
#[derive(Debug)]
pub(crate) struct NoteSnapshot {
    bytes: OwnedBytes,
    generation: u64,
    rules: u64,
    base_generation: u64,
    rows: Vec<SnapshotRow>,
}

/// One file as it was.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotRow {
    pub(crate) path: NotePath,
    /// Whether it says that the file is gone; all else then says nothing.
    pub(crate) is_gone: bool,
    pub(crate) kind: EntryKind,
    pub(crate) size: u64,
    pub(crate) modified: Timestamp,
    /// `None`: nobody can tell whether the file was touched since, so it has to be read again.
    pub(crate) stamp: Option<Fingerprint>,
    /// Whether other rules hold for finding something in its text; see [`is_binary`].
    pub(crate) is_binary: bool,
    /// Its id in the [ranking](crate::search::ranked_search): the same path and the same text have
    /// the same key in every snapshot, and no others do.
    pub(crate) key: u64,
    /// The privacy of its text by the rules that kept notes out of the snapshot, where it was
    /// judged.
    pub(crate) text_privacy: Option<Privacy>,
    /// Whether a line end was lent to its text.
    has_added_newline: bool,
    text: Range<usize>,
    facts: Range<usize>,
}

/// A row in the file. Its text and facts stand behind those of the rows before it.
#[derive(Debug, Serialize, Deserialize)]
struct StoredRow {
    path: String,
    is_gone: bool,
    kind: u8,
    size: u64,
    modified: i64,
    stamp: Option<[u64; 6]>,
    is_odd: bool,
    key: u64,
    by_text: u8,
    is_lent: bool,
    text: u64,
    facts: u64,
}

impl NoteSnapshot {
    /// The snapshot in `dir`; `None` when there is none that is whole. Reads all of it once.
    pub(crate) fn open(dir: &Path, part: SnapshotPart) -> Option<Self> {
        let bytes = map_file(dir, part)?;
        let body = bytes.get(HEADER_LENGTH..)?;
        let is_whole = blake3::hash(body).as_bytes().as_slice()
            == bytes.get(CHECKSUM_OFFSET..HEADER_LENGTH)?;
        is_whole.then(|| Self::decode(bytes)).flatten()
    }

    /// The same for a file that was written a moment ago; its checksum is not read.
    fn open_unverified(dir: &Path, part: SnapshotPart) -> Option<Self> {
        Self::decode(map_file(dir, part)?)
    }

    fn decode(bytes: OwnedBytes) -> Option<Self> {
        let mut header = HeaderReader { rest: bytes.get(..HEADER_LENGTH)? };
        let is_ours = header.take_bytes()? == MAGIC;
        let (generation, rules, added_to) =
            (header.take_number()?, header.take_number()?, header.take_number()?);
        let (text, facts, rows) =
            (header.take_number()?, header.take_number()?, header.take_number()?);
        let body = bytes.get(HEADER_LENGTH..)?.len() as u64;
        if !is_ours || text.checked_add(facts)?.checked_add(rows)? != body {
            return None;
        }
        let facts_at = HEADER_LENGTH + usize::try_from(text).ok()?;
        let rows_at = facts_at + usize::try_from(facts).ok()?;
        let rows = read_rows(bytes.get(rows_at..)?, facts_at)?;
        Some(Self { bytes, generation, rules, base_generation: added_to, rows })
    }

    /// Tells it from every other snapshot of the vault.
    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }

    /// The hash of the rules that kept private notes out of it.
    pub(crate) const fn rules(&self) -> u64 {
        self.rules
    }

    /// The generation of the snapshot that it adds to; 0 for none.
    pub(crate) const fn base_generation(&self) -> u64 {
        self.base_generation
    }

    /// All files, sorted by path.
    pub(crate) fn rows(&self) -> &[SnapshotRow] {
        &self.rows
    }

    /// Where `path` is among the rows.
    pub(crate) fn find(&self, path: &NotePath) -> Option<usize> {
        self.rows.binary_search_by(|row| row.path.cmp(path)).ok()
    }

    /// The text of a row: its bytes, but for a byte order mark.
    pub(crate) fn text(&self, row: &SnapshotRow) -> &[u8] {
        let end = row.text.end - usize::from(row.has_added_newline);
        self.bytes.get(row.text.start..end).unwrap_or_default()
    }

    /// The texts of neighbouring rows in one piece; each ends in a line end.
    pub(crate) fn run_text(&self, rows: Range<usize>) -> &[u8] {
        let within = self.rows.get(rows).unwrap_or_default();
        let (Some(first), Some(last)) = (within.first(), within.last()) else { return &[] };
        self.bytes.get(first.text.start..last.text.end).unwrap_or_default()
    }

    /// The metadata of a row's file.
    pub(crate) fn metadata(&self, row: &SnapshotRow) -> NoteMetadata {
        NoteMetadata::decode(self.bytes.get(row.facts.clone()).unwrap_or_default())
    }

    /// The same as stored.
    pub(crate) fn encoded_metadata(&self, row: &SnapshotRow) -> &[u8] {
        self.bytes.get(row.facts.clone()).unwrap_or_default()
    }
}

impl SnapshotRow {
    /// How many bytes its text takes in a [run](NoteSnapshot::run_text).
    pub(crate) fn text_length(&self) -> usize {
        self.text.len()
    }

    /// Whether it is a note.
    pub(crate) fn is_note(&self) -> bool {
        self.kind == EntryKind::Note
    }

    /// Whether searches look into it.
    pub(crate) fn is_searched(&self) -> bool {
        self.kind == EntryKind::Note && !self.text.is_empty()
    }
}

/// Whether a search reads it otherwise than text, as ripgrep does: there are zero bytes in it.
pub(crate) fn is_binary(text: &[u8]) -> bool {
    text.contains(&0)
}

/// The bytes as UTF-8 without a byte order mark, where such a mark says what they are.
pub(crate) fn to_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => rest.into(),
        [0xFF, 0xFE, rest @ ..] => from_utf16(rest, u16::from_le_bytes).into(),
        [0xFE, 0xFF, rest @ ..] => from_utf16(rest, u16::from_be_bytes).into(),
        _ => bytes.into(),
    }
}

fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (pairs, rest) = bytes.as_chunks();
    let units = pairs.iter().map(|pair| unit(*pair));
    let signs = char::decode_utf16(units).map(|sign| sign.unwrap_or(char::REPLACEMENT_CHARACTER));
    let half = (!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER);
    signs.chain(half).collect::<String>().into_bytes()
}

fn map_file(dir: &Path, part: SnapshotPart) -> Option<OwnedBytes> {
    let dir = MmapDirectory::open(dir).ok()?;
    dir.open_read(Path::new(part.file_name())).ok()?.read_bytes().ok()
}

/// The rest of a header.
struct HeaderReader<'a> {
    rest: &'a [u8],
}

impl HeaderReader<'_> {
    fn take_bytes(&mut self) -> Option<[u8; 8]> {
        let (first, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*first)
    }

    fn take_number(&mut self) -> Option<u64> {
        self.take_bytes().map(u64::from_le_bytes)
    }
}

fn read_rows(bytes: &[u8], facts_at: usize) -> Option<Vec<SnapshotRow>> {
    let stored: Vec<StoredRow> = postcard::from_bytes(bytes).ok()?;
    let (mut text, mut facts) = (HEADER_LENGTH, facts_at);
    let mut rows = Vec::with_capacity(stored.len());
    for row in stored {
        let (text_end, facts_end) =
            (text + usize::try_from(row.text).ok()?, facts + usize::try_from(row.facts).ok()?);
        rows.push(SnapshotRow {
            path: NotePath::parse(&row.path).ok()?,
            is_gone: row.is_gone,
            kind: *writer::KINDS.get(usize::from(row.kind))?,
            size: row.size,
            modified: Timestamp(row.modified),
            stamp: row.stamp.map(Fingerprint::from_numbers),
            is_binary: row.is_odd,
            key: row.key,
            text_privacy: *writer::PRIVACY.get(usize::from(row.by_text))?,
            has_added_newline: row.is_lent,
            text: text..text_end,
            facts: facts..facts_end,
        });
        (text, facts) = (text_end, facts_end);
    }
    Some(rows)
}
