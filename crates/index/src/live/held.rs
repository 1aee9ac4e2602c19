//! A file of a view: as in the snapshot, or fresh.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::sync::Arc;

use protocol::{NotePath, Privacy};
use vault::{Entry, EntryKind, Stamp};

use super::lookup::Words;
use crate::asked::Asked;
use crate::beginnings::Beginnings;
use crate::facts::Facts;
use crate::links::{fold, name};
use crate::snapshot::{Looked, Row, Snapshot};

/// A file that is not as in the snapshot.
#[derive(Debug)]
pub(crate) struct Fresh {
    pub(crate) looked: Looked,
    /// Whether it has a text that is not in `looked`.
    is_unread: bool,
    pub(crate) facts: Facts,
    pub(super) words: Words,
    /// Of all words that a query may find it by.
    beginnings: Beginnings,
    /// Its name, folded.
    pub(super) name: String,
    /// Its path, folded.
    pub(super) folded: String,
}

impl Fresh {
    pub(super) fn new(looked: Looked) -> Self {
        let facts = Facts::decode(&looked.facts);
        let (words, folded) = (Words::of(&facts), fold(looked.entry.path.as_str()));
        let name = name(&folded).to_owned();
        let title = looked.entry.path.title();
        let text = String::from_utf8_lossy(&looked.text);
        let names = facts.aliases.iter().map(String::as_str).chain([title]);
        let beginnings = Beginnings::of(names.chain([&*text]));
        Self { looked, is_unread: false, facts, words, beginnings, name, folded }
    }

    /// A file whose text has to be read where it is searched.
    pub(crate) fn unread(looked: Looked) -> Self {
        Self { is_unread: true, ..Self::new(looked) }
    }
}

/// A fresh file in the order of paths. Views share it: each save makes a new view, also beside
/// thousands of files that are fresh.
#[derive(Debug, Clone)]
pub(super) struct Listed(pub(super) Arc<Fresh>);

impl Borrow<NotePath> for Listed {
    fn borrow(&self) -> &NotePath {
        &self.0.looked.entry.path
    }
}

impl Ord for Listed {
    fn cmp(&self, other: &Self) -> Ordering {
        let path: &NotePath = self.borrow();
        path.cmp(other.borrow())
    }
}

impl PartialOrd for Listed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Listed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Listed {}

/// A file of a view.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Held<'a> {
    /// As in the snapshot.
    Stored(&'a Snapshot, &'a Row),
    /// Since then.
    Fresh(&'a Fresh),
}

impl<'a> Held<'a> {
    pub(crate) const fn path(&self) -> &'a NotePath {
        match self {
            Self::Stored(_, row) => &row.path,
            Self::Fresh(fresh) => &fresh.looked.entry.path,
        }
    }

    pub(crate) fn kind(&self) -> EntryKind {
        match self {
            Self::Stored(_, row) => row.kind,
            Self::Fresh(fresh) => fresh.looked.entry.kind,
        }
    }

    pub(crate) fn entry(&self) -> Entry {
        match self {
            Self::Stored(_, row) => Entry {
                path: row.path.clone(),
                size: row.size,
                modified: row.modified,
                kind: row.kind,
            },
            Self::Fresh(fresh) => fresh.looked.entry.clone(),
        }
    }

    pub(crate) fn stamp(&self) -> Option<Stamp> {
        match self {
            Self::Stored(_, row) => row.stamp,
            Self::Fresh(fresh) => fresh.looked.stamp,
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
    pub(crate) fn may_be_found(&self, asked: &Asked) -> bool {
        match self {
            Self::Stored(..) => true,
            Self::Fresh(fresh) => fresh.is_unread || fresh.beginnings.may_be_found(asked),
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
            Self::Fresh(fresh) => &fresh.looked.text,
        }
    }

    /// What the rules of its view say of its text; `None` where they were not asked.
    pub(crate) fn by_text(&self) -> Option<Privacy> {
        match self {
            Self::Stored(_, row) => row.by_text,
            Self::Fresh(fresh) => fresh.looked.by_text,
        }
    }

    /// Its other names.
    pub(crate) fn aliases(&self) -> Vec<String> {
        match self {
            Self::Stored(snapshot, row) => Facts::decode_aliases(snapshot.encoded_facts(row)),
            Self::Fresh(fresh) => fresh.facts.aliases.clone(),
        }
    }

    /// Its tags without `#`, each once.
    pub(crate) fn tags(&self) -> Vec<String> {
        match self {
            Self::Stored(snapshot, row) => Facts::decode_tags(snapshot.encoded_facts(row)),
            Self::Fresh(fresh) => fresh.facts.tags.clone(),
        }
    }

    pub(crate) fn facts(&self) -> Facts {
        match self {
            Self::Stored(snapshot, row) => snapshot.facts(row),
            Self::Fresh(fresh) => fresh.facts.clone(),
        }
    }
}
