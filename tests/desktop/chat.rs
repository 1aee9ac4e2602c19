//! End-to-end tests of the chat: editing, queueing, questions, interrupted turns, errors.

pub(crate) mod edit_message;
pub(crate) mod errors;
pub(crate) mod interrupted_turns;
pub(crate) mod message_queue;
pub(crate) mod question;
