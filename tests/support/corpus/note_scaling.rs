//! Notes of hostile shapes: whatever is done with one costs as much as the note is long, not as the
//! square of it, in time and in memory.
//!
//! A shape is made, not stored. Each is tried in a process of its own at one size and at twice that
//! size; the second may cost two and a half times the first. A work that is made to be quadratic is
//! held to the same and has to be found out.

mod fixture;
mod note_shapes;
mod operations;
mod runner;

pub use note_shapes::{NoteShape, SHAPES};
use operations::{OPERATIONS, QUADRATIC_CONTROL};
pub use runner::{ScalingLimits, check_control, run, run_child};
