//! Settings and the provider's key.

use app::App;
use protocol::chat::cost::MonthCost;
use protocol::request::{KeyStorage, KeyTrial, ProviderTestResult, Unlocking};
use protocol::{Settings, SettingsChoice, UserError};
use secrecy::SecretString;
use tauri::State;

use crate::vault_app::VaultApp;

#[tauri::command]
pub(crate) async fn save_settings(
    app: State<'_, App>,
    settings: Settings,
    before: Settings,
) -> Result<Settings, UserError> {
    app.save_changed(&before, settings).await
}

#[tauri::command]
pub(crate) async fn recover_settings(
    app: State<'_, App>,
    choice: SettingsChoice,
) -> Result<(), UserError> {
    app.recover_settings(choice).await
}

#[tauri::command]
pub(crate) async fn try_key(app: State<'_, App>, key: String) -> Result<KeyTrial, UserError> {
    Ok(app.try_key(SecretString::from(key)).await)
}

#[tauri::command]
pub(crate) async fn set_key(
    app: State<'_, App>,
    key: String,
    place: KeyStorage,
) -> Result<(), UserError> {
    app.set_key(SecretString::from(key), place).await
}

#[tauri::command]
pub(crate) async fn test_provider(app: State<'_, App>) -> Result<ProviderTestResult, UserError> {
    Ok(app.test_provider().await)
}

#[tauri::command]
pub(crate) async fn unlock_keyring(app: State<'_, App>) -> Result<Unlocking, UserError> {
    app.unlock_keyring().await
}

#[tauri::command]
pub(crate) async fn stop_unlocking(app: State<'_, App>) -> Result<(), UserError> {
    app.stop_unlocking();
    Ok(())
}

#[tauri::command]
pub(crate) async fn monthly_costs(app: VaultApp) -> Result<Vec<MonthCost>, UserError> {
    app.monthly_costs().await
}
