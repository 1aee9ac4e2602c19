//! The testkit: real folders, a real model server, a real hub, a real display and window.
//!
//! Everything here is the real thing with a script behind it: files on disk, HTTP on loopback,
//! WebSockets, an X server. Nothing sleeps for a fixed time; what is waited for has a deadline and
//! a sentence that says what did not come. A test fails by panicking, so these tools may panic.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test's tools fail the test by panicking, and own the files they make"
)]

pub mod bodies;
pub mod conformance;
pub mod corpus;
pub mod desktop_app;
pub mod display;
pub mod faults;
pub mod fresh;
mod http;
pub mod hub_weather;
pub mod keyring_daemon;
pub mod long_story;
pub mod many_notes;
mod nothing;
pub mod notice_board;
pub mod outside_editor;
pub mod plug;
pub mod private_bus;
pub mod question_story;
pub mod roamer;
pub mod scripted_model;
pub mod sleeper;
pub mod story;
pub mod temp_vault;
pub mod test_hub;
pub mod titled_story;
pub mod tray_host;
mod wait;
pub mod web_driver;
pub mod week;
pub mod windows;

pub use desktop_app::{DesktopApp, DesktopHome, Undriven};
pub use display::Display;
pub use keyring_daemon::KeyringDaemon;
pub use notice_board::NoticeBoard;
pub use private_bus::PrivateBus;
pub use roamer::Roamer;
pub use scripted_model::{Gate, Reply, ScriptedModel};
pub use sleeper::Sleeper;
pub use temp_vault::TempVault;
pub use test_hub::TestHub;
pub use tray_host::TrayHost;
pub use web_driver::{Key, WebDriver};
pub use windows::Windows;
