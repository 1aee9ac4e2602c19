//! Two versions of a note that began as one, made into one again: by lines, on bytes, without IO.
//!
//! A line is everything up to and with its `\n`, so line endings, a byte order mark, a missing
//! last newline and bytes that are no text go through unchanged. Where both sides changed, they
//! conflict exactly if they **overlap**:
//!
//! - both took out or replaced the same line of the base, or
//! - one put lines strictly inside a run of lines that the other took out or replaced, or
//! - both put lines at the same place between two lines: their order would be a guess, or
//! - together they would glue two lines into one, because one side took away the last newline
//!   and the other put lines behind it.
//!
//! Changes that only touch do not overlap, and the same change on both sides is one change.

mod compare;
mod hunk;
mod lines;
mod three_way;

#[cfg(test)]
mod tests;

pub use hunk::{Hunk, hunks, without};
pub use three_way::{Conflict, Merged, merge};
