//! The data directory on disk: which data folder belongs to which vault, its locks, opening it, and recovery after a crash.

pub(crate) mod crash_recovery;
pub(crate) mod data_dir;
pub(crate) mod interrupted_call;
pub(crate) mod open_and_lock;
pub(crate) mod open_database;
pub(crate) mod resume_decision;
pub(crate) mod sample;
pub(crate) mod single_instance;
pub(crate) mod vault_lock;
pub(crate) mod vault_registry;
pub(crate) mod write_lock;
