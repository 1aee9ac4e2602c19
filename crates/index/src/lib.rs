//! What the notes mean and where words are: search, ranked finding and file patterns.
//!
//! Works on bytes that the vault hands out and sees planned changes as if they were applied.
//! Everything blocks and stops at the deadline it is given, saying that it was cut.

mod asked;
mod beginnings;
mod breaks;
mod error;
mod facts;
mod find;
mod glob;
mod having;
mod index;
mod known;
pub mod links;
mod live;
pub mod markdown;
mod names;
mod notes;
mod overlaid;
mod parallel;
mod passage;
pub mod ranked;
mod ranking;
mod reading;
mod score;
mod search;
mod snapshot;
mod units;
mod user;
mod words;

pub use error::{Cut, SearchError};
pub use find::{Narrow, Ranked};
pub use glob::{Globbed, glob};
pub use having::PropertyCount;
pub use index::{Coverage, Index, IndexError};
pub use known::{KnownTask, Moment, TagCount, Unresolved, ValueCount};
pub use names::Named;
pub use search::{Found, Hit, Query, literal};
pub use user::UserIndex;
