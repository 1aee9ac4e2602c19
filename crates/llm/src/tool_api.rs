//! The interface between a turn and its tools: traits, the registry, and the log of a result's
//! sources.

pub mod page_marks;
pub(crate) mod provenance;
pub mod registry;
pub mod tool;
