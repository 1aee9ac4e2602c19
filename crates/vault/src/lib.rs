//! Reads, changes and watches one vault. Knows no models, windows or SQL.
//!
//! [`Vault`] is the only way to the notes' files. It holds the folder as an open handle and lets the kernel resolve
//! every path beneath it, so a symlink or a rename cannot lead outside. Notes change through [`Vault::apply`]
//! alone, which records each intent in a [`ledger::Ledger`] before it touches a file. [`undo`] plans reverts,
//! [`merge`] brings two versions of one note together.
//!
//! ```
//! use protocol::NotePath;
//! use vault::Vault;
//!
//! let folder = tempfile::tempdir().unwrap();
//! std::fs::write(folder.path().join("Tea.md"), "Green\n").unwrap();
//!
//! let vault = Vault::open(folder.path()).unwrap();
//! let note = vault.read(&NotePath::parse("Tea.md").unwrap()).unwrap();
//! assert_eq!(note.bytes, b"Green\n");
//!
//! // The user wrote above, the assistant below: both changes are kept.
//! let merged = vault::merge::merge(b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n");
//! assert_eq!(merged.without_conflicts().unwrap(), b"A\nb\nC\n");
//! ```

mod apply;
mod clock;
mod error;
mod extra_root;
mod filesystem;
pub mod ledger;
pub mod merge;
mod names;
mod privacy_filter;
mod read;
pub mod undo;
mod vault;
mod vault_id;
mod watch;

pub use apply::progress::Progress;
pub use apply::recover::Recovery;
pub use apply::{Applied, ChangeBatch, PlannedChange};
pub use error::user_texts::TEXTS as USER_TEXTS;
pub use error::{ApplyError, OpenError, VaultError};
pub use extra_root::{ExtraRootError, validate_extra_roots};
pub use filesystem::file_times::FileTimes;
pub use filesystem::fingerprint::Fingerprint;
pub use filesystem::note_file::NOTE_LIMIT;
pub use privacy_filter::{PrivacyFilter, TextPrivacy};
pub use read::Note;
pub use read::image::{IMAGE_LIMIT, ImageFormat, NoteImage, PIXEL_LIMIT};
pub use read::listing::{EntryKind, Listing, VaultEntry};
pub use read::obsidian_config::ObsidianFile;
pub use read::unlisted::Unlisted;
pub use vault::{SymlinkPolicy, Vault};
pub use watch::{VaultChange, VaultWatch};
