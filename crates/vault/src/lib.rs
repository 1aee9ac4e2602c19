//! A folder of notes that cannot be escaped, lost or torn. Knows no models, windows or SQL.
//!
//! [`Vault`] is the only way to the notes' files. It holds the folder as an open handle and lets
//! the kernel resolve every path beneath it, so a link or a rename cannot lead outside. Notes
//! change through [`Vault::apply`] alone, which records its intent in a [`ledger::Ledger`] first.

mod act;
mod apply;
mod at_hand;
mod carrying;
mod dates;
mod elsewhere;
mod error;
mod extra_root;
mod fold;
mod folder;
mod folder_contents;
mod found;
mod identity;
mod keep;
pub mod ledger;
mod leftovers;
mod link;
mod list;
pub mod merge;
mod nearest;
mod obsidian;
mod old_file;
mod permission;
mod picture;
mod place;
mod progress;
mod read;
mod rebase;
mod recover;
mod replaced;
mod resolve;
mod root;
mod screen;
mod spot;
mod stamp;
mod step;
mod swap;
mod sync;
mod system_folder;
mod system_trash;
mod trash;
mod twin;
pub mod undo;
mod unit;
mod watch;

pub use apply::{Applied, Order, Planned};
pub use dates::Dates;
pub use error::{ApplyError, OpenError, VaultError};
pub use extra_root::{ExtraRootError, admit_extra_roots};
pub use link::Links;
pub use list::{Entry, EntryKind, Listing, Unlisted};
pub use obsidian::Setting;
pub use picture::{PICTURE_LIMIT, POINTS_LIMIT, Picture, PictureKind};
pub use progress::Progress;
pub use read::{NOTE_LIMIT, Note};
pub use recover::Recovery;
pub use root::Vault;
pub use screen::{Judged, Screen};
pub use stamp::Stamp;
pub use watch::{Changed, Watch};
