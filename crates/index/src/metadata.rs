//! What the index knows about notes beside their text: links, tags, properties and tasks.

pub(crate) mod filters;
pub(crate) mod note_metadata;
pub(crate) mod queries;
