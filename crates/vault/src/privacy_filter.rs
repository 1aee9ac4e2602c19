//! The rules by which a filtered vault withholds notes, and the privacy that is known of their texts.

mod filtered_vault;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use markdown::{privacy, privacy_of_text};
use protocol::{NotePath, Privacy, PrivateRules};

use crate::Fingerprint;

/// The number of files that are gone and are remembered in any case.
const MIN_REMEMBERED_GONE: usize = 1_000;

/// The notes that are withheld from readers of a filtered vault. Can be changed at any time.
pub struct PrivacyFilter {
    visibility: RwLock<Arc<Visibility>>,
    /// The privacy by the text of notes, valid as long as they have the same fingerprint.
    known: Mutex<HashMap<NotePath, (Fingerprint, Privacy)>>,
    /// Judges notes whenever they change.
    lookup: OnceLock<Box<PrivacyLookup>>,
}

/// Tells what the text of the note at a path says, if it was judged when the note had this stamp.
type PrivacyLookup = dyn Fn(&NotePath, Fingerprint) -> Option<TextPrivacy> + Send + Sync;

/// Rules, and how private what is shown may be.
#[derive(Debug)]
pub(crate) struct Visibility {
    rules: PrivateRules,
    max_privacy: Privacy,
    /// Of the rules.
    digest: u64,
}

/// The known privacy of a note by its text, so that it need not be judged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPrivacy {
    /// The [digest](PrivateRules::digest) of the rules.
    pub rules: u64,
    /// The privacy that those rules give the note for its text, wherever it lies.
    pub by_text: Privacy,
}

impl std::fmt::Debug for PrivacyFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("showing", &self.visibility()).finish_non_exhaustive()
    }
}

impl PrivacyFilter {
    /// Shows what is at most as private as `most`.
    #[must_use]
    pub fn new(rules: PrivateRules, most: Privacy) -> Self {
        let showing = Arc::new(Visibility::new(rules, most));
        Self { visibility: RwLock::new(showing), known: Mutex::default(), lookup: OnceLock::new() }
    }

    /// Has `judge` asked before a note is opened to see what its text says. The first one stays.
    pub fn set_lookup(
        &self,
        judge: impl Fn(&NotePath, Fingerprint) -> Option<TextPrivacy> + Send + Sync + 'static,
    ) {
        let _first_stays = self.lookup.set(Box::new(judge));
    }

    /// The same from now on, for these rules.
    pub fn set_rules(&self, rules: PrivateRules, most: Privacy) {
        let same_rules = self.visibility().rules == rules;
        *self.visibility.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(Visibility::new(rules, most));
        if !same_rules {
            self.known().clear();
        }
    }

    fn visibility(&self) -> Arc<Visibility> {
        Arc::clone(&self.visibility.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stores the known privacy of notes, in a vault of `files` files. Files that are gone are
    /// dropped once they are as many as those that exist.
    fn remember_privacy(&self, learned: Vec<(NotePath, (Fingerprint, Privacy))>, files: usize) {
        let mut known = self.known();
        if known.len() + learned.len() > 2 * files + MIN_REMEMBERED_GONE {
            known.clear();
        }
        known.extend(learned);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<NotePath, (Fingerprint, Privacy)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visibility {
    fn new(rules: PrivateRules, most: Privacy) -> Self {
        let digest = rules.digest();
        Self { rules, max_privacy: most, digest }
    }

    pub(crate) fn hides_path(&self, path: &NotePath) -> bool {
        self.rules.by_path(path) > self.max_privacy
    }

    /// Whether what is called so is kept back where its text cannot be read.
    fn depends_on_text(&self, path: &NotePath) -> bool {
        self.rules.depend_on_content_of(path)
    }

    /// Whether the bytes of a file keep it back. A text is judged whatever the file is called; where that
    /// is no note's name, only by tags and properties that can be read. Other bytes say nothing, unless the
    /// file is called like a note: no model is shown them.
    fn hides_text(&self, path: &NotePath, bytes: &[u8]) -> bool {
        let judged = || match self.depends_on_text(path) {
            true => privacy(&self.rules, bytes),
            false if std::str::from_utf8(bytes).is_ok() => privacy_of_text(&self.rules, bytes),
            false => Privacy::Open,
        };
        self.rules.depend_on_content() && judged() > self.max_privacy
    }
}
