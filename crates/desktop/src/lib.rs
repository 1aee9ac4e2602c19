//! What the desktop offers to whoever runs on it, over its message buses. A desktop without a
//! service, a service that never answers and no bus at all hold up nothing and are no error.

mod bus;
mod keyring;
mod login;
mod network;
mod notifications;
mod outside;
mod portal;
mod signals;
mod sleep;
mod tray;
mod words;

pub use bus::Bus;
pub use keyring::{InKeyring, Keyring, KeyringError};
pub use login::Login;
pub use network::Arrivals;
pub use notifications::{Card, Order, carry_out};
pub use outside::Outside;
pub use portal::Portal;
pub use sleep::Wakings;
pub use tray::{Entry, Look, Mark, Tray};
