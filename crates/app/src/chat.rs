//! Conversations and their turns: sending, regenerating, resuming, titles, the list, and export.

pub(crate) mod chat_view;
pub(crate) mod compact;
pub(crate) mod context;
pub(crate) mod conversations;
pub(crate) mod export;
pub(crate) mod one_shot;
pub(crate) mod prompt;
pub(crate) mod queue;
pub(crate) mod regenerate;
pub(crate) mod resume;
pub(crate) mod save_answer;
pub(crate) mod send;
pub(crate) mod titles;
pub(crate) mod user_message;
