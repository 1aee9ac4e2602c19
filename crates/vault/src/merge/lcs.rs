//! Which lines of two texts are the same line: the longest common run of lines, found without a
//! clock, so that the same texts always compare the same way.

use std::collections::HashMap;

use similar::DiffOp;
use similar::algorithms::{Algorithm, Capture, diff_slices};

use super::lines::SplitLines;

/// Up to this many lines that both sides know, the comparison is the smallest there is; beyond, it
/// costs as much as the texts are long, and may find a change larger than it was.
const MAX_EXACT_LINES: usize = 6_000;

/// The number of lines of each side that are compared at a time where there are more than that.
const WINDOW_LINES: usize = 4_096;

/// Pairs of equal lines, ascending on both sides. No pair is missing that the longest common
/// subsequence needs, for texts that differ in up to [`MAX_EXACT_LINES`] lines.
pub(super) fn matching_lines(old: &SplitLines<'_>, new: &SplitLines<'_>) -> Vec<(usize, usize)> {
    let (from, to) = (old.slice(0..old.len()), new.slice(0..new.len()));
    let head = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let rest = from.len().min(to.len()) - head;
    let tail = from.iter().rev().zip(to.iter().rev()).take(rest);
    let tail = tail.take_while(|(a, b)| a == b).count();
    let middle_old = NumberedLines::from_lines(old, head, old.len() - tail);
    let middle_new = NumberedLines::from_lines(new, head, new.len() - tail);
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    pairs.extend(match_middle(&middle_old, &middle_new));
    pairs.extend((0..tail).map(|at| (old.len() - tail + at, new.len() - tail + at)));
    pairs
}

/// Some lines with their places.
struct NumberedLines<'a> {
    lines: Vec<(usize, &'a [u8])>,
}

impl<'a> NumberedLines<'a> {
    fn from_lines(lines: &SplitLines<'a>, from: usize, to: usize) -> Self {
        let lines = lines.slice(from..to).iter();
        Self { lines: (from..).zip(lines.copied()).collect() }
    }

    fn line_ids(&self) -> HashMap<&'a [u8], u32> {
        let mut names = HashMap::with_capacity(self.lines.len());
        for (_, line) in &self.lines {
            let next = u32::try_from(names.len()).unwrap_or(u32::MAX);
            names.entry(*line).or_insert(next);
        }
        names
    }

    /// Places and names of the lines that `names` knows. The other lines are in no pair: omitting
    /// them only saves time.
    fn known_lines(&self, names: &HashMap<&[u8], u32>) -> (Vec<usize>, Vec<u32>) {
        self.lines.iter().filter_map(|(at, line)| Some((*at, *names.get(line)?))).unzip()
    }
}

fn match_middle(old: &NumberedLines<'_>, new: &NumberedLines<'_>) -> Vec<(usize, usize)> {
    let names = old.line_ids();
    let (new_places, new_names) = new.known_lines(&names);
    let known = new.line_ids();
    let shared = names.into_iter().filter(|(line, _)| known.contains_key(line)).collect();
    let (old_places, old_names) = old.known_lines(&shared);
    let mut equal = Vec::new();
    if old_names.len() + new_names.len() <= MAX_EXACT_LINES {
        run_diff(Algorithm::RawMyers, &old_names, &new_names, |old, new| equal.push((old, new)));
    } else {
        // Lines that each side has once show roughly which parts belong together, wherever they
        // are; the text between two of them is compared piece by piece.
        let mut from = (0, 0);
        for anchor in unique_anchors(&old_names, &new_names).into_iter().map(Some).chain([None]) {
            let to = anchor.unwrap_or((old_names.len(), new_names.len()));
            match_in_windows(&old_names, &new_names, from, to, &mut equal);
            equal.extend(anchor);
            from = (to.0 + 1, to.1 + 1);
        }
    }
    let place = |(a, b): (usize, usize)| Some((*old_places.get(a)?, *new_places.get(b)?));
    equal.into_iter().filter_map(place).collect()
}

fn run_diff(algorithm: Algorithm, old: &[u32], new: &[u32], mut equal: impl FnMut(usize, usize)) {
    let mut found = Capture::new();
    let Ok(()) = diff_slices(algorithm, &mut found, old, new);
    for op in found.into_ops() {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            (0..len).for_each(|step| equal(old_index + step, new_index + step));
        }
    }
}

/// The longest run of pairs of lines that each side has exactly once, ascending on both sides.
fn unique_anchors(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let once = |names: &[u32]| {
        let mut places: HashMap<u32, Option<usize>> = HashMap::with_capacity(names.len());
        for (place, name) in names.iter().enumerate() {
            places.entry(*name).and_modify(|found| *found = None).or_insert(Some(place));
        }
        places
    };
    let (in_old, in_new) = (once(old), once(new));
    let pair = |(place, name): (usize, &u32)| {
        (*in_old.get(name)?)?;
        Some((place, (*in_new.get(name)?)?))
    };
    let pairs: Vec<(usize, usize)> = old.iter().enumerate().filter_map(pair).collect();
    // The end of the best run of each length, and before each pair the one it follows.
    let mut ends: Vec<usize> = Vec::new();
    let mut follows: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let new_of = |at: &usize| pairs.get(*at).map(|(_, new)| *new);
    for (at, (_, new)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| new_of(end) < Some(*new));
        follows.push(length.checked_sub(1).and_then(|before| ends.get(before).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut last = ends.last().copied();
    while let Some(at) = last {
        run.extend(pairs.get(at).copied());
        last = follows.get(at).copied().flatten();
    }
    run.reverse();
    run
}

/// Adds the equal lines between two places, a window after the other. Of a window that does not reach
/// the end only the first half counts: how the rest belongs together the next one knows better.
fn match_in_windows(
    old: &[u32],
    new: &[u32],
    (mut from_old, mut from_new): (usize, usize),
    (to_old, to_new): (usize, usize),
    equal: &mut Vec<(usize, usize)>,
) {
    while from_old < to_old && from_new < to_new {
        let (end_old, end_new) =
            (to_old.min(from_old + WINDOW_LINES), to_new.min(from_new + WINDOW_LINES));
        let is_last = (end_old, end_new) == (to_old, to_new);
        let (Some(one), Some(other)) = (old.get(from_old..end_old), new.get(from_new..end_new))
        else {
            return;
        };
        let half = WINDOW_LINES / 2;
        let (mut next_old, mut next_new) = (from_old + half, from_new + half);
        let mut is_found = false;
        run_diff(Algorithm::Myers, one, other, |at_old, at_new| {
            if is_last || (at_old < half && at_new < half) {
                equal.push((from_old + at_old, from_new + at_new));
                (next_old, next_new) = (from_old + at_old + 1, from_new + at_new + 1);
                is_found = true;
            }
        });
        if is_last {
            return;
        }
        // With little in common the rest of the half is looked at again, and then given up.
        let is_stuck = !is_found || (next_old - from_old).max(next_new - from_new) < half / 8;
        if is_stuck {
            next_old = next_old.max(from_old + half / 8);
            next_new = next_new.max(from_new + half / 8);
        }
        (from_old, from_new) = (next_old, next_new);
    }
}
