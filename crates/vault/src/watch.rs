//! Reports changes of files in the vault, whichever program makes them.
//!
//! A finished save is reported at once, an unfinished one after 5 ms, and [`VaultChange::Everything`] when the system lost
//! reports. Of many files at once, those that changed last come first, so that a save is not behind a checkout of
//! thousands of files. Folders that the kernel cannot watch, and extra roots, are polled with a twentieth of a core at
//! most; folders of network and FUSE disks, which other computers may change unreported, are both watched and polled.

mod event;
mod extra_roots;
mod listing;
mod polling;
mod queue;
mod replacement;
mod sync_cookie;
mod thread;

use std::io;
use std::sync::Arc;

use protocol::{FileId, FileReplacement, NotePath};

use crate::{Vault, VaultError};
use queue::ChangeQueue;
pub(crate) use replacement::TrackedFiles;
use thread::{EventSender, WatchThread};

/// A change in the vault. Protected files, such as our own temporary files, never count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VaultChange {
    /// These files were made, written, renamed or removed; sorted, notes and attachments alike. Of
    /// many each time only some: the rest follows.
    Notes(Vec<NotePath>),
    /// Followed files whose place another one took in one step, in order: the notes go on in these.
    Replaced(Vec<FileReplacement>),
    /// Anything may have changed: look again. Also comes once, when the watch stands: what
    /// happened before may not have been noticed, what happens from then on is.
    Everything,
    /// The vault's folder does not stand under its name any more: removed, renamed or unmounted.
    Gone,
    /// A folder stands there again, and the vault is over that one now. `Everything` follows.
    Back,
    /// The system gives too few watches: folders beyond are looked at in rounds, and their changes
    /// come seconds late. Comes at most once; `why` is a sentence with what to do.
    Late {
        /// The message for the user.
        why: String,
    },
}

/// Tells what changes in a vault. Ends its work when it is dropped.
///
/// A save is told when it has ended, what is half-way after 5 ms. Nobody has to keep up: what was
/// not fetched yet is joined, and comes in parts, in which what was saved last comes first.
#[derive(Debug)]
pub struct VaultWatch {
    queue: Arc<ChangeQueue>,
    sender: EventSender,
}

impl Vault {
    /// Begins to watch the vault, on a thread of its own: a large vault is not waited for. Where
    /// the system gives no watches the folders are looked at in rounds.
    pub fn watch(&self) -> Result<VaultWatch, VaultError> {
        let queue = Arc::new(ChangeQueue::default());
        let (sender, receiver) = thread::event_channel();
        let (vault, changes, own_sender) = (self.clone(), Arc::clone(&queue), sender.clone());
        std::thread::Builder::new()
            .name("vault-watch".to_owned())
            .spawn(move || WatchThread::new(vault, changes, own_sender).run(&receiver))
            .map_err(|source: io::Error| VaultError::Unwatched { source })?;
        Ok(VaultWatch { queue, sender })
    }
}

impl Vault {
    /// Follows these files from now on, with all that [`Vault::apply`] writes: a [`VaultWatch`]
    /// tells which files take their place. A file that is not at its path any more is skipped.
    /// Blocks on the disk.
    pub fn track_files(&self, files: impl IntoIterator<Item = (NotePath, FileId)>) {
        for (path, file) in files {
            if self.file_id(&path) == Some(file) {
                self.tracked_files().track(&path, file);
            }
        }
    }

    /// Follows the file that is at `path` now, as [`Vault::track_files`] does, and returns which it is.
    #[must_use]
    pub fn follow_file(&self, path: &NotePath) -> Option<FileId> {
        let file = self.file_id(path)?;
        self.tracked_files().track(path, file);
        Some(file)
    }

    /// Whether a [`VaultWatch`] saw this file leave another path for `path`, and nothing of its leaving since. A file that
    /// is only followed was not seen to come.
    #[must_use]
    pub fn has_arrived(&self, path: &NotePath, file: FileId) -> bool {
        self.tracked_files().has_arrived(path.as_str(), file)
    }

    /// Whether the note that was in `from` was seen by a [`VaultWatch`] to go on in `to`, by one save that replaced
    /// the file or several. Some thousand saves are remembered, and none from before the start.
    #[must_use]
    pub fn was_replaced_by(&self, from: FileId, to: FileId) -> bool {
        self.tracked_files().was_replaced_by(from, to)
    }
}

impl VaultWatch {
    /// The next change; `None` when the watch has ended. Cancel safe.
    pub async fn next(&mut self) -> Option<VaultChange> {
        self.queue.next().await
    }
}

impl Drop for VaultWatch {
    fn drop(&mut self) {
        self.sender.stop();
    }
}
