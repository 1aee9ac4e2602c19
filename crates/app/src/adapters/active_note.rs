//! Implements `tools::ports::environment`: the open note as it was sent with a message, and the clock.
//!
//! Beside it, the note that is open now.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use jiff::Zoned;
use protocol::{FileId, NoteOpener, NotePath, Timestamp, TurnId, UserError};
use store::Store;
use tools::ports::environment::{ActiveNote, ActiveNoteSource, Environment, SentNote};

use crate::chat::prompt;
use crate::privacy::PrivacyGuard;
use crate::support::clock::{local_now, now};

/// The open note of each turn. It follows from the message that the turn answers, so it is the same after a
/// restart and whatever note is open by then.
pub(crate) struct TurnEnvironment {
    pub(crate) store: Store,
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
}

impl TurnEnvironment {
    async fn find_sent_note(&self, turn: &TurnId) -> Result<SentNote, UserError> {
        let opening = self.store.opening_message(turn).await?;
        let Some((message, _)) = opening else { return Ok(SentNote::NoneOpen) };
        let note = match message.open_note() {
            None => return Ok(SentNote::NoneOpen),
            Some(None) => return Ok(SentNote::Excluded),
            Some(Some(note)) => note,
        };
        let read = [(note.path.clone(), message.at)].into();
        if !self.privacy_guard.replaced_for_any(read).await?.is_empty() {
            return Ok(SentNote::Excluded);
        }
        Ok(SentNote::Sent(ActiveNote {
            path: note.path.clone(),
            source: ActiveNoteSource::Message,
            selected: note.selected.clone(),
            heading: note.heading.clone(),
        }))
    }
}

#[async_trait]
impl Environment for TurnEnvironment {
    async fn sent_note(&self, turn: &TurnId) -> SentNote {
        self.find_sent_note(turn).await.unwrap_or_else(|error| {
            tracing::error!(%error, "the open note of a turn could not be read");
            SentNote::Excluded
        })
    }

    fn now(&self) -> Zoned {
        local_now()
    }
}

/// The note that is shown beside the chat, or that `--note` named; clones share it.
#[derive(Clone, Default)]
pub(crate) struct ActiveNoteState(Arc<Mutex<Option<ActiveNoteEntry>>>);

/// How a note came to be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenedBy {
    /// It is shown beside the chat, where this one chose it.
    Window(NoteOpener),
    /// It was named on the command line.
    CommandLine,
}

impl OpenedBy {
    const fn opener(self) -> NoteOpener {
        match self {
            Self::Window(opener) => opener,
            Self::CommandLine => NoteOpener::User,
        }
    }
}

/// Which file a note was when it was opened: another one may have its path later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenedFile {
    pub(crate) file: FileId,
    pub(crate) at: Timestamp,
}

/// The active note: the open one, with what is selected in it.
#[derive(Clone)]
pub(crate) struct ActiveNoteEntry {
    note: protocol::OpenNote,
    by: OpenedBy,
    /// `None` where the file is not known: in an additional folder.
    file: Option<OpenedFile>,
    /// Since when it is open.
    shown: Instant,
    /// When the selection was made.
    selected: Instant,
}

impl ActiveNoteEntry {
    /// Which note it is, how we know and since when.
    pub(crate) fn describe(&self) -> String {
        let by = match self.by {
            OpenedBy::Window(_) => "opened beside the chat",
            OpenedBy::CommandLine => "named on the command line",
        };
        format!("Open note: {} ({by} {})", self.note.path, prompt::age_text(self.shown.elapsed()))
    }

    pub(crate) const fn path(&self) -> &NotePath {
        &self.note.path
    }

    /// Which file it was when it was opened. A selection is of that file.
    pub(crate) const fn file(&self) -> Option<OpenedFile> {
        self.file
    }

    /// The age of the selection, as text.
    pub(crate) fn selection_age(&self) -> String {
        prompt::age_text(self.selected.elapsed())
    }

    /// The note with its selection.
    pub(crate) fn into_note(self) -> protocol::OpenNote {
        self.note
    }
}

/// More than this of a selection, in characters, tells a model nothing that reading does not.
const MAX_SELECTION_CHARS: usize = 8_000;

impl ActiveNoteState {
    /// Makes a note the active one, which was this file before it was read.
    pub(crate) fn show(&self, path: NotePath, file: Option<FileId>, by: OpenedBy) {
        let file = file.map(|file| OpenedFile { file, at: now() });
        let opened_by = by.opener();
        let note = protocol::OpenNote { path, selected: String::new(), heading: None, opened_by };
        let (shown, selected) = (Instant::now(), Instant::now());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(ActiveNoteEntry { note, by, file, shown, selected });
    }

    /// Notes what is selected in the note at `path`; of very much, the beginning. It is nothing to a
    /// note that was opened in its place meanwhile.
    pub(crate) fn select(&self, path: &NotePath, selected: &str, heading: Option<String>) {
        let mut active = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = active.as_mut().filter(|entry| entry.note.path == *path) {
            entry.selected = Instant::now();
            entry.note.selected = selected.chars().take(MAX_SELECTION_CHARS).collect();
            entry.note.heading = heading.filter(|_| !entry.note.selected.is_empty());
        }
    }

    /// Leaves no note active.
    pub(crate) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The active note, with its selection and since when it is open.
    pub(crate) fn entry(&self) -> Option<ActiveNoteEntry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
