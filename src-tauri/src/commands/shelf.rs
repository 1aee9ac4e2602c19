//! Conversations as the user keeps them: listed, looked for, named, put away, ended, deleted.

use app::{Existing, Export};
use protocol::conversation::ConversationView;
use protocol::export::{ExportFormat, Exported};
use protocol::shelf::{
    ConversationPage, FoundConversations, KeptConversations, ListConversations, Shelf,
};
use protocol::{ConversationId, TurnId, UserError};
use tauri::{AppHandle, Runtime};
use tauri_plugin_dialog::DialogExt as _;

use crate::in_vault::InVault;

#[tauri::command]
pub(crate) async fn open_conversation_at(
    app: InVault,
    conversation: ConversationId,
    turn: TurnId,
) -> Result<ConversationView, UserError> {
    app.conversation_at(&conversation, &turn).await
}

#[tauri::command]
pub(crate) async fn list_conversations(
    app: InVault,
    request: ListConversations,
) -> Result<ConversationPage, UserError> {
    app.list_conversations(&request).await
}

#[tauri::command]
pub(crate) async fn search_said(
    app: InVault,
    query: String,
) -> Result<FoundConversations, UserError> {
    app.search_said(&query).await
}

#[tauri::command]
pub(crate) async fn rename_conversation(
    app: InVault,
    conversation: ConversationId,
    name: String,
) -> Result<(), UserError> {
    app.rename_conversation(&conversation, &name).await
}

#[tauri::command]
pub(crate) async fn put_conversation(
    app: InVault,
    conversation: ConversationId,
    shelf: Shelf,
) -> Result<(), UserError> {
    app.put_conversation(&conversation, shelf).await
}

#[tauri::command]
pub(crate) async fn end_conversation(
    app: InVault,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.end_conversation(&conversation).await
}

#[tauri::command]
pub(crate) async fn delete_conversation(
    app: InVault,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.delete_conversation(&conversation).await
}

#[tauri::command]
pub(crate) async fn restore_conversation(
    app: InVault,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.restore_conversation(&conversation).await
}

/// The user picks the file, and is asked there about one that exists.
#[tauri::command]
pub(crate) async fn export_conversations<R: Runtime>(
    host: AppHandle<R>,
    app: InVault,
    conversation: Option<ConversationId>,
    format: ExportFormat,
    name: String,
) -> Result<Option<Exported>, UserError> {
    // What is proposed is a name: the dialog would take one with a slash for a path.
    let proposed = format!("{}.{}", name.replace('/', "-"), format.ending());
    let dialog = host.dialog().file().set_file_name(proposed);
    let Some(file) = dialog.blocking_save_file() else { return Ok(None) };
    let file = file
        .into_path()
        .map_err(|error| UserError::other(format!("This place cannot be written to: {error}.")))?;
    let export = Export { conversation, format, file, existing: Existing::Replaced };
    app.export(&export).await
}

#[tauri::command]
pub(crate) async fn kept_conversations(app: InVault) -> Result<KeptConversations, UserError> {
    app.kept_conversations().await
}

#[tauri::command]
pub(crate) async fn delete_conversations(app: InVault) -> Result<KeptConversations, UserError> {
    app.delete_conversations().await
}

#[tauri::command]
pub(crate) async fn restore_conversations(app: InVault) -> Result<ConversationPage, UserError> {
    app.restore_conversations().await
}
