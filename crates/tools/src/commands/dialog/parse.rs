//! Which command a typed line is.

use super::lexer::first_word;
use crate::commands::command::TypedCommand;
use crate::commands::queries::find::FindCommand;
use crate::commands::table::COMMANDS;

/// Reads a line. A line that is no command is text to look for; one that begins as a command does
/// but has not its form gets that form as a hint.
pub(in crate::commands) fn parse_line(line: &str) -> Box<dyn TypedCommand> {
    let (word, rest) = first_word(line);
    let entry = COMMANDS.iter().find(|entry| entry.word.eq_ignore_ascii_case(word));
    let parsed = entry.and_then(|entry| (entry.parse)(rest));
    parsed.unwrap_or_else(|| Box::new(FindCommand::for_text(line, entry.map(|entry| entry.usage))))
}
