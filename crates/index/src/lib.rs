//! What the notes mean and where words are: search, ranked finding and file patterns.
//!
//! Works on bytes that the vault hands out and sees planned changes as if they were applied.
//! Everything blocks and stops at the deadline it is given, saying that it was cut.

mod all_notes;
mod blocks;
mod error;
mod file_finder;
mod filters;
pub mod fulltext;
mod glob;
mod grep;
mod line_breaks;
pub mod links;
mod matcher;
mod note_matches;
mod note_metadata;
mod overlay;
mod parallel;
pub mod parser;
mod prefix_bloom;
mod queries;
mod query;
mod ranked_search;
mod score;
mod snapshot;
mod state;
mod tokenizer;
mod user_index;
mod vault_index;
mod view;

pub use error::{CutReason, SearchError};
pub use file_finder::FoundFile;
pub use filters::PropertyCount;
pub use glob::{GlobResult, glob};
pub use grep::{GrepHit, GrepQuery, GrepResult, escape_literal};
pub use queries::{BrokenLink, IndexVersion, NoteTask, TagCount, ValueCount};
pub use ranked_search::{NoteFilter, RankedPassages};
pub use user_index::UserIndex;
pub use vault_index::{Coverage, Index, IndexError};
