//! Server-sent events out of bytes, as the HTML standard reads them. Pure, and bounded whatever
//! comes.

use crate::transport::decoder::{Framing, LineTooLong, MAX_LINE_BYTES};

#[cfg(test)]
mod tests;

/// One event that has data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// The value of `event:`; may be empty.
    pub(crate) name: String,
    /// The `data:` lines, joined by line feeds.
    pub(crate) data: String,
}

/// Reads events from bytes that come in any pieces. An event that no blank line closed is never
/// given out.
#[derive(Debug, Default)]
pub(crate) struct SseReader {
    line: Vec<u8>,
    after_return: bool,
    begun: bool,
    name: String,
    data: Option<String>,
}

impl Framing for SseReader {
    type Frame = SseEvent;

    fn feed(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, LineTooLong> {
        let mut events = Vec::new();
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match piece.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                _ => (piece, None),
            };
            let completes_return =
                self.after_return && self.line.is_empty() && text.is_empty() && end == Some(b'\n');
            self.after_return = end == Some(b'\r');
            if completes_return {
                continue;
            }
            self.line.extend_from_slice(text);
            if self.line.len() > MAX_LINE_BYTES {
                return Err(LineTooLong);
            }
            if end.is_some() {
                events.extend(self.end_line()?);
            }
        }
        Ok(events)
    }
}

impl SseReader {
    fn end_line(&mut self) -> Result<Option<SseEvent>, LineTooLong> {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let first = !std::mem::replace(&mut self.begun, true);
        let line = if first { line.strip_prefix('\u{feff}').unwrap_or(&line) } else { &line };
        if line.is_empty() {
            return Ok(self.end_event());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => self.add_data(value)?,
            // A comment (an empty field), `id`, `retry`, or what the standard tells to ignore.
            _ => {}
        }
        Ok(None)
    }

    fn add_data(&mut self, value: &str) -> Result<(), LineTooLong> {
        let data = match &mut self.data {
            Some(data) => {
                data.push('\n');
                data
            }
            none => none.insert(String::new()),
        };
        data.push_str(value);
        if data.len() > MAX_LINE_BYTES { Err(LineTooLong) } else { Ok(()) }
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let name = std::mem::take(&mut self.name);
        let data = self.data.take().filter(|data| !data.is_empty())?;
        Some(SseEvent { name, data })
    }
}
