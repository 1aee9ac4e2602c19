//! The note beside the chat.

use app::App;
use protocol::UserError;
use protocol::request::NoteText;
use tauri::State;

#[tauri::command]
pub(crate) async fn show_note(app: State<'_, App>, path: String) -> Result<NoteText, UserError> {
    app.show_note(&path).await
}

#[tauri::command]
pub(crate) async fn close_note(app: State<'_, App>) -> Result<(), UserError> {
    app.close_note().await
}

#[tauri::command]
pub(crate) async fn select_in_note(
    app: State<'_, App>,
    selected: String,
    heading: Option<String>,
) -> Result<(), UserError> {
    app.select_in_note(&selected, heading).await
}
