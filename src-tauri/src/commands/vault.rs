//! Which folder of notes is open.

use std::path::Path;

use app::App;
use protocol::UserError;
use tauri::{AppHandle, Runtime, State};
use tauri_plugin_dialog::DialogExt as _;

#[tauri::command]
pub(crate) async fn pick_folder<R: Runtime>(
    host: AppHandle<R>,
) -> Result<Option<String>, UserError> {
    Ok(host.dialog().file().blocking_pick_folder().map(|folder| folder.to_string()))
}

#[tauri::command]
pub(crate) async fn open_vault(app: State<'_, App>, folder: String) -> Result<(), UserError> {
    app.open_vault(Path::new(&folder)).await
}

#[tauri::command]
pub(crate) async fn open_sample(app: State<'_, App>) -> Result<(), UserError> {
    app.open_sample().await
}
