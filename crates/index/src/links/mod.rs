//! Links between files: which file a link means, and what must be written anew when files move.
//!
//! A link resolves as in Obsidian. After a move every link that led to a file leads to the same
//! file, in the manner it was written; nothing but the targets of such links changes.

mod canvas;
mod format;
mod graph;
mod mention;
mod resolver;
mod respell;
mod rewrite;
mod spelled;
mod targets;

#[cfg(test)]
mod tests;

pub use format::LinkFormat;
pub use graph::{Backlink, Graph, Outgoing};
pub use resolver::Resolver;
pub(crate) use resolver::{File, Names, candidates_from, fold, name, relative_to};
pub use rewrite::{Left, LeftBecause, LinkProblem, Rewriting, Rewritten};
pub use spelled::Spelled;
pub use targets::MOST_TARGETS;
pub(crate) use targets::Targets;
