//! `tools`' desk: the note that lies open, and the clock.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Zoned;
use protocol::NotePath;
use tools::desk::{ActiveNote, Desk, Source};

/// The note that is shown beside the chat, or that `--note` named; clones are the same desk.
#[derive(Clone, Default)]
pub(crate) struct OpenNote(Arc<Mutex<Option<ActiveNote>>>);

impl OpenNote {
    /// Puts a note on the desk.
    pub(crate) fn show(&self, path: NotePath, source: Source) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(ActiveNote { path, source });
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
