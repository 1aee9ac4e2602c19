//! The note that is shown beside the chat: the window always has its newest text.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::request::NoteContent;
use protocol::{AppEvent, ContentHash, NotePath, UserError};
use vault::{Note, VaultError};

use crate::adapters::active_note::OpenedBy;
use crate::support::blocking::run_blocking;
use crate::support::errors::note_error;
use crate::vault_session::VaultSession;

/// The note that the window shows.
pub(crate) struct ViewedNote {
    path: NotePath,
    last_published: LastPublished,
}

/// The state that the window was sent last. The same state is not sent twice, whichever program
/// wrote it.
#[derive(PartialEq, Eq)]
enum LastPublished {
    Text(ContentHash),
    Removed,
    Unreadable,
}

impl VaultSession {
    /// Shows a note beside the chat: it is then the active note.
    pub(crate) async fn show_note(self: &Arc<Self>, asked: &str) -> Result<NoteContent, UserError> {
        let mut shown = self.viewed_note.lock().await;
        let (seq, vault, asked) = (self.feed.last_seq(), self.vault.clone(), asked.to_owned());
        let read = move || {
            let path = vault.resolve(&asked)?;
            let file = vault.follow_file(&path);
            Ok((vault.read(&path)?, file))
        };
        let (note, file) = run_blocking(read).await?.map_err(|error| note_error(&error))?;
        self.active_note.show(note.path.clone(), file, OpenedBy::Window);
        let (open, path) = (Arc::clone(self), note.path.clone());
        run_blocking(move || open.recent.add(&path)).await?;
        *shown = Some(ViewedNote {
            path: note.path.clone(),
            last_published: LastPublished::Text(note.hash.clone()),
        });
        Ok(NoteContent { seq, text: lossy_text(&note), path: note.path })
    }

    /// Makes a note the active one that `--note` named.
    pub(crate) async fn open_on_command_line(&self, path: NotePath) -> Result<(), UserError> {
        let (vault, at) = (self.vault.clone(), path.clone());
        let file = run_blocking(move || vault.follow_file(&at)).await?;
        self.active_note.show(path, file, OpenedBy::CommandLine);
        Ok(())
    }

    /// The text of a note that is looked at, but not shown beside the chat: nothing is told of it.
    pub(crate) async fn read_note(&self, path: NotePath) -> Result<NoteContent, UserError> {
        let (seq, vault) = (self.feed.last_seq(), self.vault.clone());
        let note =
            run_blocking(move || vault.read(&path)).await?.map_err(|error| note_error(&error))?;
        Ok(NoteContent { seq, text: lossy_text(&note), path: note.path })
    }

    /// The path of a note on the disk. Refused for what is no note, is missing, or lies in an
    /// additional folder.
    pub(crate) async fn note_file_path(&self, path: NotePath) -> Result<PathBuf, UserError> {
        if !path.is_markdown() {
            return Err(UserError::other(format!(
                "`{path}` isn’t a note. Only notes can be opened."
            )));
        }
        let vault = self.vault.clone();
        let read = run_blocking(move || {
            vault.check_not_in_extra_root(&path).and_then(|()| vault.read(&path))
        });
        let note = read.await?.map_err(|error| note_error(&error))?;
        Ok(self.vault.folder().join(note.path.as_str()))
    }

    /// No note is shown any more.
    pub(crate) async fn close_note(&self) {
        let mut shown = self.viewed_note.lock().await;
        *shown = None;
        self.active_note.clear();
    }

    /// Tells the window if the note that it shows is among the `touched` and not as it was.
    pub(crate) async fn refresh_viewed_note(&self, touched: impl Fn(&NotePath) -> bool) {
        // Held until it is told: an answer to `show_note` and these events never cross.
        let mut shown = self.viewed_note.lock().await;
        let Some(note) = shown.as_mut().filter(|note| touched(&note.path)) else { return };
        let (vault, path) = (self.vault.clone(), note.path.clone());
        let Ok(read) = run_blocking(move || vault.read(&path)).await else { return };
        let (now, event) = note_event(&note.path, read);
        if now != note.last_published {
            note.last_published = now;
            self.feed.publish(event);
        }
    }
}

fn note_event(path: &NotePath, read: Result<Note, VaultError>) -> (LastPublished, AppEvent) {
    let changed = |text| AppEvent::NoteChanged { path: path.clone(), text };
    match read {
        Ok(note) => (LastPublished::Text(note.hash.clone()), changed(Some(lossy_text(&note)))),
        Err(VaultError::NotFound { .. }) => (LastPublished::Removed, changed(None)),
        Err(error) => (LastPublished::Unreadable, AppEvent::Problem { error: note_error(&error) }),
    }
}

fn lossy_text(note: &Note) -> String {
    String::from_utf8_lossy(&note.bytes).into_owned()
}
