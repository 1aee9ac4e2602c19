//! A screen before the notes: who reads through it does not see what the rules keep private.
//!
//! Every way of reading in this crate asks the screen, so whoever holds a screened [`Vault`] can
//! ask for anything. What is kept back looks as if it were not there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use markdown::privacy;
use protocol::{NotePath, Privacy, PrivateRules};

use crate::{Entry, EntryKind, NOTE_LIMIT, Stamp, Vault, VaultError};

/// How long a listing may look into notes whose tags and properties are not known yet. What is
/// left is kept back, and known sooner the next time.
const LOOKING: Duration = Duration::from_secs(2);

/// What is kept back from whoever reads through it. Can be changed at any time.
#[derive(Debug)]
pub struct Screen {
    showing: RwLock<Arc<Showing>>,
    /// What the text of notes says, as long as they are as they were.
    known: Mutex<HashMap<NotePath, (Stamp, Privacy)>>,
}

/// Rules, and how private what is shown may be.
#[derive(Debug)]
pub(crate) struct Showing {
    rules: PrivateRules,
    most: Privacy,
}

impl Screen {
    /// Shows what is at most as private as `most`.
    #[must_use]
    pub fn new(rules: PrivateRules, most: Privacy) -> Self {
        Self { showing: RwLock::new(Arc::new(Showing { rules, most })), known: Mutex::default() }
    }

    /// The same from now on, for these rules.
    pub fn show(&self, rules: PrivateRules, most: Privacy) {
        let same_rules = self.showing().rules == rules;
        *self.showing.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(Showing { rules, most });
        if !same_rules {
            self.known().clear();
        }
    }

