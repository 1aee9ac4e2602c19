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

pub mod conformance;
pub mod corpus;
pub mod desktop_app;
pub mod external_editor;
pub mod fault_injection;
pub mod fault_points;
pub mod generated_vault;
mod http_client;
pub mod hub_soak;
pub mod keyring_daemon;
pub mod logind;
pub mod multi_call;
pub mod network_manager;
pub mod note_changes;
pub mod notification_server;
mod polling;
pub mod private_bus;
pub mod question;
pub mod request_bodies;
pub mod scripted_model;
pub mod search_freshness;
mod stub_tool_deps;
pub mod temp_vault;
pub mod test_hub;
pub mod title;
pub mod tray_host;
pub mod virtual_display;
pub mod web_driver;
pub mod week_journey;
pub mod x11;

pub use desktop_app::{DesktopApp, DesktopHome, UndrivenApp};
pub use keyring_daemon::KeyringDaemon;
pub use logind::FakeLogind;
pub use network_manager::FakeNetworkManager;
pub use notification_server::FakeNotificationServer;
pub use private_bus::PrivateBus;
pub use scripted_model::{Gate, Reply, ScriptedModel};
pub use temp_vault::TempVault;
pub use test_hub::TestHub;
pub use tray_host::FakeTrayHost;
pub use virtual_display::VirtualDisplay;
pub use web_driver::{Key, WebDriver};
pub use x11::X11Client;
