//! End-to-end tests in the real window: the built application, driven as a user drives it.
//!
//! They need the programs that `cargo build --workspace` makes; `./dev e2e` makes them first. With
//! `VAULTMATE_SCREENSHOTS` set to a folder, each test leaves screenshots there.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod changes;
mod chat;
mod input_device;
mod security;
mod system;
mod vault;

use tokio::sync::{Mutex, MutexGuard};

/// One window at a time, because a test measures the speed that a user would feel on a machine of
/// their own.
async fn lock_display() -> MutexGuard<'static, ()> {
    static WINDOW: Mutex<()> = Mutex::const_new(());
    WINDOW.lock().await
}
