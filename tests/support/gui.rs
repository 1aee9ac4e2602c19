//! Drives the built application: an X server, X11 input, WebDriver and end-to-end tests in the
//! window.

pub mod desktop_app;
pub mod virtual_display;
pub mod web_driver;
pub mod week_journey;
pub mod x11;
