//! What was applied: the list, the way back, and how long there is one.

use app::App;
use protocol::applied::{
    AppliedHunks, AppliedPage, ChangedSince, Identified, ListApplied, NoteMarks, UndoConflict,
    UndoScope, Undone,
};
use protocol::history::{Age, ForgottenHistory, KeptHistory};
use protocol::{EffectId, NotePath, UserError};
use tauri::State;

use crate::in_vault::InVault;

#[tauri::command]
pub(crate) async fn list_applied(
    app: InVault,
    request: ListApplied,
) -> Result<AppliedPage, UserError> {
    app.list_applied(&request).await
}

#[tauri::command]
pub(crate) async fn applied_hunks(
    app: InVault,
    effect: EffectId,
) -> Result<AppliedHunks, UserError> {
    app.applied_hunks(&effect).await
}

#[tauri::command]
pub(crate) async fn changed_since(
    app: InVault,
    effect: EffectId,
) -> Result<ChangedSince, UserError> {
    app.changed_since(&effect).await
}

#[tauri::command]
pub(crate) async fn note_marks(app: InVault, path: NotePath) -> Result<NoteMarks, UserError> {
    app.note_marks(path).await
}

#[tauri::command]
pub(crate) async fn undo(app: InVault, scope: UndoScope) -> Result<Undone, UserError> {
    app.undo(&scope).await
}

#[tauri::command]
pub(crate) async fn redo(app: InVault, scope: UndoScope) -> Result<Undone, UserError> {
    app.redo(&scope).await
}

#[tauri::command]
pub(crate) async fn reapply(app: InVault, effect: EffectId) -> Result<Undone, UserError> {
    app.reapply(&effect).await
}

#[tauri::command]
pub(crate) async fn settle_conflict(
    app: InVault,
    conflict: UndoConflict,
) -> Result<Undone, UserError> {
    app.settle_conflict(&conflict).await
}

#[tauri::command]
pub(crate) async fn undo_in(app: InVault, identified: Identified) -> Result<Undone, UserError> {
    app.undo_in(&identified).await
}

#[tauri::command]
pub(crate) fn stop_work(app: State<'_, App>, work: u32) {
    app.stop_work(work);
}

#[tauri::command]
pub(crate) async fn history(app: InVault) -> Result<KeptHistory, UserError> {
    app.history().await
}

#[tauri::command]
pub(crate) async fn forget_history(app: InVault, age: Age) -> Result<ForgottenHistory, UserError> {
    app.forget_history(age).await
}
