//! Reading the vault for the user: search, the note viewer, images, the file watcher, the index, and the folder's state.

pub(crate) mod folder_status;
pub(crate) mod images;
pub(crate) mod index_loop;
pub(crate) mod indexer;
pub(crate) mod mentions;
pub(crate) mod passages;
pub(crate) mod queries;
pub(crate) mod recent;
pub(crate) mod sent_note;
pub(crate) mod viewer;
pub(crate) mod watcher;
