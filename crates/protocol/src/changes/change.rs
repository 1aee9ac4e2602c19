//! Planned changes of notes. A changing tool returns a [`ChangeSet`] and writes nothing.

mod action;
mod change_set;
mod content_changes;
mod folder_contents;
mod intent;
mod renames;
#[cfg(test)]
mod tests;

pub use action::{Change, ChangeAction, ChangeKind, RenamedKind, TrashedFile};
pub use change_set::{ChangeSet, ChangeSetConflict, DiskLocations, PlannedState};
pub use folder_contents::{FileState, FolderContents};
pub use intent::{Intent, IntentState, SettledIntent};
pub use renames::Renames;
