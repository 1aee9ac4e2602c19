//! Typed commands that change notes.

pub(crate) mod append;
pub(crate) mod delete;
pub(crate) mod move_note;
pub(crate) mod new;
pub(crate) mod replace;
pub(crate) mod today;
