//! Lines out of bytes, for answers that are one JSON value a line. Pure, and bounded whatever
//! comes.

use crate::transport::decoder::{Framing, LineTooLong, MAX_LINE_BYTES};

/// Reads lines from bytes that come in any pieces. A line that was not ended is never given out.
#[derive(Debug, Default)]
pub(crate) struct LineReader {
    line: Vec<u8>,
}

impl Framing for LineReader {
    type Frame = String;

    fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, LineTooLong> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.len() > MAX_LINE_BYTES {
                return Err(LineTooLong);
            }
            if self.line.last() == Some(&b'\n') {
                let line = std::mem::take(&mut self.line);
                let line = String::from_utf8_lossy(&line);
                let line = line.trim();
                lines.extend((!line.is_empty()).then(|| line.to_owned()));
            }
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_the_bytes_are_cut() {
        let bytes = "{\"a\":1}\r\n\n {\"ä\":2}\nhalf".as_bytes();
        for at in 0..bytes.len() {
            let (one, two) = bytes.split_at(at);
            let mut reader = LineReader::default();
            let mut lines = reader.feed(one).unwrap();
            lines.extend(reader.feed(two).unwrap());
            assert_eq!(lines, ["{\"a\":1}", "{\"ä\":2}"], "cut at {at}");
        }
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut reader = LineReader::default();
        assert!((0..20).any(|_| reader.feed(&[b'x'; 100_000]).is_err()));
    }
}
