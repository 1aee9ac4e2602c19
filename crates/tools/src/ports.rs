//! The traits that the application implements for the tools: the user's environment, earlier conversations and open questions.

pub mod conversation_archive;
pub mod environment;
pub mod question_resolver;
