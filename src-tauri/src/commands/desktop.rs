//! The desktop around the window.

use app::App;
use protocol::desktop::{AutostartMode, DesktopState, OnClose};
use protocol::{ConversationId, UserError};
use tauri::{AppHandle, Runtime, State};

use crate::lifecycle::{self, WindowLifecycle};

#[tauri::command]
pub(crate) async fn set_window_focus(
    app: State<'_, App>,
    conversation: Option<ConversationId>,
) -> Result<(), UserError> {
    app.set_window_focus(|looking| looking.conversation = conversation);
    Ok(())
}

#[tauri::command]
pub(crate) async fn desktop_state(
    presence: State<'_, WindowLifecycle>,
) -> Result<DesktopState, UserError> {
    Ok(presence.desktop_state())
}

#[tauri::command]
pub(crate) async fn set_autostart(
    presence: State<'_, WindowLifecycle>,
    at_login: AutostartMode,
) -> Result<DesktopState, UserError> {
    presence.set_autostart(at_login)
}

#[tauri::command]
pub(crate) async fn answer_close_request<R: Runtime>(
    host: AppHandle<R>,
    answer: OnClose,
) -> Result<(), UserError> {
    lifecycle::answer_close_request(&host, answer).await
}
