//! The message hub: the connection, incoming and outgoing messages, and what the hub may write.

pub(crate) mod approvals;
pub(crate) mod capture_conflicts;
pub(crate) mod client_name;
pub(crate) mod connection;
pub(crate) mod description;
pub(crate) mod fallback_capture;
pub(crate) mod inbox;
pub(crate) mod outbox;
pub(crate) mod reply_matching;
pub(crate) mod token_owner;
pub(crate) mod token_settings;
pub(crate) mod token_source;
pub(crate) mod wakeup;
pub(crate) mod writable_notes;

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use connection::HubLink;
use inbox::HubInbox;
use outbox::HubOutbox;

/// The parts of an open vault that work with its hub.
pub(crate) struct VaultHub {
    pub(crate) link: Arc<HubLink>,
    pub(crate) inbox: Arc<HubInbox>,
    pub(crate) outbox: Arc<HubOutbox>,
}

/// Ends the description that is being written, if one is.
#[derive(Default)]
pub(crate) struct DescriptionTask(Mutex<CancellationToken>);

impl DescriptionTask {
    /// Ends what is being written; the next one ends with the token that is handed out.
    fn restart(&self) -> CancellationToken {
        let next = CancellationToken::new();
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *writing, next.clone()).cancel();
        next
    }
}
