//! Reads the line that the user typed and words the reply: its parts, its command, the calls so
//! far.

pub(crate) mod history;
pub(crate) mod lexer;
pub(crate) mod parse;
pub(crate) mod replies;
