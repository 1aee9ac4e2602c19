//! What the desktop offers to whoever runs on it, over its message buses. A desktop without a
//! service, a service that never answers and no bus at all hold up nothing and are no error.

mod autostart;
mod bus;
mod dbus_signals;
mod keyring;
mod network_events;
mod notifications;
mod open_external;
mod portal;
mod resume_events;
mod sanitize;
mod tray;

pub use autostart::Autostart;
pub use bus::Bus;
pub use keyring::{InKeyring, Keyring, KeyringError};
pub use network_events::NetworkEvents;
pub use notifications::{DesktopNotification, NotificationCommand, run_notifications};
pub use open_external::ExternalOpener;
pub use portal::PortalStatus;
pub use resume_events::ResumeEvents;
pub use tray::{TrayBadge, TrayContent, TrayMenuEntry, TrayService};
