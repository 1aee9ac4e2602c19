//! Fake desktop services on a private message bus: notifications, tray, network and sleep.

pub mod keyring_daemon;
pub mod logind;
pub mod network_manager;
pub mod notification_server;
pub mod private_bus;
pub mod tray_host;
