//! A view of the vault that excludes the notes which the privacy rules hide.
//!
//! Every way of reading in this crate asks the filter, so no caller of a filtered [`Vault`] can
//! omit a rule. A hidden note
//! looks as if it did not exist: by its path, or by its text whenever that would be shown, whatever the file is called. A
//! note that was not checked yet is hidden. [`Vault::unfiltered`] is for what the user sees, and for links that must be
//! kept in private notes too.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use markdown::privacy;
use protocol::{NotePath, Privacy};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{PrivacyFilter, TextPrivacy, Visibility};
use crate::{EntryKind, Fingerprint, NOTE_LIMIT, SymlinkPolicy, Vault, VaultEntry, VaultError};

/// How long a listing may look into notes whose tags and properties are not known yet. The
/// remaining notes are withheld, and a later listing knows more of them.
const TEXT_CHECK_TIMEOUT: Duration = Duration::from_secs(2);

impl Vault {
    /// The same vault as it is seen through `screen`. Changes are made with the
    /// [unfiltered](Self::unfiltered) vault.
    #[must_use]
    pub fn filtered(&self, filter: Arc<PrivacyFilter>) -> Self {
        let mut vault = self.clone();
        vault.privacy_filter = Some(filter);
        vault
    }

    /// The same vault without a screen: for what the user sees, and for links that must be kept in
    /// private notes too.
    #[must_use]
    pub fn unfiltered(&self) -> Self {
        let mut vault = self.clone();
        vault.privacy_filter = None;
        vault
    }

    /// Whether the screen, if there is one, keeps `path` back; also where nothing is. A link that is followed
    /// is kept back with the note behind it. Reads the file, note or not, where its text decides. A note
    /// whose text decides and cannot be read is kept back.
    #[must_use]
    pub fn hides(&self, path: &NotePath) -> bool {
        let Some(showing) = self.active_visibility() else { return false };
        if showing.hides_path(path) || self.leads_to_hidden_path(path, &showing) {
            return true;
        }
        showing.rules.depend_on_content()
            && (showing.depends_on_text(path) || self.begins_as_text(path))
            && match self.unfiltered().read_bytes(path) {
                Ok(bytes) => showing.hides_text(path, &bytes),
                Err(VaultError::NotFound { .. }) => false,
                Err(_) => showing.depends_on_text(path),
            }
    }

