//! The bytes of lines that the user was shown as text: a note need not be UTF-8.

use std::borrow::Cow;

/// The only run of whole lines in these versions that is shown as `text`; `None` if there is none or several. Takes
/// time in proportion to their length.
pub(super) fn bytes_shown_as(text: &str, versions: &[&[u8]]) -> Option<Vec<u8>> {
    let run: Vec<Cow<'_, str>> = text.split_inclusive('\n').map(Cow::Borrowed).collect();
    let versions: Vec<Vec<&[u8]>> = versions
        .iter()
        .map(|version| version.split_inclusive(|byte| *byte == b'\n').collect())
        .collect();
    let (mut first, mut shown) = (None, 0);
    for lines in &versions {
        // A line break ends whatever is not UTF-8, so each line is shown as it is in the whole text.
        let as_text: Vec<_> = lines.iter().map(|line| String::from_utf8_lossy(line)).collect();
        let found = positions(&as_text, &run);
        let at = found.first().copied();
        first = first.or_else(|| lines.get(at?..at? + run.len()));
        shown += found.len();
    }
    let first = first?;
    let same: usize = versions.iter().map(|lines| positions(lines, first).len()).sum();
    (same == shown).then(|| first.concat())
}

/// Where a run of lines begins in others. Each line is compared a few times at most, also where lines repeat
/// (Knuth, Morris and Pratt); an empty run is nowhere.
fn positions<T: PartialEq>(lines: &[T], run: &[T]) -> Vec<usize> {
    let mut found = Vec::new();
    let Some((_, rest)) = run.split_first() else { return found };
    // For each beginning of the run the length of the longest shorter one that it ends with.
    let mut borders = vec![0];
    let go_on = |mut matched: usize, line: &T, borders: &[usize]| {
        while matched > 0 && run.get(matched) != Some(line) {
            matched = borders.get(matched - 1).copied().unwrap_or(0);
        }
        matched + usize::from(run.get(matched) == Some(line))
    };
    let mut matched = 0;
    for line in rest {
        matched = go_on(matched, line, &borders);
        borders.push(matched);
    }
    matched = 0;
    for (at, line) in lines.iter().enumerate() {
        matched = go_on(matched, line, &borders);
        if matched == run.len() {
            found.push(at + 1 - matched);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{bytes_shown_as, positions};

    #[test]
    fn the_bytes_of_shown_lines_are_found_where_they_are_certain() {
        let (old, new) = (&b"one\nCaf\xe9\ntwo\n"[..], &b"one\ntea\n"[..]);
        let shown = |text: &str, versions: &[&[u8]]| bytes_shown_as(text, versions);
        assert_eq!(shown("Caf\u{fffd}\n", &[old, new]), Some(b"Caf\xe9\n".to_vec()));
        assert_eq!(shown("one\nCaf\u{fffd}\n", &[old]), Some(b"one\nCaf\xe9\n".to_vec()));
        assert_eq!(shown("Caf\u{fffd}\n", &[old, b"Caf\xe8\n"]), None, "either of two");
        assert_eq!(shown("Caf\u{fffd}\n", &[old, old]), Some(b"Caf\xe9\n".to_vec()), "the same");
        assert_eq!(shown("Caf\u{fffd}\n", &[b"Caf\xe9\nCaf\xe8\n"]), None, "either of two");
        assert_eq!(shown("\u{fffd}\n\u{fffd}\n", &[b"\xe9\n\xe9\n\xe8\n"]), None, "they overlap");
        assert_eq!(shown("Caf\u{fffd}", &[b"Caf\xe9\nCaf\xe8"]), Some(b"Caf\xe8".to_vec()));
        assert_eq!(shown("Th\u{fffd}\n", &[old, new]), None);
        assert_eq!(shown("", &[old]), None);
    }

    thread_local! {
        static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    /// A line that counts how often it is compared.
    struct CountedLine(char);

    impl PartialEq for CountedLine {
        fn eq(&self, other: &Self) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }

    /// The places of a run, and how many comparisons that took.
    fn counted(find: fn(&[CountedLine], &[CountedLine]) -> Vec<usize>) -> (Vec<usize>, usize) {
        // A long run of equal lines, where each place matches nearly to its end.
        let all = |text: &str| text.chars().map(CountedLine).collect::<Vec<_>>();
        let (lines, run) = (all(&("a".repeat(3_000) + "b")), all(&("a".repeat(1_000) + "b")));
        COMPARED.set(0);
        (find(&lines, &run), COMPARED.get())
    }

    #[test]
    fn repeated_lines_are_searched_in_linear_time() {
        let (found, compared) = counted(positions);
        assert_eq!(found, [2_000]);
        assert!(compared < 5 * 4_000, "{compared}");
        // The control: every place by itself.
        let (same, compared) = counted(|lines, run| {
            let places = lines.windows(run.len()).enumerate();
            places.filter(|(_, window)| *window == run).map(|(at, _)| at).collect()
        });
        assert_eq!(same, found);
        assert!(compared > 1_000_000, "{compared}");
    }
}
