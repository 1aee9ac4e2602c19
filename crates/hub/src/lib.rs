//! The hub link: a client that stays connected by itself, and a small hub for those without one.
//!
//! [`start`] runs the link as one task. It dials only what a [`LinkConfig`] has proven to be sound,
//! tells through [`HubEvent`]s how it stands and what came, and acknowledges a message only when
//! the [`Receipt`] is given back. What a message is for, and where it is kept, is not known here.

mod config;
mod handle;
mod link;
pub mod local;
mod response;
mod socket;
mod task;
mod tls;
mod trouble;
mod wake;
mod way;
mod wire;

pub use config::{ConfigProblem, LinkConfig, Token};
pub use handle::{HubEvent, HubHandle, IncomingMessage, NotOnline, Receipt};
pub use link::Timing;
pub use response::{Priority, Response};
pub use task::{start, start_timed};
