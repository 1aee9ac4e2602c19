//! The note that is open beside the chat, and the text of others, for the window and for programs on the command line.

use std::path::PathBuf;

use protocol::request::NoteContent;
use protocol::{NoteOpener, NotePath, UserError};

use crate::App;

impl App {
    /// Shows a note beside the chat: it is then the active note. Only one that the user chose counts as named by
    /// the messages that it is sent with.
    pub async fn show_note(&self, asked: &str, by: NoteOpener) -> Result<NoteContent, UserError> {
        self.session().await?.notes.viewer.show(asked, by).await
    }

    /// The text of a note, to look at beside what was found.
    pub async fn read_note(&self, path: NotePath) -> Result<NoteContent, UserError> {
        self.session().await?.notes.viewer.read_note(path).await
    }

    /// Where a note lies on the disk, for programs that the user opens it with. Only of a note that is
    /// there, and in the vault itself.
    pub async fn note_file_path(&self, path: NotePath) -> Result<PathBuf, UserError> {
        self.session().await?.notes.viewer.note_file_path(path).await
    }

    /// No note is shown any more.
    pub async fn close_note(&self) -> Result<(), UserError> {
        self.session().await?.notes.viewer.close().await;
        Ok(())
    }

    /// Tells what is selected in the note that is shown; empty for nothing. Ignored where another
    /// note is the active one by now.
    pub async fn select_in_note(
        &self,
        path: &NotePath,
        selected: &str,
        heading: Option<String>,
    ) -> Result<(), UserError> {
        self.session().await?.notes.viewer.active_note.select(path, selected, heading);
        Ok(())
    }

    /// Names the active note for a host without a window (`--note`).
    pub async fn set_active_note(&self, path: NotePath) -> Result<(), UserError> {
        self.session().await?.notes.viewer.open_on_command_line(path).await
    }
}
