//! `tools`' desk: the note that lies open, and the clock.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use jiff::Zoned;
use protocol::NotePath;
use tools::desk::{ActiveNote, Desk, Source};

use crate::context::{self, Selection};

/// The note that is shown beside the chat, or that `--note` named; clones are the same desk.
#[derive(Clone, Default)]
pub(crate) struct OpenNote(Arc<Mutex<Option<Lying>>>);

/// A note that lies on the desk.
#[derive(Clone)]
pub(crate) struct Lying {
    note: ActiveNote,
    /// Since when it lies there.
    shown: Instant,
    /// When the selection was made.
    selected: Instant,
}

impl Lying {
    /// Which note it is, how we know and since when.
    pub(crate) fn words(&self) -> String {
        let source = match self.note.source {
            Source::Window => "opened beside the chat",
            Source::CommandLine => "named on the command line",
            Source::Obsidian => "opened in Obsidian",
        };
        format!("Open note: {} ({source} {})", self.note.path, context::age(self.shown.elapsed()))
    }

    /// Where it is.
    pub(crate) const fn path(&self) -> &NotePath {
        &self.note.path
    }

    /// What is selected in it.
    pub(crate) fn selection(&self) -> Option<Selection> {
        (!self.note.selected.trim().is_empty()).then(|| Selection {
            note: self.note.path.clone(),
            heading: self.note.heading.clone(),
            text: self.note.selected.clone(),
            age: context::age(self.selected.elapsed()),
        })
    }
}

/// More than this of a selection, in characters, tells a model nothing that reading does not.
const LONGEST: usize = 8_000;

impl OpenNote {
    /// Puts a note on the desk.
    pub(crate) fn show(&self, path: NotePath, source: Source) {
        let note = ActiveNote { path, source, selected: String::new(), heading: None };
        let (shown, selected) = (Instant::now(), Instant::now());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Lying { note, shown, selected });
    }

    /// Notes what is selected in the note that lies there; of very much, the beginning.
    pub(crate) fn select(&self, selected: &str, heading: Option<String>) {
        let mut desk = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lying) = desk.as_mut() {
            lying.selected = Instant::now();
            lying.note.selected = selected.chars().take(LONGEST).collect();
            lying.note.heading = heading.filter(|_| !lying.note.selected.is_empty());
        }
    }

    /// Clears the desk.
    pub(crate) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The note that lies there, with its selection and since when.
    pub(crate) fn lying(&self) -> Option<Lying> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The path of the note that lies there.
    pub(crate) fn path(&self) -> Option<NotePath> {
        self.active_note().map(|note| note.path)
    }
}

impl Desk for OpenNote {
    fn active_note(&self) -> Option<ActiveNote> {
        self.lying().map(|lying| lying.note)
    }

    fn now(&self) -> Zoned {
        Zoned::now()
    }
}
