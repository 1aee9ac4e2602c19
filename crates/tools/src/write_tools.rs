//! The tools that plan changes of notes: edit, append, write, move, delete and create.

pub(crate) mod append_file;
pub(crate) mod create_folder;
pub(crate) mod delete_file;
pub(crate) mod edit;
pub(crate) mod edit_file;
pub(crate) mod edit_section;
pub(crate) mod move_file;
pub(crate) mod set_property;
pub(crate) mod write_file;
