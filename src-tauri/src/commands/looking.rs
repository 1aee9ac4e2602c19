//! What is looked up in the notes.

use protocol::looking::{
    CountedWords, FoundLines, FoundNames, Having, LinkRepairs, NoteLinks, NoteList, PrivateNote,
    RepairedLink, SearchText,
};
use protocol::request::NoteText;
use protocol::{NotePath, UserError};

use crate::in_vault::InVault;

#[tauri::command]
pub(crate) async fn find_names(app: InVault, query: String) -> Result<FoundNames, UserError> {
    app.find_names(&query).await
}

#[tauri::command]
pub(crate) async fn search_text(
    app: InVault,
    request: SearchText,
) -> Result<FoundLines, UserError> {
    app.search_text(request).await
}

#[tauri::command]
pub(crate) async fn note_links(
    app: InVault,
    path: NotePath,
) -> Result<Option<NoteLinks>, UserError> {
    app.note_links(path).await
}

#[tauri::command]
pub(crate) async fn private_note(
    app: InVault,
    path: NotePath,
) -> Result<Option<PrivateNote>, UserError> {
    app.private_note(path).await
}

#[tauri::command]
pub(crate) async fn unresolved_links(
    app: InVault,
    query: String,
) -> Result<Option<CountedWords>, UserError> {
    app.unresolved_links(&query).await
}

#[tauri::command]
pub(crate) async fn link_repairs(
    app: InVault,
    link: String,
) -> Result<Option<LinkRepairs>, UserError> {
    app.link_repairs(link).await
}

#[tauri::command]
pub(crate) async fn create_linked_note(
    app: InVault,
    link: String,
) -> Result<RepairedLink, UserError> {
    app.create_linked_note(link).await
}

#[tauri::command]
pub(crate) async fn replace_broken_link(
    app: InVault,
    link: String,
    note: NotePath,
) -> Result<RepairedLink, UserError> {
    app.replace_broken_link(link, note).await
}

#[tauri::command]
pub(crate) async fn dead_links(
    app: InVault,
    links: Vec<String>,
) -> Result<Option<Vec<String>>, UserError> {
    app.dead_links(links).await
}

#[tauri::command]
pub(crate) async fn list_tags(
    app: InVault,
    query: String,
) -> Result<Option<CountedWords>, UserError> {
    app.list_tags(&query).await
}

#[tauri::command]
pub(crate) async fn list_properties(
    app: InVault,
    query: String,
) -> Result<Option<CountedWords>, UserError> {
    app.list_properties(&query).await
}

#[tauri::command]
pub(crate) async fn property_values(
    app: InVault,
    property: String,
    query: String,
) -> Result<Option<CountedWords>, UserError> {
    app.property_values(&property, &query).await
}

#[tauri::command]
pub(crate) async fn notes_having(
    app: InVault,
    having: Having,
) -> Result<Option<NoteList>, UserError> {
    app.notes_having(having).await
}

#[tauri::command]
pub(crate) async fn list_tasks(
    app: InVault,
    query: String,
) -> Result<Option<FoundLines>, UserError> {
    app.list_tasks(&query).await
}

#[tauri::command]
pub(crate) async fn read_note(app: InVault, path: NotePath) -> Result<NoteText, UserError> {
    app.read_note(path).await
}
