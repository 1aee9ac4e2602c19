//! The tools that find, list and read notes.

pub(crate) mod find_notes;
pub(crate) mod get_active_note;
pub(crate) mod get_file_info;
pub(crate) mod get_links;
pub(crate) mod list_files;
pub(crate) mod list_tags;
pub(crate) mod read_file;
pub(crate) mod search_files;