    /// Whether `path` has links that are followed, to a path that is kept back. Without links in it the disk
    /// is asked once; not at all where no links are followed.
    fn leads_to_hidden_path(&self, path: &NotePath, showing: &Visibility) -> bool {
        if self.symlink_policy() == SymlinkPolicy::Refused {
            return false;
        }
        let has_link = match self.root().stat(path.as_str()) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode) == FileType::Symlink,
            Err(error) => error != Errno::NOENT,
        };
        has_link && self.follow_symlinks(path).is_ok_and(|real| showing.hides_path(&real))
    }

    /// Whether the first bytes of a file are text; also where they cannot be read. Images are not
    /// read whole only to find that they are no text.
    fn begins_as_text(&self, path: &NotePath) -> bool {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let Ok(file) = self.root().open(path.as_str(), flags, Mode::empty()) else { return true };
        let mut beginning = [0; 4096];
        let length = File::from(file).read(&mut beginning).unwrap_or_default();
        let beginning = beginning.get(..length).unwrap_or_default();
        // A character may be cut at the end.
        std::str::from_utf8(beginning).map_or_else(|error| error.error_len().is_none(), |_| true)
    }

    /// Whether the screen, if there is one, shows a file with this path and this text. Asks no
    /// disk: for who holds the text already. A text that was judged is judged again only if that
    /// was by other rules.
    #[must_use]
    pub fn shows(&self, path: &NotePath, text: &[u8], judged: Option<TextPrivacy>) -> bool {
        self.active_visibility().is_none_or(|showing| {
            let known = judged.filter(|judged| judged.rules == showing.digest);
            let hides_text = || match known {
                Some(known) => known.by_text > showing.max_privacy,
                None => showing.hides_text(path, text),
            };
            !showing.hides_path(path) && !hides_text()
        })
    }

    /// The privacy of a text by the screen's rules; `None` without a screen.
    #[must_use]
    pub fn text_privacy(&self, text: &[u8]) -> Option<TextPrivacy> {
        let showing = self.active_visibility()?;
        Some(TextPrivacy { rules: showing.digest, by_text: privacy(&showing.rules, text) })
    }

    /// Whether nothing at all is kept back at this moment, whatever the note.
    #[must_use]
    pub fn shows_all(&self) -> bool {
        self.active_visibility().is_none_or(|showing| showing.rules.is_empty())
    }

    /// Files that the screen's rules keep from who may see what is at most as private as `most`;
    /// folders are not among them. Empty without a screen.
    pub fn files_hidden_above(&self, most: Privacy) -> Result<Vec<NotePath>, VaultError> {
        let Some(showing) = self.active_visibility() else { return Ok(Vec::new()) };
        let beyond = Arc::new(Visibility::new(showing.rules.clone(), most));
        let shown = self.list_filtered(Some(beyond), None)?.entries;
        let is_shown =
            |path: &NotePath| shown.binary_search_by(|entry| entry.path.cmp(path)).is_ok();
        let all = self.list_filtered(None, None)?.entries.into_iter();
        let files = all.filter(|entry| entry.kind != EntryKind::Folder);
        Ok(files.map(|entry| entry.path).filter(|path| !is_shown(path)).collect())
    }

    /// Refuses to move a folder that holds something which the screen keeps back, or that is in an
    /// extra root.
    pub fn check_folder_movable(&self, folder: &NotePath) -> Result<(), VaultError> {
        self.check_not_in_extra_root(folder)?;
        let Some(showing) = self.active_visibility() else { return Ok(()) };
        let hidden = self.files_hidden_above(showing.max_privacy)?;
        if hidden.iter().any(|path| path.is_in(folder)) {
            return Err(VaultError::HoldsPrivate { path: folder.clone() });
        }
        Ok(())
    }

    /// Refuses a path that is kept back, as if it were not there.
    pub(crate) fn check_path_visible(&self, path: &NotePath) -> Result<(), VaultError> {
        match self.active_visibility() {
            Some(showing) if showing.hides_path(path) => Err(not_found(path)),
            _ => Ok(()),
        }
    }

    /// Refuses what was read, or not, where its text has or would have it kept back; of a file that is no
    /// note as well.
    pub(crate) fn filter_text<T>(
        &self,
        path: &NotePath,
        read: Result<(Vec<u8>, T), VaultError>,
    ) -> Result<(Vec<u8>, T), VaultError> {
        let Some(showing) = self.active_visibility() else { return read };
        match read {
            Ok((text, _)) if showing.hides_text(path, &text) => Err(not_found(path)),
            Err(_) if showing.depends_on_text(path) => Err(not_found(path)),
            read => read,
        }
    }

    /// Excludes withheld notes, and counts the notes that were not checked in time. Files that are
    /// no notes are judged by their names alone: a listing opens none of them.
    pub(crate) fn filter_entries(
        &self,
        all: Vec<(VaultEntry, Fingerprint)>,
        showing: Option<Arc<Visibility>>,
    ) -> (Vec<VaultEntry>, usize) {
        let Some((screen, showing)) = self.privacy_filter.as_ref().zip(showing) else {
            return (all.into_iter().map(|(entry, _)| entry).collect(), 0);
        };
        let looking = TextCheck {
            whole: self.unfiltered(),
            screen,
            showing: &showing,
            until: Instant::now() + TEXT_CHECK_TIMEOUT,
        };
        let is_asked = |entry: &VaultEntry| {
            entry.kind != EntryKind::Folder && showing.depends_on_text(&entry.path)
        };
        let before: Vec<Option<Privacy>> = {
            let known = screen.known();
            let before = |(entry, stamp): &(VaultEntry, Fingerprint)| {
                let (then, privacy) = known.get(&entry.path).filter(|_| is_asked(entry))?;
                (then == stamp).then_some(*privacy)
            };
            all.iter().map(before).collect()
        };
        let (mut shown, mut unknown, mut learned) = (Vec::new(), 0, Vec::new());
        let files = all.len();
        for ((entry, stamp), before) in all.into_iter().zip(before) {
            let by_path = showing.rules.by_path(&entry.path);
            let by_text = match before {
                None if is_asked(&entry) => {
                    let found = looking.entry_privacy(&entry, stamp);
                    learned.extend(found.map(|found| (entry.path.clone(), (stamp, found))));
                    found
                }
                None => Some(Privacy::Open),
                known => known,
            };
            let may_be_known = can_be_read(&entry) && by_path <= showing.max_privacy;
            unknown += usize::from(by_text.is_none() && may_be_known);
            if by_text.is_some_and(|by_text| by_text.max(by_path) <= showing.max_privacy) {
                shown.push(entry);
            }
        }
        // Other rules may hold by now; then what was learned is not about them.
        if showing.digest == screen.visibility().digest {
            screen.remember_privacy(learned, files);
        }
        (shown, unknown)
    }

    /// The visibility of the screen, if there is one and anything is private.
    pub(crate) fn active_visibility(&self) -> Option<Arc<Visibility>> {
        let showing = self.privacy_filter.as_ref()?.visibility();
        (!showing.rules.is_empty()).then_some(showing)
    }
}

/// Looks into notes, as long as there is time.
struct TextCheck<'a> {
    whole: Vault,
    screen: &'a PrivacyFilter,
    showing: &'a Visibility,
    until: Instant,
}

impl TextCheck<'_> {
    /// The privacy of the note by its text; `None` when that is not known.
    fn entry_privacy(&self, entry: &VaultEntry, fingerprint: Fingerprint) -> Option<Privacy> {
        let judged = self.screen.lookup.get().and_then(|judge| judge(&entry.path, fingerprint));
        if let Some(judged) = judged.filter(|judged| judged.rules == self.showing.digest) {
            return Some(judged.by_text);
        }
        if !can_be_read(entry) || Instant::now() >= self.until {
            return None;
        }
        let text = self.whole.read_bytes(&entry.path).ok()?;
        Some(privacy(&self.showing.rules, &text))
    }
}

fn can_be_read(entry: &VaultEntry) -> bool {
    let holds_text = matches!(entry.kind, EntryKind::Note | EntryKind::Conflict);
    (holds_text || entry.path.is_canvas()) && entry.size <= NOTE_LIMIT
}

fn not_found(path: &NotePath) -> VaultError {
    VaultError::NotFound { asked: path.as_str().to_owned(), nearest: Vec::new() }
}
