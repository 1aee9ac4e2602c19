//! The seams of the crates below, implemented over the store, the vault and the settings.

pub(crate) mod archive;
pub(crate) mod changes;
pub(crate) mod desk;
pub(crate) mod earlier;
pub(crate) mod host;
pub(crate) mod ledger;
pub(crate) mod notes;
pub(crate) mod questions;
pub(crate) mod transcript;
