//! Journeys through changes of notes: review, single hunks, undo.

pub(crate) mod partial_review;
pub(crate) mod review;
pub(crate) mod undo;
