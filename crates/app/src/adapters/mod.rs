//! Implements the ports of the crates below over the store, the vault and the settings.

pub(crate) mod active_note;
pub(crate) mod archive;
pub(crate) mod changes;
pub(crate) mod ledger;
pub(crate) mod message_author;
pub(crate) mod notes;
pub(crate) mod pending_overlay;
pub(crate) mod questions;
#[cfg(test)]
pub(crate) mod stored_conversations;
pub(crate) mod transcript;
pub(crate) mod turn_cache;
pub(crate) mod turn_policy;
