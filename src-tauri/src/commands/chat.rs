//! Conversations: the feed, messages, reviews.

use app::App;
use protocol::conversation::ConversationView;
use protocol::request::{AskAnew, AskedAnew, DecideReview, SendMessage};
use protocol::spent::TurnSpent;
use protocol::{ConversationId, MessageId, Numbered, Snapshot, TurnId, UserError};
use tauri::State;
use tauri::ipc::Channel;

use crate::in_vault::InVault;

#[tauri::command]
pub(crate) async fn subscribe(
    app: State<'_, App>,
    on_events: Channel<Vec<Numbered>>,
) -> Result<Snapshot, UserError> {
    app.subscribe(Box::new(move |events| on_events.send(events).is_ok())).await
}

#[tauri::command]
pub(crate) async fn open_conversation(
    app: InVault,
    conversation: ConversationId,
    whole: bool,
) -> Result<ConversationView, UserError> {
    if whole {
        app.conversation(&conversation).await
    } else {
        app.conversation_end(&conversation).await
    }
}

#[tauri::command]
pub(crate) async fn send_message(
    app: InVault,
    request: SendMessage,
) -> Result<ConversationId, UserError> {
    app.send(request).await
}

#[tauri::command]
pub(crate) async fn stop(app: InVault, conversation: ConversationId) -> Result<(), UserError> {
    app.stop(&conversation).await
}

#[tauri::command]
pub(crate) async fn continue_turn(
    app: InVault,
    conversation: ConversationId,
) -> Result<(), UserError> {
    app.continue_turn(&conversation).await
}

#[tauri::command]
pub(crate) async fn edit_queued(
    app: InVault,
    message: MessageId,
    text: String,
) -> Result<(), UserError> {
    app.edit_queued(&message, &text).await
}

#[tauri::command]
pub(crate) async fn remove_queued(app: InVault, message: MessageId) -> Result<(), UserError> {
    app.remove_queued(&message).await
}

#[tauri::command]
pub(crate) async fn ask_anew(app: InVault, request: AskAnew) -> Result<AskedAnew, UserError> {
    app.ask_anew(&request).await
}

#[tauri::command]
pub(crate) async fn show_variant(
    app: InVault,
    message: MessageId,
    number: u32,
) -> Result<(), UserError> {
    app.show_variant(&message, number).await
}

#[tauri::command]
pub(crate) async fn leave_turn(app: InVault, turn: TurnId) -> Result<(), UserError> {
    app.leave_turn(&turn).await
}

#[tauri::command]
pub(crate) async fn spent_in(
    app: InVault,
    conversation: ConversationId,
) -> Result<Vec<TurnSpent>, UserError> {
    app.spent_in(&conversation).await
}

#[tauri::command]
pub(crate) async fn sum_up(app: InVault, conversation: ConversationId) -> Result<(), UserError> {
    app.sum_up(&conversation).await
}

#[tauri::command]
pub(crate) async fn decide_review(app: InVault, request: DecideReview) -> Result<(), UserError> {
    app.decide_review(&request).await
}
