//! The application on a desktop: hub messages, settings, tray and notifications.

pub(crate) mod hub_messages;
pub(crate) mod settings;
pub(crate) mod tray_and_notifications;
