//! Lines that end in `\n`, `\r\n` or a bare `\r`: what Markdown and YAML both take for line ends.

use std::ops::Range;

/// The lines of `text` in order, their ends included.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let length = match rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            Some(at) if rest.get(at..at + 2) == Some(b"\r\n") => at + 2,
            Some(at) => at + 1,
            None => rest.len(),
        };
        let line = start..start + length;
        start = line.end;
        Some(line)
    })
}
