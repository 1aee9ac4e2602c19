//! What the model may do: one file per tool, the catalog, and the commands that work without one.
//!
//! A tool that looks returns text; a tool that changes returns a plan and writes nothing. All of
//! them see the notes as the conversation does: the files with the waiting changes on top. A
//! failure is text that says what to do next, well enough for a weak model to repair its call.

pub mod catalog;
pub mod commands;
pub mod conversation_archive;
pub mod daily_note;
pub mod environment;
pub mod plan_outcome;
pub mod question_resolver;

mod append_file;
mod create_folder;
mod delete_file;
mod edit;
mod edit_file;
mod end_conversation;
mod find_notes;
mod get_active_note;
mod get_conversation;
mod get_current_time;
mod get_file_info;
mod get_links;
mod list_files;
mod list_tags;
mod move_file;
mod read_file;
mod read_result;
mod search_files;
mod send_message;
mod show_changes;
mod show_note;
mod write_file;

mod folder_lookup;
mod heading_ref;
mod link_updates;
mod notes_view;
mod numbered_page;
mod obsidian_workspace;
mod path_conflict;
mod resolve_question;
mod similar_lines;
mod suggestions;
mod text_encoding;
mod text_span;

#[cfg(test)]
mod tests;
