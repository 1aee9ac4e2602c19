//! Notes of hostile shapes: whatever is done with one costs as much as the note is long, not as the
//! square of it, in time and in memory.
//!
//! A shape is made, not stored. Each is tried in a process of its own at one size and at twice that
//! size; the second may cost two and a half times the first. A work that is made to be quadratic is
//! held to the same and has to be found out.

mod shape;
mod stage;
mod trial;
mod work;

pub use shape::{SHAPES, Shape};
pub use trial::{Sizes, child, control, run};
use work::{CONTROL, WORKS};
