//! Writes to the terminal.
//!
//! A closed pipe (`| head`) is no reason to stop the work that is under way, so nothing here fails but
//! JSON that a full disk does not take. Text comes from notes, models and hubs: control characters are
//! shown as symbols, and escaped in JSON, so that none of it can control the terminal.

use std::fmt::{Display, Write as _};
use std::io::{self, ErrorKind, Write as _};

use serde_json::Value;

/// Writes `text` to stdout, at once.
pub(crate) fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(sanitize(text).as_bytes()).and_then(|()| out.flush());
}

/// Writes JSON as one line to stdout. Whoever parses it gets the value as it is. A closed pipe is no error.
pub(crate) fn write_json(value: &Value) -> io::Result<()> {
    let line = format!("{}\n", escape_controls(&value.to_string()));
    let mut out = io::stdout().lock();
    match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes a line to stdout.
pub(crate) fn print_line(line: impl Display) {
    write(&format!("{line}\n"));
}

/// Writes a line to stderr: progress and errors.
pub(crate) fn eprint_line(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{}", sanitize(&line.to_string()));
}

/// The text with control characters as symbols; tabs and line breaks of either kind stay. A `\r` that no
/// `\n` follows would put what comes next over the line before it.
fn sanitize(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let end = ["\r\n", "\n"].into_iter().find(|end| line.ends_with(*end)).unwrap_or_default();
        let words = line.strip_suffix(end).unwrap_or(line);
        words.chars().map(sanitize_char).chain(end.chars()).collect::<String>()
    });
    lines.collect()
}

/// JSON with the control characters that it may hold as they are as escapes. They stand in strings only.
fn escape_controls(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() {
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

fn sanitize_char(c: char) -> char {
    if c.is_control() && c != '\t' { control_symbol(c) } else { c }
}

/// U+2400 and on show U+0000 and on; C1 controls have no symbols.
fn control_symbol(control: char) -> char {
    match u32::from(control) {
        0x7f => '\u{2421}',
        code => char::from_u32(0x2400 + code).filter(|_| code < 0x20).unwrap_or('\u{fffd}'),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{escape_controls, sanitize};

    #[test]
    fn json_holds_no_control_character_and_means_the_same() {
        let all: String = (0..=0xa0).filter_map(char::from_u32).collect();
        let value = json!({ "text": all, "\u{9b}31m": ["\u{7f}", "\\\u{85}", "ä ✓ \u{1f600}"] });
        let line = escape_controls(&value.to_string());
        assert!(!line.contains(char::is_control), "{line:?}");
        assert!(line.contains(r"\u007f\u0080"), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).expect("JSON"), value);
        // The control: shown as symbols it would be another value.
        let shown = sanitize(&value.to_string());
        assert_ne!(serde_json::from_str::<Value>(&shown).expect("JSON"), value);
    }

    #[test]
    fn a_note_cannot_command_the_terminal() {
        assert_eq!(sanitize("one\r\n\ttwo ✓\n"), "one\r\n\ttwo ✓\n");
        assert_eq!(
            sanitize("\u{1b}[2J\u{1b}]0;gone\u{7}\r\u{9b}31m\u{7f}"),
            "␛[2J␛]0;gone␇␍\u{fffd}31m␡"
        );
    }

    #[test]
    fn a_text_that_ends_in_a_carriage_return_is_not_written_over() {
        // As a model streams it: the next part would begin at the left edge.
        assert_eq!(sanitize("paid\r") + &sanitize("open\n"), "paid␍open\n");
        assert_eq!(sanitize("one\r\r\ntwo\r\n\r"), "one␍\r\ntwo\r\n␍");
        // The control: a line break stays.
        assert_eq!(sanitize("one\r\n"), "one\r\n");
        assert_eq!(sanitize(""), "");
    }
}
