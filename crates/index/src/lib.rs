//! Search, links, tags, properties and tasks of a vault's notes.
//!
//! It works on the bytes that the vault hands out, and sees planned changes as if they were applied. Every search
//! blocks, stops at the deadline that it is given, and says so when its result was cut. [`Index`] serves models and
//! leaves private notes out; [`UserIndex`] serves the user.
//!
//! One thread owns the state of an index and carries out commands one after the other. Readers hold a view, which never
//! changes and which a change replaces; both share the snapshot and the data of each unchanged file. Long work on the
//! files of the index runs with a permit of the owner, while notes are refreshed.
//!
//! [`links`] resolves and rewrites links, [`fulltext`] ranks notes by words.
//!
//! ```
//! use index::links::LinkResolver;
//! use protocol::NotePath;
//!
//! let path = |text| NotePath::parse(text).unwrap();
//! let notes: LinkResolver = [path("Garden/Beds.md"), path("Plan.md")].into_iter().collect();
//! assert_eq!(notes.resolve("beds", &path("Plan.md")), Some(path("Garden/Beds.md")));
//! ```

mod clock;
mod error;
pub mod fulltext;
pub mod links;
mod metadata;
mod query;
mod search;
mod snapshot;
mod user_index;
mod vault_index;
mod vault_scan;
mod view;

pub use error::{CutReason, SearchError};
pub use metadata::filters::PropertyCount;
pub use metadata::queries::{BrokenLink, IndexVersion, NoteTask, TagCount, ValueCount};
pub use search::file_finder::FoundFile;
pub use search::glob::{GlobResult, glob};
pub use search::grep::{GrepHit, GrepQuery, GrepResult, escape_literal};
pub use search::ranked_search::{NoteFilter, RankedPassages};
pub use user_index::UserIndex;
pub use vault_index::{Coverage, Index, IndexError};
