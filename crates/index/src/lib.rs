//! What the notes mean and where words are: search, ranked finding and file patterns.
//!
//! Works on bytes that the vault hands out and sees planned changes as if they were applied.
//! Everything blocks and stops at the deadline it is given, saying that it was cut.

mod error;
mod find;
mod glob;
pub mod links;
pub mod markdown;
mod notes;
mod overlaid;
mod parallel;
mod passage;
mod reading;
mod score;
mod search;
mod words;

pub use error::{Cut, SearchError};
pub use find::{Ranked, find};
pub use glob::{Globbed, glob};
pub use search::{Found, Hit, Query, search};
