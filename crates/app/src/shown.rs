//! The note that is shown beside the chat: the window always has its newest text.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::request::NoteText;
use protocol::{AppEvent, ContentHash, NotePath, UserError};
use vault::{Note, VaultError};

use crate::aside::aside;
use crate::open_vault::OpenVault;
use crate::ports::desk::OpenedBy;
use crate::trouble::of_note;

/// The note that the window shows.
pub(crate) struct Shown {
    path: NotePath,
    told: Told,
}

/// What the window was told last. The same is not told twice, whoever wrote it.
#[derive(PartialEq, Eq)]
enum Told {
    Text(ContentHash),
    Removed,
    Unreadable,
}

impl OpenVault {
    /// Shows a note beside the chat: it is then the active note.
    pub(crate) async fn show_note(self: &Arc<Self>, asked: &str) -> Result<NoteText, UserError> {
        let mut shown = self.shown.lock().await;
        let (seq, vault, asked) = (self.feed.number(), self.vault.clone(), asked.to_owned());
        let read = aside(move || vault.resolve(&asked).and_then(|path| vault.read(&path))).await?;
        let note = read.map_err(|error| of_note(&error))?;
        self.desk.show(note.path.clone(), OpenedBy::Window);
        let (open, path) = (Arc::clone(self), note.path.clone());
        aside(move || open.recent.add(&path)).await?;
        *shown = Some(Shown { path: note.path.clone(), told: Told::Text(note.hash.clone()) });
        Ok(NoteText { seq, text: text(&note), path: note.path })
    }

    /// The text of a note that is looked at, but not shown beside the chat: nothing is told of it.
    pub(crate) async fn read_note(&self, path: NotePath) -> Result<NoteText, UserError> {
        let (seq, vault) = (self.feed.number(), self.vault.clone());
        let note = aside(move || vault.read(&path)).await?.map_err(|error| of_note(&error))?;
        Ok(NoteText { seq, text: text(&note), path: note.path })
    }

    /// Where a note lies on the disk. Refused for what is no note, is not there, or lies in a folder
    /// beside the vault.
    pub(crate) async fn file_of(&self, path: NotePath) -> Result<PathBuf, UserError> {
        if !path.is_markdown() {
            return Err(UserError::other(format!("`{path}` is no note: only notes are opened.")));
        }
        let vault = self.vault.clone();
        let read = aside(move || vault.takes_changes(&path).and_then(|()| vault.read(&path)));
        let note = read.await?.map_err(|error| of_note(&error))?;
        Ok(self.vault.folder().join(note.path.as_str()))
    }

    /// No note is shown any more.
    pub(crate) async fn close_note(&self) {
        let mut shown = self.shown.lock().await;
        *shown = None;
        self.desk.clear();
    }

    /// Tells the window if the note that it shows is among the `touched` and not as it was.
    pub(crate) async fn look_at_shown(&self, touched: impl Fn(&NotePath) -> bool) {
        // Held until it is told: an answer to `show_note` and these events never cross.
        let mut shown = self.shown.lock().await;
        let Some(note) = shown.as_mut().filter(|note| touched(&note.path)) else { return };
        let (vault, path) = (self.vault.clone(), note.path.clone());
        let Ok(read) = aside(move || vault.read(&path)).await else { return };
        let (now, event) = news(&note.path, read);
        if now != note.told {
            note.told = now;
            self.feed.tell(event);
        }
    }
}

fn news(path: &NotePath, read: Result<Note, VaultError>) -> (Told, AppEvent) {
    let changed = |text| AppEvent::NoteChanged { path: path.clone(), text };
    match read {
        Ok(note) => (Told::Text(note.hash.clone()), changed(Some(text(&note)))),
        Err(VaultError::NotFound { .. }) => (Told::Removed, changed(None)),
        Err(error) => (Told::Unreadable, AppEvent::Problem { error: of_note(&error) }),
    }
}

fn text(note: &Note) -> String {
    String::from_utf8_lossy(&note.bytes).into_owned()
}
