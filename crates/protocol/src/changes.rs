//! Changes to notes: planned sets, reviews, applied changes, and how long their history is kept.

pub mod change;
pub mod effect;
pub mod history;
pub mod retention;
pub mod review;
