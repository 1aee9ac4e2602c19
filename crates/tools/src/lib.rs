//! What the model may do: one file per tool, the catalog, and the commands that work without one.
//!
//! A tool that looks returns text; a tool that changes returns a plan and writes nothing. All of
//! them see the notes as the conversation does: the files with the waiting changes on top. A
//! failure is text that says what to do next, well enough for a weak model to repair its call.

pub mod archive;
pub mod catalog;
pub mod commands;
pub mod daily;
pub mod desk;
pub mod questions;
pub mod verdict;

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

mod address;
mod candidates;
mod closest;
mod folders;
mod in_the_way;
mod link_keeping;
mod note_text;
mod notes;
mod page;
mod region;
mod resolve_question;
mod workspace;

#[cfg(test)]
mod tests;
