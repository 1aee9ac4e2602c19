//! Changes of notes: policy, review, undo, attribution and history.

pub(crate) mod atomic_groups;
pub(crate) mod attribution;
pub(crate) mod broken_link;
pub(crate) mod change_policy;
pub(crate) mod concurrent_editor;
pub(crate) mod conflict_answers;
pub(crate) mod delete_history;
pub(crate) mod partial_review;
pub(crate) mod review;
pub(crate) mod undo;
pub(crate) mod undo_identity;
pub(crate) mod undo_move_identity;
pub(crate) mod undo_moves;
pub(crate) mod undo_places;
