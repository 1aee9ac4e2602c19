//! What was applied: the list, the way back, and how long there is one.

use app::App;
use protocol::applied::{
    AppliedHunks, AppliedPage, ChangedSince, Identified, ListApplied, NoteMarks, UndoConflict,
    UndoScope, Undone,
};
use protocol::history::{Age, ForgottenHistory, KeptHistory};
use protocol::{EffectId, NotePath, UserError};
use tauri::State;

#[tauri::command]
pub(crate) async fn list_applied(
    app: State<'_, App>,
    request: ListApplied,
) -> Result<AppliedPage, UserError> {
    app.list_applied(&request).await
}

#[tauri::command]
pub(crate) async fn applied_hunks(
    app: State<'_, App>,
    effect: EffectId,
) -> Result<AppliedHunks, UserError> {
    app.applied_hunks(&effect).await
}

#[tauri::command]
pub(crate) async fn changed_since(
    app: State<'_, App>,
    effect: EffectId,
) -> Result<ChangedSince, UserError> {
    app.changed_since(&effect).await
}

#[tauri::command]
pub(crate) async fn note_marks(
    app: State<'_, App>,
    path: NotePath,
) -> Result<NoteMarks, UserError> {
    app.note_marks(path).await
}

#[tauri::command]
pub(crate) async fn undo(app: State<'_, App>, scope: UndoScope) -> Result<Undone, UserError> {
    app.undo(&scope).await
}

#[tauri::command]
pub(crate) async fn redo(app: State<'_, App>, scope: UndoScope) -> Result<Undone, UserError> {
    app.redo(&scope).await
}

#[tauri::command]
pub(crate) async fn reapply(app: State<'_, App>, effect: EffectId) -> Result<Undone, UserError> {
    app.reapply(&effect).await
}

#[tauri::command]
pub(crate) async fn settle_conflict(
    app: State<'_, App>,
    conflict: UndoConflict,
) -> Result<Undone, UserError> {
    app.settle_conflict(&conflict).await
}

#[tauri::command]
pub(crate) async fn undo_in(
    app: State<'_, App>,
    identified: Identified,
) -> Result<Undone, UserError> {
    app.undo_in(&identified).await
}

#[tauri::command]
pub(crate) fn stop_work(app: State<'_, App>, work: u32) {
    app.stop_work(work);
}

#[tauri::command]
pub(crate) async fn history(app: State<'_, App>) -> Result<KeptHistory, UserError> {
    app.history().await
}

#[tauri::command]
pub(crate) async fn forget_history(
    app: State<'_, App>,
    age: Age,
) -> Result<ForgottenHistory, UserError> {
    app.forget_history(age).await
}
