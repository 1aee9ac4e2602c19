//! The hub link.

use app::App;
use protocol::UserError;
use tauri::State;

#[tauri::command]
pub(crate) async fn retry_hub(app: State<'_, App>) -> Result<(), UserError> {
    app.retry_hub().await
}
