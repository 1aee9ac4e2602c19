//! The tables of turns: messages, tool calls, questions, summaries, provenance and usage.

pub(crate) mod compaction;
pub(crate) mod full_result;
pub(crate) mod interrupted;
pub(crate) mod message;
pub(crate) mod message_queue;
pub(crate) mod provenance;
pub(crate) mod question;
pub(crate) mod read_state;
pub(crate) mod tool_call;
pub(crate) mod transcript;
pub(crate) mod turn;
pub(crate) mod usage;
