//! The hub link.

use app::App;
use protocol::UserError;
use protocol::hub::approval::ApprovalDecision;
use protocol::request::{KeyStorage, TokenStatus};
use secrecy::SecretString;
use tauri::State;

use crate::vault_app::VaultApp;

#[tauri::command]
pub(crate) async fn retry_hub(app: VaultApp) -> Result<(), UserError> {
    app.retry_hub().await
}

#[tauri::command]
pub(crate) async fn hub_token_source(app: State<'_, App>) -> Result<TokenStatus, UserError> {
    Ok(app.hub_token_source().await)
}

#[tauri::command]
pub(crate) async fn set_hub_token(
    app: State<'_, App>,
    token: String,
    place: KeyStorage,
) -> Result<(), UserError> {
    app.set_hub_token(SecretString::from(token), place).await
}

#[tauri::command]
pub(crate) async fn decide_approval(
    app: VaultApp,
    number: u32,
    decision: ApprovalDecision,
) -> Result<(), UserError> {
    app.decide_approval(number, decision).await
}

#[tauri::command]
pub(crate) async fn write_description(
    app: VaultApp,
    organisation: String,
) -> Result<Option<String>, UserError> {
    app.write_description(&organisation).await
}

#[tauri::command]
pub(crate) async fn stop_description(app: State<'_, App>) -> Result<(), UserError> {
    app.stop_description();
    Ok(())
}
