//! End-to-end tests of changes in notes: review, single hunks, undo.

pub(crate) mod partial_review;
pub(crate) mod review;
pub(crate) mod undo;
