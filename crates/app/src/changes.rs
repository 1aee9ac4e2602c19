//! Changes to notes: the policy that applies or holds them, review, diffs, undo, and their history.

pub(crate) mod apply_review;
pub(crate) mod assistant_lines;
pub(crate) mod blame;
pub(crate) mod broken_link;
pub(crate) mod diff;
pub(crate) mod diff_since;
pub(crate) mod history;
pub(crate) mod hunk_decisions;
pub(crate) mod link_repair;
pub(crate) mod overwrites;
pub(crate) mod policy;
pub(crate) mod retention;
pub(crate) mod review;
pub(crate) mod undo;
