//! Looking at files: what a snapshot or a view holds of each.

use std::time::{SystemTime, UNIX_EPOCH};

use protocol::{NotePath, Privacy, PrivateRules};
use vault::{Entry, EntryKind, NOTE_LIMIT, Stamp, Vault};

use crate::facts::Facts;
use crate::snapshot::{Looked, unmarked};

/// Reads files for the index. What is never to be seen is not taken down.
#[derive(Debug)]
pub(crate) struct Eye<'a> {
    vault: &'a Vault,
    rules: &'a PrivateRules,
    now: i64,
}

impl<'a> Eye<'a> {
    pub(crate) fn new(vault: &'a Vault, rules: &'a PrivateRules) -> Self {
        Self { vault, rules, now: now() }
    }

    /// What the index holds of a file; `None` when that is nothing: it is gone, or private.
    pub(crate) fn look(&self, entry: &Entry, stamp: Stamp) -> Option<Looked> {
        if !self.may_hold(&entry.path) {
            return None;
        }
        let holds_text = entry.kind == EntryKind::Note;
        let is_canvas = entry.kind == EntryKind::Attachment && is_canvas(&entry.path);
        let nothing = |stamp| Looked {
            entry: entry.clone(),
            stamp,
            text: Vec::new(),
            facts: Facts::default().encode(),
        };
        if !(holds_text || is_canvas) || entry.size > NOTE_LIMIT {
            return Some(nothing(self.settled(stamp)));
        }
        match self.vault.stamped(&entry.path) {
            Ok((bytes, stamp)) => {
                if self.rules.by_text(&bytes) == Privacy::Never && holds_text {
                    return None;
                }
                let bytes = unmarked(&bytes);
                let facts = Facts::of(&entry.path, &bytes).encode();
                let text = if holds_text { bytes.into_owned() } else { Vec::new() };
                let entry =
                    Entry { size: stamp.size(), modified: stamp.modified(), ..entry.clone() };
                Some(Looked { entry, stamp: self.settled(stamp), text, facts })
            }
            Err(vault::VaultError::NotFound { .. }) => None,
            // Perhaps it can be read the next time.
            Err(_) => Some(nothing(None)),
        }
    }

    /// Whether a file with this path may be in the index at all.
    pub(crate) fn may_hold(&self, path: &NotePath) -> bool {
        self.rules.by_path(path) != Privacy::Never
    }

    /// Whether the index may hold this text.
    pub(crate) fn may_hold_text(&self, text: &[u8]) -> bool {
        self.rules.by_text(text) != Privacy::Never
    }

    /// Tells rules from others.
    pub(crate) fn rules_hash(&self) -> u64 {
        let words = format!("{:?}", self.rules);
        let hash = blake3::hash(words.as_bytes());
        hash.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }

    fn settled(&self, stamp: Stamp) -> Option<Stamp> {
        stamp.is_settled(self.now).then_some(stamp)
    }
}

/// Seconds since 1970.
fn now() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_secs()).unwrap_or(i64::MAX)
}

fn is_canvas(path: &NotePath) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("canvas"))
}
