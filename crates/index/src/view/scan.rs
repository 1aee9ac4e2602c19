//! Looking at files: what a snapshot or a view holds of each.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use protocol::{NotePath, Privacy, PrivateRules};
use vault::{EntryKind, Fingerprint, NOTE_LIMIT, Vault, VaultEntry};

use super::private_cache::PrivateCache;
use crate::clock;
use crate::metadata::note_metadata::NoteMetadata;
use crate::snapshot::{ScannedFile, to_utf8};

/// Reads files for the index. Text that must never be seen is not stored.
#[derive(Debug)]
pub(crate) struct FileScanner<'a> {
    vault: &'a Vault,
    rules: &'a PrivateRules,
    rules_hash: u64,
    private_cache: Option<&'a PrivateCache>,
    now: i64,
}

/// The present state of a path.
#[derive(Debug, Clone)]
pub(crate) enum ScanOutcome {
    /// The indexed data of the file.
    Held(ScannedFile),
    /// Something that no model may see.
    Private(PrivateFile),
    Gone,
}

/// A file that no model may see. It is known in memory and in no file of the index.
#[derive(Debug, Clone)]
pub(crate) struct PrivateFile {
    pub(crate) entry: VaultEntry,
    /// `None`: it has to be looked at again.
    pub(crate) stamp: Option<Fingerprint>,
}

impl<'a> FileScanner<'a> {
    pub(crate) fn new(vault: &'a Vault, rules: &'a PrivateRules) -> Self {
        let rules_hash = rules.digest();
        Self { vault, rules, rules_hash, private_cache: None, now: unix_seconds() }
    }

    /// The same, which need not read what is known to be private.
    pub(crate) const fn with_private_cache(self, withheld: &'a PrivateCache) -> Self {
        Self { private_cache: Some(withheld), ..self }
    }

    /// A file that is private for sure, told without opening it.
    pub(crate) fn known_private(
        &self,
        entry: &VaultEntry,
        fingerprint: Fingerprint,
    ) -> Option<PrivateFile> {
        let path = &entry.path;
        let is_known = || {
            let decides = has_metadata(entry) && self.rules.depend_on_content();
            let knows =
                |withheld: &PrivateCache| withheld.contains(path, fingerprint, self.rules_hash);
            decides && self.private_cache.is_some_and(knows)
        };
        let is_private = !self.may_hold(path) || is_known();
        is_private
            .then(|| PrivateFile { entry: entry.clone(), stamp: self.if_settled(fingerprint) })
    }

    /// Looks at a file. Where nobody can tell whether its text makes it private, it is.
    pub(crate) fn scan(&self, entry: &VaultEntry, fingerprint: Fingerprint) -> ScanOutcome {
        if let Some(private) = self.known_private(entry, fingerprint) {
            return ScanOutcome::Private(private);
        }
        let holds_text = entry.kind == EntryKind::Note;
        let holds_facts = has_metadata(entry);
        let unread = |stamp| {
            if holds_facts && self.rules.depend_on_content() {
                return ScanOutcome::Private(PrivateFile { entry: entry.clone(), stamp });
            }
            let facts = NoteMetadata::default().encode();
            let (text, by_text) = (Vec::new(), None);
            ScanOutcome::Held(ScannedFile {
                entry: entry.clone(),
                stamp,
                text,
                metadata: facts,
                text_privacy: by_text,
            })
        };
        // A copy is not searched, and is as private as what it is a copy of.
        let is_judged = holds_facts
            || (entry.kind == EntryKind::Conflict && self.rules.depend_on_content_of(&entry.path));
        if !is_judged || entry.size > NOTE_LIMIT {
            return unread(self.if_settled(fingerprint));
        }
        match self.vault.read_with_fingerprint(&entry.path) {
            Ok((bytes, stamp)) => {
                let entry =
                    VaultEntry { size: stamp.size(), modified: stamp.modified(), ..entry.clone() };
                let stamp = self.if_settled(stamp);
                let by_text = is_judged.then(|| self.judge_text(&bytes));
                if by_text == Some(Privacy::Never) {
                    return ScanOutcome::Private(PrivateFile { entry, stamp });
                }
                let text = if holds_facts { into_utf8(bytes) } else { Vec::new() };
                let facts = if holds_facts {
                    NoteMetadata::from_file(&entry.path, &text)
                } else {
                    NoteMetadata::default()
                }
                .encode();
                let text = if holds_text { text } else { Vec::new() };
                ScanOutcome::Held(ScannedFile {
                    entry,
                    stamp,
                    text,
                    metadata: facts,
                    text_privacy: by_text,
                })
            }
            Err(vault::VaultError::NotFound { .. }) => ScanOutcome::Gone,
            // Perhaps it can be read the next time.
            Err(_) => unread(None),
        }
    }

    /// Whether a file with this path may be in the index at all.
    pub(crate) fn may_hold(&self, path: &NotePath) -> bool {
        self.rules.by_path(path) != Privacy::Never
    }

    /// Whether the text of a file with this path decides too.
    pub(crate) fn depends_on_text(&self, path: &NotePath) -> bool {
        self.rules.depend_on_content_of(path)
    }

    /// How private the bytes of a note are.
    pub(crate) fn judge_text(&self, bytes: &[u8]) -> Privacy {
        ::markdown::privacy(self.rules, bytes)
    }

    /// Tells rules from others.
    pub(crate) const fn rules_hash(&self) -> u64 {
        self.rules_hash
    }

    /// Keeps in `dir` which of these notes are private by their text, so that the next start need
    /// not open them.
    pub(crate) fn save_private_cache<'p>(
        &self,
        dir: &Path,
        private: impl Iterator<Item = &'p PrivateFile>,
    ) -> io::Result<()> {
        let by_text = private.filter(|private| self.may_hold(&private.entry.path));
        let settled = by_text.filter_map(|private| Some((&private.entry.path, private.stamp?)));
        PrivateCache::save(dir, self.rules_hash, settled)
    }

    fn if_settled(&self, fingerprint: Fingerprint) -> Option<Fingerprint> {
        fingerprint.is_settled(self.now).then_some(fingerprint)
    }
}

/// Whether it is a note or a canvas: what has links and tags.
fn has_metadata(entry: &VaultEntry) -> bool {
    let is_canvas = entry.kind == EntryKind::Attachment && entry.path.is_canvas();
    entry.kind == EntryKind::Note || is_canvas
}

/// The same as [`to_utf8`]; bytes that have no mark are not copied.
fn into_utf8(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = match to_utf8(&bytes) {
        Cow::Borrowed(text) => text.len(),
        Cow::Owned(text) => return text,
    };
    bytes.drain(..bytes.len() - length);
    bytes
}

/// Seconds since 1970.
fn unix_seconds() -> i64 {
    i64::try_from(clock::since_epoch().as_secs()).unwrap_or(i64::MAX)
}
