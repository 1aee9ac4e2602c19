//! Queries over the notes.

use protocol::notes::query::{
    CountedValues, LineMatches, LinkRepairs, MentionTarget, NameMatch, NameMatches, NoteCriterion,
    NoteLinks, NoteList, PrivateNote, RepairedLink, TextSearch,
};
use protocol::request::NoteContent;
use protocol::{NotePath, UserError};

use crate::vault_app::VaultApp;

#[tauri::command]
pub(crate) async fn find_names(app: VaultApp, query: String) -> Result<NameMatches, UserError> {
    app.find_names(&query).await
}

#[tauri::command]
pub(crate) async fn notes_named(
    app: VaultApp,
    file_name: String,
) -> Result<Vec<NameMatch>, UserError> {
    app.notes_named(&file_name).await
}

#[tauri::command]
pub(crate) async fn search_text(
    app: VaultApp,
    request: TextSearch,
) -> Result<LineMatches, UserError> {
    app.search_text(request).await
}

#[tauri::command]
pub(crate) async fn note_links(
    app: VaultApp,
    path: NotePath,
) -> Result<Option<NoteLinks>, UserError> {
    app.note_links(path).await
}

#[tauri::command]
pub(crate) async fn private_note(
    app: VaultApp,
    path: NotePath,
) -> Result<Option<PrivateNote>, UserError> {
    app.private_note(path).await
}

#[tauri::command]
pub(crate) async fn private_mentions(
    app: VaultApp,
    mentions: Vec<MentionTarget>,
) -> Result<Vec<Option<PrivateNote>>, UserError> {
    app.private_mentions(mentions).await
}

#[tauri::command]
pub(crate) async fn unresolved_links(
    app: VaultApp,
    query: String,
) -> Result<Option<CountedValues>, UserError> {
    app.unresolved_links(&query).await
}

#[tauri::command]
pub(crate) async fn link_repairs(
    app: VaultApp,
    link: String,
) -> Result<Option<LinkRepairs>, UserError> {
    app.link_repairs(link).await
}

#[tauri::command]
pub(crate) async fn create_linked_note(
    app: VaultApp,
    link: String,
) -> Result<RepairedLink, UserError> {
    app.create_linked_note(link).await
}

#[tauri::command]
pub(crate) async fn replace_broken_link(
    app: VaultApp,
    link: String,
    note: NotePath,
) -> Result<RepairedLink, UserError> {
    app.replace_broken_link(link, note).await
}

#[tauri::command]
pub(crate) async fn broken_links(
    app: VaultApp,
    links: Vec<String>,
) -> Result<Option<Vec<String>>, UserError> {
    app.broken_links(links).await
}

#[tauri::command]
pub(crate) async fn list_tags(
    app: VaultApp,
    query: String,
) -> Result<Option<CountedValues>, UserError> {
    app.list_tags(&query).await
}

#[tauri::command]
pub(crate) async fn list_properties(
    app: VaultApp,
    query: String,
) -> Result<Option<CountedValues>, UserError> {
    app.list_properties(&query).await
}

#[tauri::command]
pub(crate) async fn property_values(
    app: VaultApp,
    property: String,
    query: String,
) -> Result<Option<CountedValues>, UserError> {
    app.property_values(&property, &query).await
}

#[tauri::command]
pub(crate) async fn notes_matching(
    app: VaultApp,
    having: NoteCriterion,
) -> Result<Option<NoteList>, UserError> {
    app.notes_matching(having).await
}

#[tauri::command]
pub(crate) async fn list_tasks(
    app: VaultApp,
    query: String,
) -> Result<Option<LineMatches>, UserError> {
    app.list_tasks(&query).await
}

#[tauri::command]
pub(crate) async fn read_note(app: VaultApp, path: NotePath) -> Result<NoteContent, UserError> {
    app.read_note(path).await
}
