//! Which command a typed line is.

use super::find::Find;
use super::words::first_word;
use super::{ALL, Command};

/// Reads a line. What is no command is words to look for; a line that begins as a command does
/// but has not its form gets that form as a hint.
pub(super) fn read(line: &str) -> Box<dyn Command> {
    let (word, rest) = first_word(line);
    let entry = ALL.iter().find(|entry| entry.word.eq_ignore_ascii_case(word));
    let parsed = entry.and_then(|entry| (entry.parse)(rest));
    parsed.unwrap_or_else(|| Box::new(Find::anything(line, entry.map(|entry| entry.form))))
}
