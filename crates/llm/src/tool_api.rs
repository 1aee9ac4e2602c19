//! The interface between a turn and its tools: traits, the registry, and the log of where a result's words come from.

pub(crate) mod provenance;
pub mod registry;
pub mod tool;
