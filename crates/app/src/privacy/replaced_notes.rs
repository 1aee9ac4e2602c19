//! Notes whose file was replaced by another one after a turn was told their text.
//!
//! The note that was read may lie in a private folder by now. It is taken for that where the file
//! at its path was made since the turn began that read it, goes on from no file of before that
//! ([`NoteLineage`]), and something private was touched since: a program that saves by putting a new
//! file in the place touches nothing private.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use protocol::{Effect, FileId, Message, NotePath, Privacy, Role, Timestamp, TurnId, UserError};
use store::TurnTimes;

use super::missing_notes::source_note;
use super::note_lineage::{KnownNote, NoteLineage, ReadTimes};
use super::{PrivacyGuard, PrivacyView, SourcesByTurn};
use crate::adapters::active_note::OpenedFile;
use crate::support::blocking::run_blocking;
use crate::support::clock::by_file_clock;

/// When the turns of these messages may have read something: not before their first message, and by a call not
/// before the first answer of a model.
pub(super) fn turn_times(rows: &[Message]) -> HashMap<TurnId, ReadTimes> {
    let begun = first_times(rows.iter());
    let answered = first_times(rows.iter().filter(|row| row.role == Role::Assistant));
    let times = begun.into_iter().map(|(turn, first)| {
        let last = answered.get(turn).copied().unwrap_or(first);
        (turn.clone(), ReadTimes { first, last })
    });
    times.collect()
}

fn first_times<'a>(rows: impl Iterator<Item = &'a Message>) -> HashMap<&'a TurnId, Timestamp> {
    let mut times: HashMap<&TurnId, Timestamp> = HashMap::new();
    for row in rows {
        let first = times.entry(&row.turn).or_insert(row.at);
        *first = row.at.min(*first);
    }
    times
}

/// When each note was read of which turns with these times were told.
pub(super) fn read_times(
    times: &HashMap<TurnId, ReadTimes>,
    told: &SourcesByTurn,
) -> BTreeMap<NotePath, ReadTimes> {
    let mut read: BTreeMap<NotePath, ReadTimes> = BTreeMap::new();
    for (turn, sources) in told {
        let Some(times) = times.get(turn) else { continue };
        for path in sources.iter().filter_map(source_note) {
            read.entry(path).and_modify(|known| *known = known.and(*times)).or_insert(*times);
        }
    }
    read
}

impl PrivacyGuard {
    /// When each note was read of which these turns were told; of none it is known without the ledger.
    pub(crate) async fn read_times(
        &self,
        told: &SourcesByTurn,
    ) -> Result<BTreeMap<NotePath, ReadTimes>, UserError> {
        let turns: Vec<&TurnId> = told.keys().collect();
        Ok(read_times(&self.stored_times(&turns).await?, told))
    }

    pub(super) async fn stored_times(
        &self,
        turns: &[&TurnId],
    ) -> Result<HashMap<TurnId, ReadTimes>, UserError> {
        let stored = match self.effect_history.get() {
            Some(store) if !turns.is_empty() => store.turn_times(turns).await?,
            _ => HashMap::new(),
        };
        let times = |TurnTimes { begun, answered }| ReadTimes { first: begun, last: answered };
        Ok(stored.into_iter().map(|(turn, stored)| (turn, times(stored))).collect())
    }

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
                let (file, known) = (vault.file_id(&path)?, KnownNote::Read(ReadTimes::since(at)));
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
        Ok(run_blocking(touched).await??)
    }
}
