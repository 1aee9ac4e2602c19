//! Reads notes directly from the vault, in parallel, with planned changes on top.

pub(crate) mod all_notes;
pub(crate) mod overlay;
pub(crate) mod parallel;
