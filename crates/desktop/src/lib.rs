//! The services of the desktop: notifications, tray, keyring, autostart, portal, sleep and network.
//!
//! On Linux they are reached over D-Bus (ADR 0012). A missing service, a service that never answers and a missing
//! bus are no errors and hold up nothing: every wait for one of them is bounded.
//!
//! ```no_run
//! # async fn example() {
//! let mut resumed = desktop::ResumeEvents::subscribe(desktop::Bus::system()).await;
//! resumed.next().await;
//! println!("The computer woke up.");
//! # }
//! ```

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
