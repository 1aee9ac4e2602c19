//! Counting line ends.

/// How many line ends a text has.
pub(crate) fn count_line_breaks(text: &[u8]) -> usize {
    // Of so few bytes at a time one byte counts them, so many are compared at once.
    let few = text.chunks(usize::from(u8::MAX));
    few.map(|few| usize::from(few.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>())).sum()
}

#[cfg(test)]
mod tests {
    use super::count_line_breaks;

    #[test]
    fn line_ends_are_counted_however_many_there_are() {
        assert_eq!(count_line_breaks(b""), 0);
        assert_eq!(count_line_breaks(b"one\ntwo\r\n\nthree"), 3);
        for many in [254, 255, 256, 511, 1000] {
            assert_eq!(count_line_breaks(&b"\n".repeat(many)), many);
        }
    }
}
