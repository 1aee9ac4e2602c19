//! Applied changes: the list, undo and redo, and the history behind them.

use app::App;
use protocol::changes::history::{
    AppliedHunks, AppliedPage, ChangedSince, ListApplied, NoteAttribution, UndoConflict,
    UndoResult, UndoScope, UndoTarget,
};
use protocol::changes::retention::{DeletedHistory, HistoryAge, HistoryStats};
use protocol::{EffectId, NotePath, UserError};
use tauri::State;

use crate::vault_app::VaultApp;

#[tauri::command]
pub(crate) async fn list_applied(
    app: VaultApp,
    request: ListApplied,
) -> Result<AppliedPage, UserError> {
    app.list_applied(&request).await
}

#[tauri::command]
pub(crate) async fn applied_hunks(
    app: VaultApp,
    effect: EffectId,
) -> Result<AppliedHunks, UserError> {
    app.applied_hunks(&effect).await
}

#[tauri::command]
pub(crate) async fn diff_since(app: VaultApp, effect: EffectId) -> Result<ChangedSince, UserError> {
    app.diff_since(&effect).await
}

#[tauri::command]
pub(crate) async fn assistant_lines(
    app: VaultApp,
    path: NotePath,
) -> Result<NoteAttribution, UserError> {
    app.assistant_lines(path).await
}

#[tauri::command]
pub(crate) async fn undo(app: VaultApp, scope: UndoScope) -> Result<UndoResult, UserError> {
    app.undo(&scope).await
}

#[tauri::command]
pub(crate) async fn redo(app: VaultApp, scope: UndoScope) -> Result<UndoResult, UserError> {
    app.redo(&scope).await
}

#[tauri::command]
pub(crate) async fn reapply(app: VaultApp, effect: EffectId) -> Result<UndoResult, UserError> {
    app.reapply(&effect).await
}

#[tauri::command]
pub(crate) async fn resolve_conflict(
    app: VaultApp,
    conflict: UndoConflict,
) -> Result<UndoResult, UserError> {
    app.resolve_conflict(&conflict).await
}

#[tauri::command]
pub(crate) async fn undo_in_note(
    app: VaultApp,
    identified: UndoTarget,
) -> Result<UndoResult, UserError> {
    app.undo_in_note(&identified).await
}

#[tauri::command]
pub(crate) async fn stop_job(app: State<'_, App>, work: u32) -> Result<(), UserError> {
    app.stop_job(work);
    Ok(())
}

#[tauri::command]
pub(crate) async fn history(app: VaultApp) -> Result<HistoryStats, UserError> {
    app.history_stats().await
}

#[tauri::command]
pub(crate) async fn delete_history(
    app: VaultApp,
    age: HistoryAge,
) -> Result<DeletedHistory, UserError> {
    app.delete_history(age).await
}
