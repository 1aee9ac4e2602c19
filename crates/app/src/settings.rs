//! The user's settings and secrets: the settings file, changes to it, and the mode in which the application runs.

pub(crate) mod config;
pub(crate) mod key_server;
pub(crate) mod key_target;
pub(crate) mod owned_secret;
pub(crate) mod run_mode;
pub(crate) mod secret_owners;
pub(crate) mod secrets;
pub(crate) mod unlocking;
pub(crate) mod update;
