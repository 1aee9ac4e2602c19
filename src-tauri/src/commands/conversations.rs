//! Conversations as the user keeps them: listed, searched, named, archived, ended, deleted.

use app::{ExistingFile, ExportJob};
use protocol::chat::conversation::ConversationView;
use protocol::chat::conversation_list::{
    ArchiveState, ConversationCounts, ConversationHits, ConversationPage, ListConversations,
};
use protocol::chat::export::{ExportFormat, Exported};
use protocol::{ConversationId, TurnId, UserError};
use tauri::{AppHandle, Runtime};
use tauri_plugin_dialog::DialogExt as _;

use crate::vault_app::VaultApp;

#[tauri::command]
pub(crate) async fn open_conversation_at(
    app: VaultApp,
    conversation: ConversationId,
    turn: TurnId,
) -> Result<ConversationView, UserError> {
    app.conversation_at(&conversation, &turn).await
}

#[tauri::command]
pub(crate) async fn list_conversations(
    app: VaultApp,
    request: ListConversations,
) -> Result<ConversationPage, UserError> {
    app.list_conversations(&request).await
}

#[tauri::command]
pub(crate) async fn search_conversations(
    app: VaultApp,
    query: String,
) -> Result<ConversationHits, UserError> {
    app.search_conversations(&query).await
}

#[tauri::command]
pub(crate) async fn rename_conversation(
    app: VaultApp,
    conversation: ConversationId,
    name: String,
) -> Result<(), UserError> {
    app.rename_conversation(&conversation, &name).await
}

#[tauri::command]
pub(crate) async fn set_archive_state(
    app: VaultApp,
    conversation: ConversationId,
    archive_state: ArchiveState,
) -> Result<(), UserError> {
    app.set_archive_state(&conversation, archive_state).await
}

#[tauri::command]
pub(crate) async fn end_conversation(
    app: VaultApp,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.end_conversation(&conversation).await
}

#[tauri::command]
pub(crate) async fn delete_conversation(
    app: VaultApp,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.delete_conversation(&conversation).await
}

#[tauri::command]
pub(crate) async fn restore_conversation(
    app: VaultApp,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.restore_conversation(&conversation).await
}

/// The user chooses the file, and is asked there about one that exists.
#[tauri::command]
pub(crate) async fn export_conversations<R: Runtime>(
    host: AppHandle<R>,
    app: VaultApp,
    conversation: Option<ConversationId>,
    format: ExportFormat,
    name: String,
) -> Result<Option<Exported>, UserError> {
    // The proposal is only a name: the dialog would take one with a slash for a path.
    let proposed = format!("{}.{}", name.replace('/', "-"), format.extension());
    let dialog = host.dialog().file().set_file_name(proposed);
    let Some(file) = dialog.blocking_save_file() else { return Ok(None) };
    let file = file
        .into_path()
        .map_err(|error| UserError::other(format!("This place can’t be written to: {error}.")))?;
    let export = ExportJob { conversation, format, file, existing: ExistingFile::Replaced };
    app.export(&export).await
}

#[tauri::command]
pub(crate) async fn conversation_counts(app: VaultApp) -> Result<ConversationCounts, UserError> {
    app.conversation_counts().await
}

#[tauri::command]
pub(crate) async fn delete_conversations(app: VaultApp) -> Result<ConversationCounts, UserError> {
    app.delete_conversations().await
}

#[tauri::command]
pub(crate) async fn restore_conversations(app: VaultApp) -> Result<ConversationPage, UserError> {
    app.restore_conversations().await
}
