//! Conversations as the user keeps them: listed, looked for, named, put away, ended, deleted.

use app::App;
use protocol::conversation::ConversationView;
use protocol::shelf::{ConversationPage, FoundConversations, ListConversations, Shelf};
use protocol::{ConversationId, TurnId, UserError};
use tauri::State;

#[tauri::command]
pub(crate) async fn open_conversation_at(
    app: State<'_, App>,
    conversation: ConversationId,
    turn: TurnId,
) -> Result<ConversationView, UserError> {
    app.conversation_at(&conversation, &turn).await
}

#[tauri::command]
pub(crate) async fn list_conversations(
    app: State<'_, App>,
    request: ListConversations,
) -> Result<ConversationPage, UserError> {
    app.list_conversations(&request).await
}

#[tauri::command]
pub(crate) async fn search_said(
    app: State<'_, App>,
    query: String,
) -> Result<FoundConversations, UserError> {
    app.search_said(&query).await
}

#[tauri::command]
pub(crate) async fn rename_conversation(
    app: State<'_, App>,
    conversation: ConversationId,
    name: String,
) -> Result<(), UserError> {
    app.rename_conversation(&conversation, &name).await
}

#[tauri::command]
pub(crate) async fn put_conversation(
    app: State<'_, App>,
    conversation: ConversationId,
    shelf: Shelf,
) -> Result<(), UserError> {
    app.put_conversation(&conversation, shelf).await
}

#[tauri::command]
pub(crate) async fn end_conversation(
    app: State<'_, App>,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.end_conversation(&conversation).await
}

#[tauri::command]
pub(crate) async fn delete_conversation(
    app: State<'_, App>,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.delete_conversation(&conversation).await
}

#[tauri::command]
pub(crate) async fn restore_conversation(
    app: State<'_, App>,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.restore_conversation(&conversation).await
}
