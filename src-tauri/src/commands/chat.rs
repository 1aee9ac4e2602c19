//! Conversations: the feed, messages, reviews.

use app::App;
use protocol::chat::conversation::ConversationView;
use protocol::chat::cost::TurnCost;
use protocol::request::{DecideReview, RegenerateOutcome, RegenerateRequest, SendMessageRequest};
use protocol::{AppSnapshot, ConversationId, MessageId, NumberedEvent, TurnId, UserError};
use tauri::State;
use tauri::ipc::Channel;

use crate::vault_app::VaultApp;

#[tauri::command]
pub(crate) async fn subscribe(
    app: State<'_, App>,
    on_events: Channel<Vec<NumberedEvent>>,
) -> Result<AppSnapshot, UserError> {
    app.subscribe(Box::new(move |events| on_events.send(events).is_ok())).await
}

#[tauri::command]
pub(crate) async fn open_conversation(
    app: VaultApp,
    conversation: ConversationId,
    whole: bool,
) -> Result<ConversationView, UserError> {
    if whole {
        app.conversation(&conversation).await
    } else {
        app.conversation_tail(&conversation).await
    }
}

#[tauri::command]
pub(crate) async fn send_message(
    app: VaultApp,
    request: SendMessageRequest,
) -> Result<ConversationId, UserError> {
    app.send(request).await
}

#[tauri::command]
pub(crate) async fn stop(app: VaultApp, conversation: ConversationId) -> Result<(), UserError> {
    app.stop(&conversation).await
}

#[tauri::command]
pub(crate) async fn continue_turn(
    app: VaultApp,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.continue_turn(&conversation).await
}

#[tauri::command]
pub(crate) async fn edit_queued(
    app: VaultApp,
    message: MessageId,
    text: String,
) -> Result<(), UserError> {
    app.edit_queued(&message, &text).await
}

#[tauri::command]
pub(crate) async fn remove_queued(app: VaultApp, message: MessageId) -> Result<(), UserError> {
    app.remove_queued(&message).await
}

#[tauri::command]
pub(crate) async fn regenerate(
    app: VaultApp,
    request: RegenerateRequest,
) -> Result<RegenerateOutcome, UserError> {
    app.regenerate(&request).await
}

#[tauri::command]
pub(crate) async fn show_variant(
    app: VaultApp,
    message: MessageId,
    number: u32,
) -> Result<(), UserError> {
    app.show_variant(&message, number).await
}

#[tauri::command]
pub(crate) async fn dismiss_interrupted_turn(app: VaultApp, turn: TurnId) -> Result<(), UserError> {
    app.dismiss_interrupted_turn(&turn).await
}

#[tauri::command]
pub(crate) async fn conversation_costs(
    app: VaultApp,
    conversation: ConversationId,
) -> Result<Vec<TurnCost>, UserError> {
    app.conversation_costs(&conversation).await
}

#[tauri::command]
pub(crate) async fn compact_conversation(
    app: VaultApp,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.compact(&conversation).await
}

#[tauri::command]
pub(crate) async fn decide_review(app: VaultApp, request: DecideReview) -> Result<(), UserError> {
    app.decide_review(&request).await
}