    fn showing(&self) -> Arc<Showing> {
        Arc::clone(&self.showing.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn known(&self) -> MutexGuard<'_, HashMap<NotePath, (Stamp, Privacy)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Showing {
    pub(crate) fn hides_path(&self, path: &NotePath) -> bool {
        self.rules.by_path(path) > self.most
    }

    /// Whether the text of what is called so decides too.
    fn looks_into(&self, path: &NotePath) -> bool {
        self.rules.looks_into(path)
    }
}

impl Vault {
    /// The same vault as it is seen through `screen`. Changes are made by whoever holds the
    /// [whole](Self::whole) one.
    #[must_use]
    pub fn behind(&self, screen: Arc<Screen>) -> Self {
        let mut vault = self.clone();
        vault.screen = Some(screen);
        vault
    }

    /// The same vault without a screen: for what the user sees, and for links that must be kept in
    /// private notes too.
    #[must_use]
    pub fn whole(&self) -> Self {
        let mut vault = self.clone();
        vault.screen = None;
        vault
    }

    /// Whether the screen, if there is one, keeps `path` back; also where nothing is. A note whose
    /// text decides and cannot be read is kept back.
    #[must_use]
    pub fn hides(&self, path: &NotePath) -> bool {
        let Some(showing) = self.showing() else { return false };
        if showing.hides_path(path) {
            return true;
        }
        showing.looks_into(path)
            && match self.whole().bytes(path) {
                Ok(bytes) => privacy(&showing.rules, &bytes) > showing.most,
                Err(VaultError::NotFound { .. }) => false,
                Err(_) => true,
            }
    }

    /// Whether the screen, if there is one, shows a note with this path and this text. Asks no
    /// disk: for who holds the text already.
    #[must_use]
    pub fn shows(&self, path: &NotePath, text: &[u8]) -> bool {
        self.showing().is_none_or(|showing| {
            let by_text =
                || showing.looks_into(path) && privacy(&showing.rules, text) > showing.most;
            !showing.hides_path(path) && !by_text()
        })
    }

    /// Whether nothing at all is kept back at this moment, whatever the note.
    #[must_use]
    pub fn shows_all(&self) -> bool {
        self.showing().is_none_or(|showing| showing.rules.is_empty())
    }

    /// Files that the screen's rules keep from who may see what is at most as private as `most`;
    /// folders are not among them. Empty without a screen.
    pub fn hidden_beyond(&self, most: Privacy) -> Result<Vec<NotePath>, VaultError> {
        let Some(showing) = self.showing() else { return Ok(Vec::new()) };
        let beyond = Arc::new(Showing { rules: showing.rules.clone(), most });
        let shown = self.listed(Some(beyond), None)?.entries;
        let is_shown =
            |path: &NotePath| shown.binary_search_by(|entry| entry.path.cmp(path)).is_ok();
        let all = self.listed(None, None)?.entries.into_iter();
        let files = all.filter(|entry| entry.kind != EntryKind::Folder);
        Ok(files.map(|entry| entry.path).filter(|path| !is_shown(path)).collect())
    }

    /// Refuses to move a folder that holds something which the screen keeps back, or that is in an
    /// extra root.
    pub fn admits_folder(&self, folder: &NotePath) -> Result<(), VaultError> {
        self.takes_changes(folder)?;
        let Some(showing) = self.showing() else { return Ok(()) };
        let hidden = self.hidden_beyond(showing.most)?;
        if hidden.iter().any(|path| path.is_in(folder)) {
            return Err(VaultError::HoldsPrivate { path: folder.clone() });
        }
        Ok(())
    }

    /// Refuses a path that is kept back, as if it were not there.
    pub(crate) fn screened_path(&self, path: &NotePath) -> Result<(), VaultError> {
        match self.showing() {
            Some(showing) if showing.hides_path(path) => Err(not_there(path)),
            _ => Ok(()),
        }
    }

    /// Refuses what was read, or not, where its text has or would have it kept back.
    pub(crate) fn screened_text<T>(
        &self,
        path: &NotePath,
        read: Result<(Vec<u8>, T), VaultError>,
    ) -> Result<(Vec<u8>, T), VaultError> {
        let Some(showing) = self.showing().filter(|showing| showing.looks_into(path)) else {
            return read;
        };
        match read {
            Ok((text, _)) if privacy(&showing.rules, &text) > showing.most => Err(not_there(path)),
            Ok(read) => Ok(read),
            Err(_) => Err(not_there(path)),
        }
    }

    /// Leaves out what is kept back, and counts the notes that were not looked into in time.
    pub(crate) fn screened_entries(
        &self,
        all: Vec<(Entry, Stamp)>,
        showing: Option<Arc<Showing>>,
    ) -> (Vec<Entry>, usize) {
        let Some((screen, showing)) = self.screen.as_ref().zip(showing) else {
            return (all.into_iter().map(|(entry, _)| entry).collect(), 0);
        };
        let looking = Looking {
            whole: self.whole(),
            rules: &showing.rules,
            before: screen.known().clone(),
            until: Instant::now() + LOOKING,
        };
        let (mut shown, mut unknown, mut known) = (Vec::new(), 0, HashMap::new());
        for (entry, stamp) in all {
            let by_path = showing.rules.by_path(&entry.path);
            let is_asked = entry.kind != EntryKind::Folder && showing.looks_into(&entry.path);
            let by_text = if is_asked { looking.at(&entry, stamp) } else { Some(Privacy::Open) };
            if let Some(privacy) = by_text.filter(|_| is_asked) {
                known.insert(entry.path.clone(), (stamp, privacy));
            }
            let may_be_known = can_be_read(&entry) && by_path <= showing.most;
            unknown += usize::from(by_text.is_none() && may_be_known);
            if by_text.is_some_and(|by_text| by_text.max(by_path) <= showing.most) {
                shown.push(entry);
            }
        }
        // Other rules may hold by now; then what was learned is not about them.
        if showing.rules == screen.showing().rules {
            *screen.known() = known;
        }
        (shown, unknown)
    }

    /// What the screen shows, if there is one and anything is private.
    pub(crate) fn showing(&self) -> Option<Arc<Showing>> {
        let showing = self.screen.as_ref()?.showing();
        (!showing.rules.is_empty()).then_some(showing)
    }
}

/// Looks into notes, as long as there is time.
struct Looking<'a> {
    whole: Vault,
    rules: &'a PrivateRules,
    before: HashMap<NotePath, (Stamp, Privacy)>,
    until: Instant,
}

impl Looking<'_> {
    /// What the note's text says; `None` when that is not known.
    fn at(&self, entry: &Entry, stamp: Stamp) -> Option<Privacy> {
        match self.before.get(&entry.path) {
            Some((then, privacy)) if *then == stamp => return Some(*privacy),
            _ => {}
        }
        if !can_be_read(entry) || Instant::now() >= self.until {
            return None;
        }
        let text = self.whole.bytes(&entry.path).ok()?;
        Some(privacy(self.rules, &text))
    }
}

fn can_be_read(entry: &Entry) -> bool {
    let holds_text = matches!(entry.kind, EntryKind::Note | EntryKind::Conflict);
    (holds_text || entry.path.is_canvas()) && entry.size <= NOTE_LIMIT
}

fn not_there(path: &NotePath) -> VaultError {
    VaultError::NotFound { asked: path.as_str().to_owned(), nearest: Vec::new() }
}
