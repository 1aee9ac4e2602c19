//! A folder of notes that cannot be escaped, lost or torn. Knows no models, windows or SQL.
//!
//! [`Vault`] is the only way to the notes' files. It holds the folder as an open handle and lets
//! the kernel resolve every path beneath it, so a link or a rename cannot lead outside. Notes
//! change through [`Vault::apply`] alone, which records its intent in a [`ledger::Ledger`] first.

mod apply;
mod atomic_file;
mod atomic_group;
mod cached_read;
mod dir_entry;
mod entry_content;
mod error;
mod execute;
mod extra_root;
mod fault_point;
mod file_metadata;
mod file_times;
mod fingerprint;
mod folder;
mod folder_contents;
mod image;
pub mod ledger;
mod listing;
pub mod merge;
mod moved_file;
mod name_key;
mod normalization;
mod obsidian_config;
mod permission;
mod privacy_filter;
mod progress;
mod read;
mod rebase;
mod recover;
mod rename;
mod replace;
mod replaced_backup;
mod replaced_file;
mod resolve;
mod suggestions;
mod symlinks;
mod sync_artifacts;
mod system_folder;
mod system_trash;
mod temp_files;
mod trash;
pub mod undo;
mod vault;
mod vault_id;
mod watch;

pub use apply::{Applied, ChangeBatch, PlannedChange};
pub use error::{ApplyError, OpenError, VaultError};
pub use extra_root::{ExtraRootError, validate_extra_roots};
pub use file_times::FileTimes;
pub use fingerprint::Fingerprint;
pub use image::{IMAGE_LIMIT, ImageFormat, NoteImage, PIXEL_LIMIT};
pub use listing::{EntryKind, Listing, Unlisted, VaultEntry};
pub use obsidian_config::ObsidianFile;
pub use privacy_filter::{PrivacyFilter, TextPrivacy};
pub use progress::Progress;
pub use read::{NOTE_LIMIT, Note};
pub use recover::Recovery;
pub use symlinks::SymlinkPolicy;
pub use vault::Vault;
pub use watch::{VaultChange, VaultWatch};
