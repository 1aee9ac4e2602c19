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
pub(crate) mod token_source;
pub(crate) mod wakeup;
pub(crate) mod writable_notes;
