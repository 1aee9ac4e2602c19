//! Journeys through the real window: the built application, driven as a user drives it.
//!
//! They need the programs that `cargo build --workspace` makes; `./dev e2e` makes them first. With
//! `VAULTMATE_PICTURES` set to a folder, each journey leaves pictures of what it saw there.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod content_security_policy;
mod drag_and_drop;
mod edit_message;
mod errors;
mod first_run;
mod hub_messages;
mod images;
mod input_device;
mod interrupted_turns;
mod large_vault;
mod message_queue;
mod navigation;
mod partial_review;
mod question;
mod review;
mod search;
mod settings;
mod tray_and_notifications;
mod undo;
mod vault_switching;
mod week;

use tokio::sync::{Mutex, MutexGuard};

/// One window at a time: a journey measures what a user would feel on a machine of their own.
async fn lock_display() -> MutexGuard<'static, ()> {
    static WINDOW: Mutex<()> = Mutex::const_new(());
    WINDOW.lock().await
}
