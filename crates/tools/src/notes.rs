//! The notes as a conversation sees them, with pending changes on top: lookup by name, conflicts, link updates and
//! the lines that were shown.

pub mod daily_note;
pub(crate) mod folder_lookup;
pub(crate) mod link_updates;
pub(crate) mod notes_view;
pub(crate) mod obsidian_workspace;
pub(crate) mod path_conflict;
pub(crate) mod shown_lines;
