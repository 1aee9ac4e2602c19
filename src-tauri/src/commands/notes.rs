//! The note beside the chat.

use std::path::Path;

use desktop::ExternalOpener;
use protocol::request::{NoteContent, SavedAnswer};
use protocol::{MessageId, NoteOpener, NotePath, UserError};

use crate::vault_app::VaultApp;

#[tauri::command]
pub(crate) async fn show_note(
    app: VaultApp,
    path: String,
    by: NoteOpener,
) -> Result<NoteContent, UserError> {
    app.show_note(&path, by).await
}

#[tauri::command]
pub(crate) async fn close_note(app: VaultApp) -> Result<(), UserError> {
    app.close_note().await
}

#[tauri::command]
pub(crate) async fn select_in_note(
    app: VaultApp,
    path: NotePath,
    selected: String,
    heading: Option<String>,
) -> Result<(), UserError> {
    app.select_in_note(&path, &selected, heading).await
}

#[tauri::command]
pub(crate) async fn save_answer(
    app: VaultApp,
    answer: MessageId,
    name: String,
) -> Result<SavedAnswer, UserError> {
    app.save_answer(&answer, &name).await
}

/// With the program that the user has for such files.
#[tauri::command]
pub(crate) async fn open_in_editor(app: VaultApp, path: NotePath) -> Result<(), UserError> {
    open_file(&app.note_file_path(path).await?, "Markdown files").await
}

/// The same with the image that `link` means in a note, or in an answer.
#[tauri::command]
pub(crate) async fn open_image(
    app: VaultApp,
    link: String,
    note: Option<NotePath>,
) -> Result<(), UserError> {
    open_file(&app.image_file_path(link, note).await?, "image files").await
}

#[tauri::command]
pub(crate) async fn open_in_obsidian(app: VaultApp, path: NotePath) -> Result<(), UserError> {
    let file = app.note_file_path(path).await?;
    ExternalOpener::system().open_in_obsidian(&file).await.map_err(|error| {
        UserError::other(format!(
            "Obsidian didn’t open {}: {error}. Install Obsidian, or start it once, and try again.",
            file.display()
        ))
    })
}

async fn open_file(file: &Path, kind: &str) -> Result<(), UserError> {
    ExternalOpener::system().open_file(file).await.map_err(|error| {
        UserError::other(format!(
            "Couldn’t open {}: {error}. Choose a default app for {kind} in your system settings.",
            file.display()
        ))
    })
}
