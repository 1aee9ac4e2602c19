//! Which lines of a note an earlier change wrote, and nobody has touched since.

use vault::merge::hunks;

/// The lines of a note on their way back through its versions. Going from the newest version to the
/// oldest, each change takes the lines that it wrote; what stands between two changes was written by
/// somebody else, and such lines are nobody's.
#[derive(Debug)]
pub(crate) struct Blame {
    /// The version that was reached.
    version: Vec<u8>,
    /// For each of its lines the line of the note that it still is.
    open: Vec<Option<usize>>,
    /// The owner of each line of the note.
    owners: Vec<Option<usize>>,
}

impl Blame {
    /// Begins at the note as it is.
    pub(crate) fn new(note: Vec<u8>) -> Self {
        let lines = count_lines(&note);
        Self { version: note, open: (0..lines).map(Some).collect(), owners: vec![None; lines] }
    }

    /// Whether there are lines that nobody took yet.
    pub(crate) fn has_open_lines(&self) -> bool {
        self.open.iter().any(Option::is_some)
    }

    /// Goes back to an earlier version, from which the one that was reached came by hand: what is not
    /// in it is nobody's.
    pub(crate) fn skip_to(&mut self, earlier: Vec<u8>) {
        let changed = hunks(&earlier, &self.version);
        self.open = map_lines(&changed, &self.open, count_lines(&earlier));
        self.version = earlier;
    }

    /// Goes back over a change that left the version that was reached; `whose` takes the lines that
    /// it wrote, or nobody.
    pub(crate) fn attribute(&mut self, before: Vec<u8>, whose: Option<usize>) {
        let changed = hunks(&before, &self.version);
        for line in changed.iter().flat_map(|hunk| hunk.after.clone()) {
            if let Some(Some(line)) = self.open.get(line)
                && let Some(taken) = self.owners.get_mut(*line)
            {
                *taken = whose;
            }
        }
        self.open = map_lines(&changed, &self.open, count_lines(&before));
        self.version = before;
    }

    /// Runs of lines, counted from zero, with whose they are: `(first, behind the last, whose)`.
    pub(crate) fn runs(&self) -> Vec<(usize, usize, usize)> {
        let mut runs: Vec<(usize, usize, usize)> = Vec::new();
        for (line, whose) in self.owners.iter().enumerate() {
            let Some(whose) = *whose else { continue };
            match runs.last_mut() {
                Some((_, end, last)) if *end == line && *last == whose => *end = line + 1,
                _ => runs.push((line, line + 1, whose)),
            }
        }
        runs
    }
}

/// Maps lines of the earlier version to those of the later one, where both share them.
fn map_lines(
    changed: &[vault::merge::DiffHunk],
    later: &[Option<usize>],
    lines: usize,
) -> Vec<Option<usize>> {
    let mut earlier = Vec::with_capacity(lines);
    let mut at = 0;
    for hunk in changed {
        earlier.extend(later.get(at..hunk.after.start).unwrap_or_default());
        earlier.extend(hunk.before.clone().map(|_| None));
        at = hunk.after.end;
    }
    earlier.extend(later.get(at..).unwrap_or_default());
    earlier.resize(lines, None);
    earlier
}

fn count_lines(text: &[u8]) -> usize {
    text.split_inclusive(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runs of a note whose versions are given oldest first: what came by hand is `None`.
    fn check(versions: &[(&str, Option<usize>)], expected: &[(usize, usize, usize)]) {
        let texts: Vec<Vec<u8>> = versions
            .iter()
            .map(|(lines, _)| lines.split(' ').map(|line| format!("{line}\n")).collect::<String>())
            .map(String::into_bytes)
            .collect();
        let mut blame = Blame::new(texts.last().cloned().unwrap_or_default());
        for at in (0..texts.len()).rev() {
            let before = at.checked_sub(1).and_then(|at| texts.get(at)).cloned();
            match versions[at].1 {
                Some(whose) => blame.attribute(before.unwrap_or_default(), Some(whose)),
                None if before.is_some() => blame.skip_to(before.unwrap_or_default()),
                None => {}
            }
        }
        assert_eq!(blame.runs(), expected, "{versions:?}");
    }

    #[test]
    fn a_change_takes_the_lines_that_it_wrote_and_nobody_changed_since() {
        check(&[("a b", None), ("a X Y b", Some(0))], &[(1, 3, 0)]);
        check(&[("a b", None), ("a X Y b", Some(0)), ("a X y b", None)], &[(1, 2, 0)]);
        check(&[("a b", None), ("a X b", Some(0)), ("a X Z b", Some(1))], &[(1, 2, 0), (2, 3, 1)]);
        check(&[("a b", None), ("a X b", Some(0)), ("c a X b d", None)], &[(2, 3, 0)]);
        check(&[("a", None), ("a b", None)], &[]);
    }

    #[test]
    fn lines_that_the_user_deletes_and_types_again_have_no_owner() {
        check(&[("X Y Z", Some(0))], &[(0, 3, 0)]);
        check(&[("X Y Z", Some(0)), ("X Z", None), ("X Y Z", None)], &[(0, 1, 0), (2, 3, 0)]);
        check(&[("a X", Some(0)), ("a", Some(1)), ("a X", None)], &[(0, 1, 0)]);
    }

    #[test]
    fn it_ends_where_all_lines_are_known() {
        let mut blame = Blame::new(b"a\nb".to_vec());
        assert!(blame.has_open_lines());
        blame.attribute(Vec::new(), Some(0));
        assert!(!blame.has_open_lines());
        assert_eq!(blame.runs(), [(0, 2, 0)]);
    }
}
