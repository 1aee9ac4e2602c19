//! Looking at files: what a snapshot or a view holds of each.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use protocol::{NotePath, Privacy, PrivateRules};
use vault::{Entry, EntryKind, NOTE_LIMIT, Stamp, Vault};

use super::withheld::Withheld;
use crate::facts::Facts;
use crate::snapshot::{Looked, unmarked};

/// Reads files for the index. What is never to be seen is not taken down.
#[derive(Debug)]
pub(crate) struct Eye<'a> {
    vault: &'a Vault,
    rules: &'a PrivateRules,
    rules_hash: u64,
    withheld: Option<&'a Withheld>,
    now: i64,
}

/// What stands at a path now.
#[derive(Debug, Clone)]
pub(crate) enum Now {
    /// What the index holds of it.
    Held(Looked),
    /// Something that no model may see.
    Private(Private),
    Gone,
}

/// A file that no model may see. It is known in memory and in no file of the index.
#[derive(Debug, Clone)]
pub(crate) struct Private {
    pub(crate) entry: Entry,
    /// `None`: it has to be looked at again.
    pub(crate) stamp: Option<Stamp>,
}

impl<'a> Eye<'a> {
    pub(crate) fn new(vault: &'a Vault, rules: &'a PrivateRules) -> Self {
        let rules_hash = rules.digest();
        Self { vault, rules, rules_hash, withheld: None, now: now() }
    }

    /// The same, which need not read what is known to be private.
    pub(crate) const fn knowing(self, withheld: &'a Withheld) -> Self {
        Self { withheld: Some(withheld), ..self }
    }

    /// A file that is private for sure, told without opening it.
    pub(crate) fn private(&self, entry: &Entry, stamp: Stamp) -> Option<Private> {
        let path = &entry.path;
        let is_known = || {
            let decides = holds_facts(entry) && self.rules.looks_inside();
            let knows = |withheld: &Withheld| withheld.knows(path, stamp, self.rules_hash);
            decides && self.withheld.is_some_and(knows)
        };
        let is_private = !self.may_hold(path) || is_known();
        is_private.then(|| Private { entry: entry.clone(), stamp: self.settled(stamp) })
    }

    /// Looks at a file. Where nobody can tell whether its text makes it private, it is.
    pub(crate) fn look(&self, entry: &Entry, stamp: Stamp) -> Now {
        if let Some(private) = self.private(entry, stamp) {
            return Now::Private(private);
        }
        let holds_text = entry.kind == EntryKind::Note;
        let holds_facts = holds_facts(entry);
        let unread = |stamp| {
            if holds_facts && self.rules.looks_inside() {
                return Now::Private(Private { entry: entry.clone(), stamp });
            }
            let facts = Facts::default().encode();
            let (text, by_text) = (Vec::new(), None);
            Now::Held(Looked { entry: entry.clone(), stamp, text, facts, by_text })
        };
        // A copy is not searched, and is as private as what it is a copy of.
        let is_judged = holds_facts
            || (entry.kind == EntryKind::Conflict && self.rules.looks_into(&entry.path));
        if !is_judged || entry.size > NOTE_LIMIT {
            return unread(self.settled(stamp));
        }
        match self.vault.stamped(&entry.path) {
            Ok((bytes, stamp)) => {
                let entry =
                    Entry { size: stamp.size(), modified: stamp.modified(), ..entry.clone() };
                let stamp = self.settled(stamp);
                let by_text = is_judged.then(|| self.judged(&bytes));
                if by_text == Some(Privacy::Never) {
                    return Now::Private(Private { entry, stamp });
                }
                let text = if holds_facts { without_mark(bytes) } else { Vec::new() };
                let facts =
                    if holds_facts { Facts::of(&entry.path, &text) } else { Facts::default() }
                        .encode();
                let text = if holds_text { text } else { Vec::new() };
                Now::Held(Looked { entry, stamp, text, facts, by_text })
            }
            Err(vault::VaultError::NotFound { .. }) => Now::Gone,
            // Perhaps it can be read the next time.
            Err(_) => unread(None),
        }
    }

    /// Whether a file with this path may be in the index at all.
    pub(crate) fn may_hold(&self, path: &NotePath) -> bool {
        self.rules.by_path(path) != Privacy::Never
    }

    /// Whether the text of a file with this path decides too.
    pub(crate) fn looks_into(&self, path: &NotePath) -> bool {
        self.rules.looks_into(path)
    }

    /// How private the bytes of a note are.
    pub(crate) fn judged(&self, bytes: &[u8]) -> Privacy {
        ::markdown::privacy(self.rules, bytes)
    }

    /// Tells rules from others.
    pub(crate) const fn rules_hash(&self) -> u64 {
        self.rules_hash
    }

    /// Keeps in `dir` which of these notes are private by their text, so that the next start need
    /// not open them.
    pub(crate) fn keep_withheld<'p>(
        &self,
        dir: &Path,
        private: impl Iterator<Item = &'p Private>,
    ) -> io::Result<()> {
        let by_text = private.filter(|private| self.may_hold(&private.entry.path));
        let settled = by_text.filter_map(|private| Some((&private.entry.path, private.stamp?)));
        Withheld::keep(dir, self.rules_hash, settled)
    }

    fn settled(&self, stamp: Stamp) -> Option<Stamp> {
        stamp.is_settled(self.now).then_some(stamp)
    }
}

/// Whether it is a note or a canvas: what has links and tags.
fn holds_facts(entry: &Entry) -> bool {
    let is_canvas = entry.kind == EntryKind::Attachment && entry.path.is_canvas();
    entry.kind == EntryKind::Note || is_canvas
}

/// The same as [`unmarked`]; bytes that have no mark are not copied.
fn without_mark(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = match unmarked(&bytes) {
        Cow::Borrowed(text) => text.len(),
        Cow::Owned(text) => return text,
    };
    bytes.drain(..bytes.len() - length);
    bytes
}

/// Seconds since 1970.
fn now() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_secs()).unwrap_or(i64::MAX)
}
