//! Names of notes: which note a text means, which names collide, and which to suggest.

pub(crate) mod name_key;
pub(crate) mod normalization;
pub(crate) mod resolve;
pub(crate) mod suggestions;
pub(crate) mod sync_artifacts;
