//! Every tool on a real vault in a temporary folder, through the registry as the turn calls it.

mod call_repair;
mod catalog;
mod commands;
mod conversation_tools;
mod extra_roots;
pub(crate) mod fixture;
mod links;
mod model_mistakes;
mod moves_and_deletions;
mod private_spellings;
mod provenance;
mod read_tools;
mod write_tools;
