//! The message hub: connection, inbox, notifications, questions and what a message may do.

pub(crate) mod cli_token;
pub(crate) mod client_name;
pub(crate) mod copied_notes;
pub(crate) mod description;
pub(crate) mod frames;
pub(crate) mod inbox;
pub(crate) mod limits;
pub(crate) mod other_hub;
pub(crate) mod overload;
pub(crate) mod permissions;
pub(crate) mod reply_matching;
pub(crate) mod resume_events;
pub(crate) mod soak;
pub(crate) mod tls;
