//! Lines that end in `\n`, `\r\n` or a bare `\r`: what Markdown and YAML both take for line ends. Line numbers are
//! counted as editors and tools count them: by `\n`.

use std::ops::Range;

/// The lines of `text` in order, their ends included.
pub fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let line = start..line_end(text, start);
        start = line.end;
        Some(line).filter(|line| !line.is_empty())
    })
}

/// The start of the line that the byte at `at` stands in.
#[must_use]
pub fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// Behind the first line end at or after `at`; the end of `text` where there is none.
#[must_use]
pub fn line_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    match rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        Some(end) if rest.get(end..end + 2) == Some(b"\r\n") => at + end + 2,
        Some(end) => at + end + 1,
        None => text.len(),
    }
}

/// How many line ends a text has: each is a `\n`.
#[must_use]
pub fn count_line_breaks(text: &[u8]) -> usize {
    // Of so few bytes at a time one byte counts them, so many are compared at once.
    let few = text.chunks(usize::from(u8::MAX));
    few.map(|few| usize::from(few.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>())).sum()
}

/// The line break of a text, which an edit keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
}

impl LineEnd {
    /// How the first line of `text` ends; `\n` when none does.
    #[must_use]
    pub fn of(text: &str) -> Self {
        match text.find('\n') {
            Some(at) if text.get(..at).is_some_and(|line| line.ends_with('\r')) => Self::CrLf,
            _ => Self::Lf,
        }
    }

    /// `\n` or `\r\n`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// `text` with every line ending this way.
    #[must_use]
    pub fn convert(self, text: &str) -> String {
        let folded = text.replace("\r\n", "\n");
        match self {
            Self::Lf => folded,
            Self::CrLf => folded.replace('\n', "\r\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LineEnd, count_line_breaks, line_end, line_start, lines};

    #[test]
    fn a_line_ends_in_each_of_the_three_ways() {
        let text = "one\ntwo\r\nthree\r\r\nfour";
        let all: Vec<_> = lines(text).collect();
        assert_eq!(all, [0..4, 4..9, 9..15, 15..17, 17..21]);
        for line in all {
            assert_eq!(line_start(text, line.start), line.start);
            assert_eq!(line_end(text, line.start), line.end);
        }
        assert_eq!((line_start(text, 21), line_end(text, 21)), (17, 21));
        assert_eq!((line_start("", 0), line_end("", 0)), (0, 0));
    }

    #[test]
    fn line_ends_are_counted_however_many_there_are() {
        assert_eq!(count_line_breaks(b""), 0);
        assert_eq!(count_line_breaks(b"one\ntwo\r\n\nthree"), 3);
        for many in [254, 255, 256, 511, 1000] {
            assert_eq!(count_line_breaks(&b"\n".repeat(many)), many);
        }
    }

    #[test]
    fn lines_are_spelled_as_the_note_ends_them() {
        assert_eq!(LineEnd::of("a\r\nb\n"), LineEnd::CrLf);
        assert_eq!(LineEnd::of("a\nb\r\n"), LineEnd::Lf);
        assert_eq!(LineEnd::of("\nb"), LineEnd::Lf);
        assert_eq!(LineEnd::of(""), LineEnd::Lf);
        assert_eq!(LineEnd::CrLf.convert("a\nb\r\nc"), "a\r\nb\r\nc");
        assert_eq!(LineEnd::Lf.convert("a\nb\r\nc"), "a\nb\nc");
    }
}
