//! Every tool on a real vault in a temporary folder, through the registry as the turn calls it.

pub(crate) mod bench;
mod catalog;
mod changing;
mod chat;
mod extra_roots;
mod labels;
mod linking;
mod looking;
mod mistakes;
mod moving;
mod repairer;
mod spelled;
mod talking;
