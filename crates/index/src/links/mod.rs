//! Links between files: which file a link means, and how links are rewritten when files move.
//!
//! A link resolves as in Obsidian. After a move every link that led to a file leads to the same file, written in the same
//! form; nothing but the targets of such links changes. New bytes are parsed again before they are returned. Notes in extra
//! roots, notes that are not UTF-8 and write-protected notes are never rewritten; they are reported by name. A pattern over
//! the bytes finds the notes that a move may touch, so most are never parsed.

mod backward_order;
mod graph;
mod link_format;
mod prefilter;
mod resolver;
mod rewrite;
mod rewrite_target;
mod same_name;
mod targets;

#[cfg(test)]
mod tests;

pub(crate) use backward_order::{backward_key, compare_with_end, equal_run};
pub use graph::{Backlink, LinkGraph, OutgoingLink};
pub use link_format::LinkFormat;
pub use resolver::LinkResolver;
pub(crate) use resolver::{
    FileNames, NamedFile, candidates_from, file_name, fold_name, relative_to, some_candidates,
};
pub use rewrite::{FormerPaths, LinkProblem, LinkRewrite, RewrittenFile, SkipReason, SkippedFile};
pub use targets::MAX_TARGETS;
pub(crate) use targets::{LinkTargets, TargetCache};
