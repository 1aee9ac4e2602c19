//! The tools that a model may use, one file each, their catalog, and the commands that work without a model.
//!
//! A read tool returns text. A write tool returns a plan and writes nothing. All of them see the notes as the
//! conversation does: the files with the pending changes on top. A failure is text that says what to do next, so that
//! a weak model can repair its call.
//!
//! ```
//! use tools::catalog::{MINIMAL_TOOLS, READ_ONLY_TOOLS, SMALL_MODEL_TOOLS};
//!
//! assert!(READ_ONLY_TOOLS.contains(&"read_file"));
//! assert!(!READ_ONLY_TOOLS.contains(&"edit_file"));
//! // A model with little room is offered few tools.
//! assert!(MINIMAL_TOOLS.iter().all(|tool| SMALL_MODEL_TOOLS.contains(tool)));
//! ```

pub mod catalog;
pub mod commands;
pub mod plan_outcome;

mod show_changes;

mod conversation_tools;
pub mod notes;
pub mod ports;
mod read_tools;
#[cfg(test)]
mod tests;
mod text;
mod write_tools;
