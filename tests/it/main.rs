//! Tests of the whole without a window, in one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and these tests read the sources, not notes"
)]

mod architecture;
mod changes;
mod chat;
pub(crate) mod cli_ask;
mod cli_help;
mod durability;
mod harness;
mod hub;
mod models;
mod notes;
mod privacy;
mod security;
mod settings;
mod user_errors;
