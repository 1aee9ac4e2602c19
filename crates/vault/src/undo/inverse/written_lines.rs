//! The lines that an undo wrote. It brings an edit's lines back with other links where notes were moved since.

use std::collections::{HashMap, HashSet};

use crate::merge::hunks;

/// Of more lines in a row it is not looked for a place where they were written.
const MAX_LINES_IN_A_ROW: usize = 1_000;

/// Lines of a text that another version of it has not.
#[derive(Debug, Default)]
pub(super) struct WrittenLines<'a> {
    all: HashSet<&'a [u8]>,
    /// By their text without the targets of their links; `None` for several lines.
    by_text: HashMap<Vec<u8>, Option<&'a [u8]>>,
    /// The lines that follow each other, each with its text without the targets of its links.
    rows: Vec<Vec<WrittenLine<'a>>>,
}

#[derive(Debug)]
struct WrittenLine<'a> {
    line: &'a [u8],
    without_targets: Vec<u8>,
}

impl<'a> WrittenLines<'a> {
    /// The lines of `new` that are not those of `old`.
    pub(super) fn between(old: &[u8], new: &'a [u8]) -> Self {
        let lines: Vec<&[u8]> = split(new).collect();
        let mut found = Self::default();
        for hunk in hunks(old, new) {
            let written = lines.get(hunk.after).unwrap_or_default();
            for line in written.iter().copied().filter(|line| found.all.insert(line)) {
                let same = found.by_text.entry(without_targets(line));
                same.and_modify(|one| *one = None).or_insert(Some(line));
            }
            let row = written
                .iter()
                .map(|line| WrittenLine { line, without_targets: without_targets(line) });
            found.rows.push(row.collect());
        }
        found
    }

    /// These lines, which follow each other, each as it was written if only the targets of its links are others there.
    pub(super) fn with_written_targets(&self, lines: &[u8]) -> Vec<u8> {
        let lines: Vec<&[u8]> = split(lines).collect();
        let is_other = |line: &&[u8]| !self.all.contains(line) && line.contains(&b'[');
        if !lines.iter().any(is_other) {
            return lines.concat();
        }
        if let Some(written) = self.row_of(&lines) {
            return written.concat();
        }
        let mut text = Vec::new();
        for line in lines {
            let written =
                is_other(&line).then(|| self.by_text.get(&without_targets(line)).copied());
            text.extend_from_slice(written.flatten().flatten().unwrap_or(line));
        }
        text
    }

    /// The only row of written lines that differs from these in the targets of links alone.
    fn row_of(&self, lines: &[&[u8]]) -> Option<Vec<&'a [u8]>> {
        if lines.len() > MAX_LINES_IN_A_ROW {
            return None;
        }
        let wanted: Vec<Vec<u8>> = lines.iter().map(|line| without_targets(line)).collect();
        let is_it = |row: &&[WrittenLine<'a>]| {
            row.iter().zip(&wanted).all(|(written, wanted)| written.without_targets == *wanted)
        };
        let rows = self.rows.iter().flat_map(|row| row.windows(lines.len())).filter(is_it);
        let mut rows = rows.map(|row| row.iter().map(|written| written.line).collect::<Vec<_>>());
        let first = rows.next()?;
        rows.all(|row| row == first).then_some(first)
    }
}

fn split(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// A line without what stands in `](…)`, and in `[[…]]` up to a `|` or `#`.
fn without_targets(line: &[u8]) -> Vec<u8> {
    let (mut text, mut rest) = (Vec::with_capacity(line.len()), line);
    while let Some((byte, after)) = rest.split_first() {
        text.push(*byte);
        rest = after;
        let ends: &[u8] = match text.as_slice() {
            [.., b']', b'('] => b")\n",
            [.., b'[', b'['] => b"]|#\n",
            _ => continue,
        };
        let end = rest.iter().position(|byte| ends.contains(byte)).unwrap_or(rest.len());
        rest = rest.get(end..).unwrap_or_default();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(undo: (&str, &str), line: &str, expected: &str) {
        let written = WrittenLines::between(undo.0.as_bytes(), undo.1.as_bytes());
        let found = written.with_written_targets(line.as_bytes());
        assert_eq!(String::from_utf8(found).unwrap(), expected);
    }

    #[test]
    fn a_line_with_other_targets_is_as_it_was_written() {
        let undo = ("gone\n", "See [x](Work/Plan.md), [[Work/Plan|p]].\n");
        check(undo, "See [x](Plan.md), [[Plan|p]].\n", undo.1);
        check(undo, "SEE [x](Plan.md), [[Plan|p]].\n", "SEE [x](Plan.md), [[Plan|p]].\n");
        check(undo, "See [x](Plan.md), [[Plan|q]].\n", "See [x](Plan.md), [[Plan|q]].\n");
    }

    #[test]
    fn lines_that_differ_in_their_targets_alone_are_told_apart_by_their_order() {
        let written = "- [[New/A]]\n- [[New/B]]\n";
        check(("gone\n", written), "- [[A]]\n- [[B]]\n", written);
        check(("gone\nm\n", &format!("{written}m\nend\n")), "- [[A]]\n- [[B]]\n", written);
        // Two of three may be meant, and one line alone may be either.
        let three = "- [[New/A]]\n- [[New/B]]\n- [[New/C]]\n";
        check(("gone\n", three), "- [[A]]\n- [[B]]\n", "- [[A]]\n- [[B]]\n");
        check(("gone\n", written), "- [[A]]\n", "- [[A]]\n");
    }

    #[test]
    fn a_line_stays_where_it_was_not_written_or_two_may_be_meant() {
        check(("[x](B.md)\n", "[x](B.md)\nb\n"), "[x](A.md)\n", "[x](A.md)\n");
        check(("a\nm\nb\n", "[x](B.md)\nm\n[x](C.md)\n"), "[x](A.md)\n", "[x](A.md)\n");
        check(("a\nm\nb\n", "[x](B.md)\nm\n[x](A.md)\n"), "[x](A.md)\n", "[x](A.md)\n");
        check(("a\n", "[[B#h]]\n"), "[[A#i]]\n", "[[A#i]]\n");
    }
}
