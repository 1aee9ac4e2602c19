//! The metadata of notes in the index: links, tags, properties and tasks.

pub(crate) mod filters;
pub(crate) mod note_metadata;
pub(crate) mod queries;
