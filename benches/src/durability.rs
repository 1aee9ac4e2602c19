//! Durable edits of notes: the product, a bare program that does the least, and the syncs of both.

pub(crate) mod bare_edit;
pub(crate) mod durable_edit;
pub(crate) mod fsync_count;
pub(crate) mod vault_and_ledger;
