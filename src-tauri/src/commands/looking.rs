//! What is looked up in the notes.

use app::App;
use protocol::looking::{
    CountedWords, FoundLines, FoundNames, Having, NoteLinks, NoteList, SearchText,
};
use protocol::request::NoteText;
use protocol::{NotePath, UserError};
use tauri::State;

#[tauri::command]
pub(crate) async fn find_names(
    app: State<'_, App>,
    query: String,
) -> Result<FoundNames, UserError> {
    app.find_names(&query).await
}

#[tauri::command]
pub(crate) async fn search_text(
    app: State<'_, App>,
    request: SearchText,
) -> Result<FoundLines, UserError> {
    app.search_text(request).await
}

#[tauri::command]
pub(crate) async fn note_links(
    app: State<'_, App>,
    path: NotePath,
) -> Result<Option<NoteLinks>, UserError> {
    app.note_links(path).await
}

#[tauri::command]
pub(crate) async fn unresolved_links(
    app: State<'_, App>,
    query: String,
) -> Result<Option<CountedWords>, UserError> {
    app.unresolved_links(&query).await
}

#[tauri::command]
pub(crate) async fn dead_links(
    app: State<'_, App>,
    links: Vec<String>,
) -> Result<Option<Vec<String>>, UserError> {
    app.dead_links(links).await
}

#[tauri::command]
pub(crate) async fn list_tags(
    app: State<'_, App>,
    query: String,
) -> Result<Option<CountedWords>, UserError> {
    app.list_tags(&query).await
}

#[tauri::command]
pub(crate) async fn list_properties(
    app: State<'_, App>,
    query: String,
) -> Result<Option<CountedWords>, UserError> {
    app.list_properties(&query).await
}

#[tauri::command]
pub(crate) async fn property_values(
    app: State<'_, App>,
    property: String,
    query: String,
) -> Result<Option<CountedWords>, UserError> {
    app.property_values(&property, &query).await
}

#[tauri::command]
pub(crate) async fn notes_having(
    app: State<'_, App>,
    having: Having,
) -> Result<Option<NoteList>, UserError> {
    app.notes_having(having).await
}

#[tauri::command]
pub(crate) async fn list_tasks(
    app: State<'_, App>,
    query: String,
) -> Result<Option<FoundLines>, UserError> {
    app.list_tasks(&query).await
}

#[tauri::command]
pub(crate) async fn read_note(app: State<'_, App>, path: NotePath) -> Result<NoteText, UserError> {
    app.read_note(path).await
}
