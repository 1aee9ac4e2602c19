//! A file of a view: as in the snapshot, or fresh.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::sync::Arc;

use protocol::{NotePath, Privacy};
use vault::{EntryKind, Fingerprint, VaultEntry};

use super::lookup::FileLookupKeys;
use crate::links::{file_name, fold_name};
use crate::metadata::note_metadata::NoteMetadata;
use crate::query::ParsedQuery;
use crate::query::prefix_bloom::PrefixBloom;
use crate::snapshot::{NoteSnapshot, ScannedFile, SnapshotRow};

/// A file that is not as in the snapshot.
#[derive(Debug)]
pub(crate) struct FreshFile {
    pub(crate) scanned: ScannedFile,
    /// Whether it has a text that is not in `looked`.
    is_unread: bool,
    pub(crate) metadata: NoteMetadata,
    pub(super) keys: FileLookupKeys,
    /// Built from all words that a query may find it by.
    prefixes: PrefixBloom,
    /// The last part of its path, folded for comparison.
    pub(super) folded_name: String,
    /// Its whole path, folded for comparison.
    pub(super) folded_path: String,
}

impl FreshFile {
    pub(super) fn new(looked: ScannedFile) -> Self {
        let facts = NoteMetadata::decode(&looked.metadata);
        let (words, folded) =
            (FileLookupKeys::from_metadata(&facts), fold_name(looked.entry.path.as_str()));
        let name = file_name(&folded).to_owned();
        let title = looked.entry.path.title();
        let text = String::from_utf8_lossy(&looked.text);
        let names = facts.aliases.iter().map(String::as_str).chain([title]);
        let beginnings = PrefixBloom::from_texts(names.chain([&*text]));
        Self {
            scanned: looked,
            is_unread: false,
            metadata: facts,
            keys: words,
            prefixes: beginnings,
            folded_name: name,
            folded_path: folded,
        }
    }

    /// A file whose text has to be read where it is searched.
    pub(crate) fn unread(scanned: ScannedFile) -> Self {
        Self { is_unread: true, ..Self::new(scanned) }
    }
}

/// A fresh file in the order of paths. Views share it: each save makes a new view, also with
/// thousands of fresh files.
#[derive(Debug, Clone)]
pub(super) struct FreshByPath(pub(super) Arc<FreshFile>);

impl Borrow<NotePath> for FreshByPath {
    fn borrow(&self) -> &NotePath {
        &self.0.scanned.entry.path
    }
}

impl Ord for FreshByPath {
    fn cmp(&self, other: &Self) -> Ordering {
        let path: &NotePath = self.borrow();
        path.cmp(other.borrow())
    }
}

impl PartialOrd for FreshByPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for FreshByPath {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for FreshByPath {}

/// A file of a view.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ViewEntry<'a> {
    /// Unchanged since the snapshot.
    Stored(&'a NoteSnapshot, &'a SnapshotRow),
    /// Since then.
    Fresh(&'a FreshFile),
}

impl<'a> ViewEntry<'a> {
    pub(crate) const fn path(&self) -> &'a NotePath {
        match self {
            Self::Stored(_, row) => &row.path,
            Self::Fresh(fresh) => &fresh.scanned.entry.path,
        }
    }

    pub(crate) fn kind(&self) -> EntryKind {
        match self {
            Self::Stored(_, row) => row.kind,
            Self::Fresh(fresh) => fresh.scanned.entry.kind,
        }
    }

    pub(crate) fn entry(&self) -> VaultEntry {
        match self {
            Self::Stored(_, row) => VaultEntry {
                path: row.path.clone(),
                size: row.size,
                modified: row.modified,
                kind: row.kind,
            },
            Self::Fresh(fresh) => fresh.scanned.entry.clone(),
        }
    }

    pub(crate) fn stamp(&self) -> Option<Fingerprint> {
        match self {
            Self::Stored(_, row) => row.stamp,
            Self::Fresh(fresh) => fresh.scanned.stamp,
        }
    }

    /// Whether its text is not at hand.
    pub(crate) const fn is_unread(&self) -> bool {
        match self {
            Self::Stored(..) => false,
            Self::Fresh(fresh) => fresh.is_unread,
        }
    }

    /// Whether a query may find it; `false` is certain.
    pub(crate) fn may_match(&self, query: &ParsedQuery) -> bool {
        match self {
            Self::Stored(..) => true,
            Self::Fresh(fresh) => fresh.is_unread || fresh.prefixes.may_match(query),
        }
    }

    /// Whether searches look into it.
    pub(crate) fn is_note(&self) -> bool {
        self.kind() == EntryKind::Note
    }

    /// Its text without byte order mark; empty unless searches look into it.
    pub(crate) fn text(&self) -> &[u8] {
        match self {
            Self::Stored(snapshot, row) => snapshot.text(row),
            Self::Fresh(fresh) => &fresh.scanned.text,
        }
    }

    /// The privacy of its text by the rules of its view; `None` where they were not checked.
    pub(crate) fn text_privacy(&self) -> Option<Privacy> {
        match self {
            Self::Stored(_, row) => row.text_privacy,
            Self::Fresh(fresh) => fresh.scanned.text_privacy,
        }
    }

    /// The other names that its properties give it.
    pub(crate) fn aliases(&self) -> Vec<String> {
        match self {
            Self::Stored(snapshot, row) => {
                NoteMetadata::decode_aliases(snapshot.encoded_metadata(row))
            }
            Self::Fresh(fresh) => fresh.metadata.aliases.clone(),
        }
    }

    /// Its tags without `#`, each once.
    pub(crate) fn tags(&self) -> Vec<String> {
        match self {
            Self::Stored(snapshot, row) => {
                NoteMetadata::decode_tags(snapshot.encoded_metadata(row))
            }
            Self::Fresh(fresh) => fresh.metadata.tags.clone(),
        }
    }

    pub(crate) fn metadata(&self) -> NoteMetadata {
        match self {
            Self::Stored(snapshot, row) => snapshot.metadata(row),
            Self::Fresh(fresh) => fresh.metadata.clone(),
        }
    }
}
