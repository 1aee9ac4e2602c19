//! The hub link: a client that stays connected by itself, and a small hub for those without one.
//!
//! [`start`] runs the link as one task. It dials only what a [`LinkConfig`] has proven to be sound,
//! tells through [`HubEvent`]s how it stands and what came, and acknowledges a message only when
//! the [`Receipt`] is given back. What a message is for, and where it is kept, is not known here.

mod config;
mod driver;
mod endpoint;
mod handle;
mod link_error;
pub mod local;
mod response;
mod sleep_detector;
mod socket;
mod state_machine;
mod tls;
mod wire;

pub use config::{ConfigProblem, LinkConfig, Token};
pub use driver::{start, start_timed};
pub use handle::{HubEvent, HubHandle, IncomingMessage, NotOnline, Receipt};
pub use response::{HubResponse, Priority};
pub use state_machine::LinkTiming;
