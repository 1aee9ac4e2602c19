//! Tests of the whole without a window, in one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and these tests read the sources, not notes"
)]

mod architecture;
mod broken_link;
mod changes;
mod chat;
mod cli_ask;
mod context_use;
mod durability;
mod harness;
mod hub;
mod key_trial;
mod keyring;
mod models;
mod notes;
mod privacy;
mod reactions;
mod security;
mod settings;
mod user_errors;
