//! The tools about the conversation itself: messages and questions to the user, earlier conversations, and the clock.

pub(crate) mod end_conversation;
pub(crate) mod get_conversation;
pub(crate) mod get_current_time;
pub(crate) mod read_result;
pub(crate) mod resolve_question;
pub(crate) mod send_message;
pub(crate) mod show_note;
