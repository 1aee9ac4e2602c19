//! Named places where a test may end the process.
//!
//! Each durable step and file operation calls [`point`] before and after it acts. In production
//! nothing is installed and a point is one load of an empty cell. The crash tests install a
//! handler that counts the points and kills its own process at the n-th.

use std::sync::OnceLock;

static HANDLER: OnceLock<fn(&'static str)> = OnceLock::new();

/// Installs the handler for the life of the process; the first one stays.
pub fn install_handler(handler: fn(&'static str)) {
    let _ = HANDLER.set(handler);
}

/// Marks a place between two durable steps. `name` reads `crate.operation.before|after`.
pub fn point(name: &'static str) {
    if let Some(handler) = HANDLER.get() {
        handler(name);
    }
}
