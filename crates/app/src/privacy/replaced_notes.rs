//! Notes whose file was replaced by another one after a turn was told their text.
//!
//! The note that was read may lie in a private folder by now. It is taken for that where the file
//! at its path was made since the turn began that read it, not by us, and something private was
//! touched since: a program that saves by putting a new file in the place touches nothing private.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use protocol::{FileId, FileReplacement, Message, NotePath, Privacy, Timestamp, TurnId, UserError};

use super::missing_notes::source_note;
use super::{PrivacyGuard, PrivacyView, SourcesByTurn};
use crate::adapters::active_note::OpenedFile;
use crate::support::blocking::run_blocking;
use crate::support::errors::{note_error, store_error};

/// The clock of a file system goes in ticks: the number of milliseconds that it may be behind.
const FILE_CLOCK_LAG_MS: i64 = 20;

/// Since when another file at the path of each note may be another note: the time of the first
/// message of the first turn that was told some of it.
pub(super) fn read_times(rows: &[Message], told: &SourcesByTurn) -> BTreeMap<NotePath, Timestamp> {
    let mut begun: HashMap<&TurnId, Timestamp> = HashMap::new();
    for row in rows {
        let first = begun.entry(&row.turn).or_insert(row.at);
        *first = row.at.min(*first);
    }
    let mut read: BTreeMap<NotePath, Timestamp> = BTreeMap::new();
    for (turn, sources) in told {
        let Some(at) = begun.get(turn) else { continue };
        for path in sources.iter().filter_map(source_note) {
            let first = read.entry(path).or_insert(*at);
            *first = (*at).min(*first);
        }
    }
    read
}

/// The earliest time that a file made or touched at that time may have.
const fn by_file_clock(at: Timestamp) -> Timestamp {
    Timestamp(at.0.saturating_sub(FILE_CLOCK_LAG_MS))
}

impl PrivacyGuard {
    /// The notes that another file has replaced since that time and that may be private, for any
    /// running turn.
    pub(crate) async fn replaced_for_any(
        &self,
        read: BTreeMap<NotePath, Timestamp>,
    ) -> Result<BTreeSet<NotePath>, UserError> {
        let view = self.view_for(Privacy::Open).await?;
        self.replaced(&view, read).await
    }

    /// Whether another note has the path by now than the file that was opened, and the one that was
    /// opened may be private, for any running turn. A file that took its place in a save is the same note.
    pub(crate) async fn is_another_for_any(
        &self,
        path: &NotePath,
        opened: OpenedFile,
    ) -> Result<bool, UserError> {
        let view = self.view_for(Privacy::Open).await?;
        if !view.rules.hide_any(view.max_privacy) {
            return Ok(false);
        }
        let (vault, at) = (self.vault.unfiltered(), path.clone());
        let another = move || {
            let is_other =
                |now: &FileId| *now != opened.file && !vault.was_replaced_by(opened.file, *now);
            vault.file_id(&at).filter(is_other)
        };
        match run_blocking(another).await? {
            Some(file) if !self.is_own_change(path, file).await? => {
                self.is_touched(&view, by_file_clock(opened.at)).await
            }
            _ => Ok(false),
        }
    }

    pub(super) async fn replaced(
        &self,
        view: &PrivacyView,
        read: BTreeMap<NotePath, Timestamp>,
    ) -> Result<BTreeSet<NotePath>, UserError> {
        if !view.rules.hide_any(view.max_privacy) {
            return Ok(BTreeSet::new());
        }
        let vault = self.vault.unfiltered();
        let younger = move || {
            let younger = read.into_iter().filter_map(|(path, at)| {
                let (file, at) = (vault.file_id(&path)?, by_file_clock(at));
                (file.born? / 1_000_000 >= at.0).then_some((path, file, at))
            });
            younger.collect::<Vec<_>>()
        };
        let (mut replaced, mut since) = (BTreeSet::new(), None);
        for (path, file, at) in run_blocking(younger).await? {
            if !self.is_own_change(&path, file).await? {
                since = Some(since.map_or(at, |since: Timestamp| since.min(at)));
                replaced.insert(path);
            }
        }
        match since {
            Some(since) if self.is_touched(view, since).await? => Ok(replaced),
            _ => Ok(BTreeSet::new()),
        }
    }

    /// Whether a change of ours put the file there, or the one that it follows.
    async fn is_own_change(&self, path: &NotePath, file: FileId) -> Result<bool, UserError> {
        let Some(ledger) = self.effect_history.get() else { return Ok(false) };
        let changes = ledger.note_history(path, None).await.map_err(store_error)?;
        let left: Vec<FileId> = changes.into_iter().filter_map(|change| change.file).collect();
        if left.contains(&file) || left.is_empty() {
            return Ok(!left.is_empty());
        }
        let successions = ledger.successions().await.map_err(store_error)?;
        Ok(left.iter().any(|from| successions.contains(&FileReplacement { from: *from, to: file })))
    }

    /// Whether a private file, or a folder above one, was touched since then.
    async fn is_touched(&self, view: &PrivacyView, since: Timestamp) -> Result<bool, UserError> {
        let (vault, seen, most) =
            (self.vault.unfiltered(), self.vault_for_view(view), view.max_privacy);
        let touched = move || {
            let hidden = seen.files_hidden_above(most)?;
            let mut places: BTreeSet<&str> = hidden.iter().map(NotePath::as_str).collect();
            for path in &hidden {
                let mut folder = path.folder();
                while let Some(above) = folder {
                    places.insert(above);
                    folder = above.rsplit_once('/').map(|(above, _)| above);
                }
            }
            let is_touched = |place: &&str| vault.touched(place).is_some_and(|at| at >= since);
            Ok::<bool, vault::VaultError>(places.iter().any(is_touched))
        };
        run_blocking(touched).await?.map_err(|error| note_error(&error))
    }
}
