//! Which folders are open. The user names them in a dialog of the system: no command takes a path.

use std::path::PathBuf;

use app::App;
use protocol::UserError;
use tauri::{AppHandle, Runtime, State};
use tauri_plugin_dialog::DialogExt as _;

/// Answers whether the user chose one.
#[tauri::command]
pub(crate) async fn choose_vault<R: Runtime>(
    host: AppHandle<R>,
    app: State<'_, App>,
) -> Result<bool, UserError> {
    let Some(folder) = chosen(&host)? else { return Ok(false) };
    app.open_vault(&folder).await.map(|()| true)
}

/// Answers whether the user chose one.
#[tauri::command]
pub(crate) async fn add_extra_root<R: Runtime>(
    host: AppHandle<R>,
    app: State<'_, App>,
) -> Result<bool, UserError> {
    let Some(folder) = chosen(&host)? else { return Ok(false) };
    app.add_extra_root(&folder).await.map(|()| true)
}

#[tauri::command]
pub(crate) async fn open_sample(app: State<'_, App>) -> Result<(), UserError> {
    app.open_sample().await
}

fn chosen<R: Runtime>(host: &AppHandle<R>) -> Result<Option<PathBuf>, UserError> {
    let folder = host.dialog().file().blocking_pick_folder();
    folder.map(tauri_plugin_dialog::FilePath::into_path).transpose().map_err(|error| {
        UserError::other(format!("This folder can’t be opened ({error}). Choose another folder."))
    })
}
