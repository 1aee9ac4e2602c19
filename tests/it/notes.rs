//! Reading notes: search and queries, file watching, additional folders, symbolic links.

pub(crate) mod extra_roots;
pub(crate) mod file_watching;
pub(crate) mod note_scaling;
pub(crate) mod queries;
pub(crate) mod search_freshness;
pub(crate) mod symlinks;
