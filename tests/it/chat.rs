//! Conversations: messages, answers, questions, titles, summaries, stopping and resuming.

pub(crate) mod compaction;
pub(crate) mod context_use;
pub(crate) mod conversations;
pub(crate) mod interrupted_turns;
pub(crate) mod message_queue;
pub(crate) mod question;
pub(crate) mod reactions;
pub(crate) mod regenerate;
pub(crate) mod save_answer;
pub(crate) mod shortened_results;
pub(crate) mod step_limit;
pub(crate) mod stop;
pub(crate) mod titles;
pub(crate) mod turn_context;
