//! What is written to the terminal. A closed pipe (`| head`) is no reason to stop the work that is
//! under way, so nothing here fails.

use std::fmt::Display;
use std::io::Write as _;

/// Writes `text` to stdout as it stands, at once.
pub(crate) fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a line to stdout.
pub(crate) fn say(line: impl Display) {
    write(&format!("{line}\n"));
}

/// Writes a line to stderr: what is done, and what went wrong.
pub(crate) fn note(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
