//! What the notes mean and where words are: search, ranked finding and file patterns.
//!
//! Works on bytes that the vault hands out and sees planned changes as if they were applied.
//! Everything blocks and stops at the deadline it is given, saying that it was cut.

mod error;
pub mod fulltext;
pub mod links;
mod metadata;
pub mod parser;
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
