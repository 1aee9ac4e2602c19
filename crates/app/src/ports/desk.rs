//! `tools`' desk: the note that lies open, and the clock.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Zoned;
use protocol::NotePath;
use tools::desk::{ActiveNote, Desk, Source};

/// The note that is shown beside the chat, or that `--note` named; clones are the same desk.
#[derive(Clone, Default)]
pub(crate) struct OpenNote(Arc<Mutex<Option<ActiveNote>>>);

/// More than this of a selection, in characters, tells a model nothing that reading does not.
const LONGEST: usize = 8_000;

impl OpenNote {
    /// Puts a note on the desk.
    pub(crate) fn show(&self, path: NotePath, source: Source) {
        let note = ActiveNote { path, source, selected: String::new(), heading: None };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(note);
    }

    /// Notes what is selected in the note that lies there; of very much, the beginning.
    pub(crate) fn select(&self, selected: &str, heading: Option<String>) {
        let mut desk = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(note) = desk.as_mut() {
            note.selected = selected.chars().take(LONGEST).collect();
            note.heading = heading.filter(|_| !note.selected.is_empty());
        }
    }

    /// Clears the desk.
    pub(crate) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The note that lies there.
    pub(crate) fn path(&self) -> Option<NotePath> {
        self.active_note().map(|note| note.path)
    }
}

impl Desk for OpenNote {
    fn active_note(&self) -> Option<ActiveNote> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn now(&self) -> Zoned {
        Zoned::now()
    }
}
