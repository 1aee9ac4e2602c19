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
pub mod dbus;
pub mod fault_injection;
pub mod gui;
mod http_client;
pub mod hub_soak;
mod polling;
pub mod scripted_model;
pub mod search_freshness;
pub mod stories;
mod stub_tool_deps;
pub mod test_hub;
pub mod vaults;

pub use dbus::keyring_daemon::KeyringDaemon;
pub use dbus::logind::FakeLogind;
pub use dbus::network_manager::FakeNetworkManager;
pub use dbus::notification_server::FakeNotificationServer;
pub use dbus::private_bus::PrivateBus;
pub use dbus::tray_host::FakeTrayHost;
pub use gui::desktop_app::{DesktopApp, DesktopHome, UndrivenApp};
pub use gui::virtual_display::VirtualDisplay;
pub use gui::web_driver::{Key, WebDriver};
pub use gui::x11::X11Client;
pub use scripted_model::{Gate, Reply, ScriptedModel};
pub use test_hub::TestHub;
pub use vaults::temp_vault::TempVault;
