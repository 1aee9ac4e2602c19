//! Two versions of a note that began as one, made into one again: by lines, on bytes, without IO.
//!
//! A line is everything up to and with its `\n`, so line endings, a byte order mark, a missing
//! last newline and bytes that are no text go through unchanged. Both sides' changes come together
//! unless they contradict each other. They **conflict** exactly if
//!
//! - one replaced a line of the base and the other replaced it too or took it out, or
//! - one put lines strictly inside a run of lines that the other replaced, or
//! - both put lines at the same place between two lines, and no earlier version tells their order,
//!   or
//! - together they would glue two lines into one, because one side took away the last newline and
//!   the other put lines behind it.
//!
//! A run of lines counts as replaced when it went and others came in its place. So changes that
//! only touch come together, lines that both took out are gone, lines put among those that the
//! other took out stay, and the same change on both sides is one change.
//!
//! Where both sides changed the frontmatter of a note and its lines would not make the properties that the sides wanted,
//! the whole frontmatter conflicts (`properties`).

mod chunk;
mod hunk;
mod lcs;
mod line_order;
mod lines;
mod properties;
mod three_way;

#[cfg(test)]
mod tests;

pub use hunk::{DiffHunk, HunkSide, assemble, hunks, revert_hunks};
pub use line_order::LineOrder;
pub use three_way::{MergeConflict, Merged, merge, merge_in_order};
