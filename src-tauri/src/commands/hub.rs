//! The hub link.

use app::App;
use protocol::UserError;
use protocol::held::HeldVerdict;
use protocol::request::{KeyPlace, TokenStatus};
use secrecy::SecretString;
use tauri::State;

use crate::in_vault::InVault;

#[tauri::command]
pub(crate) async fn retry_hub(app: InVault) -> Result<(), UserError> {
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
    place: KeyPlace,
) -> Result<(), UserError> {
    app.set_hub_token(SecretString::from(token), place).await
}

#[tauri::command]
pub(crate) async fn decide_held(
    app: InVault,
    number: u32,
    verdict: HeldVerdict,
) -> Result<(), UserError> {
    app.decide_held(number, verdict).await
}

#[tauri::command]
pub(crate) async fn write_description(
    app: InVault,
    organisation: String,
) -> Result<Option<String>, UserError> {
    app.write_description(&organisation).await
}

#[tauri::command]
pub(crate) async fn stop_description(app: State<'_, App>) -> Result<(), UserError> {
    app.stop_description();
    Ok(())
}
