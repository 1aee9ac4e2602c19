//! The tables of the message hub: inbox, outbox and messages that wait for the user's approval.

pub(crate) mod approvals;
pub(crate) mod inbox;
pub(crate) mod outbox;
