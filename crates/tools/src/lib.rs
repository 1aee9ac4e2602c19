//! What the model may do: one file per tool, the catalog, and the commands that work without one.
//!
//! A tool that looks returns text; a tool that changes returns a plan and writes nothing. All of
//! them see the notes as the conversation does: the files with the waiting changes on top. A
//! failure is text that says what to do next, well enough for a weak model to repair its call.

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
