//! The hub link.

use app::App;
use protocol::UserError;
use protocol::held::HeldVerdict;
use tauri::State;

#[tauri::command]
pub(crate) async fn retry_hub(app: State<'_, App>) -> Result<(), UserError> {
    app.retry_hub().await
}

#[tauri::command]
pub(crate) async fn decide_held(
    app: State<'_, App>,
    number: u32,
    verdict: HeldVerdict,
) -> Result<(), UserError> {
    app.decide_held(number, verdict).await
}
