//! Typed commands that look: they find, list and open notes.

pub(crate) mod find;
pub(crate) mod links;
pub(crate) mod list;
pub(crate) mod open;
pub(crate) mod tags;
pub(crate) mod tasks;
