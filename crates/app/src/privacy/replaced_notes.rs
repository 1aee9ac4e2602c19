//! Notes whose file was replaced by another one after a turn was told their text.
//!
//! The note that was read may lie in a private folder by now. It is taken for that where the file
//! at its path was made since the turn began that read it, goes on from no file of before that
//! ([`NoteLineage`]), and something private was touched since: a program that saves by putting a new
//! file in the place touches nothing private.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use protocol::{Effect, FileId, Message, NotePath, Privacy, Timestamp, TurnId, UserError};

use super::missing_notes::source_note;
use super::note_lineage::{KnownNote, NoteLineage};
use super::{PrivacyGuard, PrivacyView, SourcesByTurn};
use crate::adapters::active_note::OpenedFile;
use crate::support::blocking::run_blocking;
use crate::support::errors::note_error;

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
pub(super) const fn by_file_clock(at: Timestamp) -> Timestamp {
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
        let Some(now) = run_blocking(move || vault.file_id(&at)).await? else { return Ok(false) };
        let vault = self.vault.unfiltered();
        // A save of this moment may not be stored yet.
        let is_opened =
            |file: &FileId| *file == opened.file || vault.was_replaced_by(opened.file, *file);
        if is_opened(&now) {
            return Ok(false);
        }
        let (lineage, changes) = (self.note_lineage().await?, self.changes_at(path).await?);
        if lineage.continues(&changes, now, is_opened) {
            return Ok(false);
        }
        self.is_touched(&view, by_file_clock(opened.at)).await
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
                let (file, known) = (vault.file_id(&path)?, KnownNote::Read(at));
                (file.born.is_some() && !known.is(&file)).then_some((path, file, known))
            });
            younger.collect::<Vec<_>>()
        };
        let younger = run_blocking(younger).await?;
        if younger.is_empty() {
            return Ok(BTreeSet::new());
        }
        let lineage = self.note_lineage().await?;
        let (mut replaced, mut since) = (BTreeSet::new(), None);
        for (path, file, known) in younger {
            let changes = self.changes_at(&path).await?;
            if !lineage.continues(&changes, file, |file| known.is(file)) {
                let at = known.since();
                since = Some(since.map_or(at, |since: Timestamp| since.min(at)));
                replaced.insert(path);
            }
        }
        match since {
            Some(since) if self.is_touched(view, since).await? => Ok(replaced),
            _ => Ok(BTreeSet::new()),
        }
    }

    /// Whether this file, to whose path these changes of ours were made, is the note that was known. In
    /// doubt it is, unless something private was touched since.
    pub(super) async fn is_same_note(
        &self,
        view: &PrivacyView,
        lineage: &NoteLineage,
        changes: &[Effect],
        file: Option<FileId>,
        known: KnownNote,
    ) -> Result<bool, UserError> {
        let goes_on = |file: FileId| lineage.continues(changes, file, |earlier| known.is(earlier));
        if file.is_some_and(goes_on) {
            return Ok(true);
        }
        Ok(!self.is_touched(view, known.since()).await?)
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
