//! The desktop around the window.

use app::App;
use protocol::desktop::{AtLogin, DesktopState, OnClose};
use protocol::{ConversationId, UserError};
use tauri::{AppHandle, Runtime, State};

use crate::presence::{self, Presence};

#[tauri::command]
pub(crate) async fn look_at(
    app: State<'_, App>,
    conversation: Option<ConversationId>,
) -> Result<(), UserError> {
    app.looks(|looking| looking.at = conversation);
    Ok(())
}

#[tauri::command]
pub(crate) async fn desktop_state(
    presence: State<'_, Presence>,
) -> Result<DesktopState, UserError> {
    Ok(presence.state())
}

#[tauri::command]
pub(crate) async fn set_at_login(
    presence: State<'_, Presence>,
    at_login: AtLogin,
) -> Result<DesktopState, UserError> {
    presence.set_at_login(at_login)
}

#[tauri::command]
pub(crate) async fn answer_closing<R: Runtime>(
    host: AppHandle<R>,
    answer: OnClose,
) -> Result<(), UserError> {
    presence::answer_closing(&host, answer).await
}
