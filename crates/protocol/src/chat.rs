//! Conversations and what they consist of: messages, turns, questions, titles, tool events, models and their cost.

pub mod compaction;
pub mod context_use;
pub mod conversation;
pub mod conversation_list;
pub mod cost;
pub mod export;
pub mod message;
pub mod model;
pub mod question;
pub mod speech;
pub mod title;
pub mod tool_event;
pub mod turn;
