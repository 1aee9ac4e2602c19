//! Reading the vault for the user: search, the note viewer, images, the file watcher, the index, and the folder's state.

pub(crate) mod folder_status;
pub(crate) mod images;
pub(crate) mod index_loop;
pub(crate) mod indexer;
pub(crate) mod mentions;
pub(crate) mod open_note;
pub(crate) mod passages;
pub(crate) mod queries;
pub(crate) mod recent;
pub(crate) mod sent_note;
pub(crate) mod viewer;
pub(crate) mod watcher;

use std::sync::Arc;

use vault::Vault;

use folder_status::FolderStatus;
use indexer::Indexer;
use viewer::NoteViewer;

/// The notes of an open vault as the user sees them.
pub(crate) struct Notes {
    pub(crate) vault: Vault,
    /// The search index of the notes.
    pub(crate) indexer: Indexer,
    pub(crate) viewer: NoteViewer,
    pub(crate) folder: Arc<FolderStatus>,
}
