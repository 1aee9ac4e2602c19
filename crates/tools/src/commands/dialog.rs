//! Reads what the user typed and words the reply: the line's parts, its command, what was done so far.

pub(crate) mod history;
pub(crate) mod lexer;
pub(crate) mod parse;
pub(crate) mod replies;
