//! The link to a message hub: a client that reconnects automatically.
//!
//! [`start`] runs the link as one task. It connects only with a [`LinkConfig`], which proves that URL, name and
//! description are sound; it reports its state and each message as a [`HubEvent`]; and it acknowledges a message only when
//! the [`Receipt`] is given back. The purpose of a message, and where it is kept, are not known here.
//!
//! [`wire`] has the frames of the protocol and [`websocket`] the bounds of its sockets, for the server's side too.
//!
//! ```
//! use hub::LinkConfig;
//!
//! let local = LinkConfig::new("ws://127.0.0.1:9473", "garden", "Notes about the garden").unwrap();
//! assert!(local.is_loopback());
//!
//! // Without TLS, only a hub on this computer is accepted.
//! assert!(LinkConfig::new("ws://hub.example", "garden", "Notes about the garden").is_err());
//! ```

mod clock;
mod config;
mod driver;
mod endpoint;
mod handle;
mod link_error;
mod response;
mod sleep_detector;
mod socket;
mod state_machine;
mod tls;
pub mod websocket;
pub mod wire;

pub use config::user_texts::TEXTS as USER_TEXTS;
pub use config::{ConfigProblem, LinkConfig, Token, check_description, check_name};
pub use driver::{start, start_timed};
pub use endpoint::loopback_ip;
pub use handle::{HubEvent, HubHandle, IncomingMessage, NotOnline, Receipt};
pub use response::{HubResponse, Priority};
pub use state_machine::LinkTiming;
