//! Which lines of two texts are the same line: the longest common run of lines, found without a
//! clock, so that the same texts always compare the same way.

use std::collections::HashMap;

use similar::DiffOp;
use similar::algorithms::{Algorithm, Capture, diff_slices};

use super::lines::Lines;

/// Up to this many lines that both sides know, the comparison is the smallest there is; beyond,
/// it is Myers' with git's limits, which may find a change larger than it was.
const EXACT: usize = 6_000;

/// Pairs of equal lines, ascending on both sides. No pair is missing that the longest common
/// subsequence needs, for texts that differ in up to [`EXACT`] lines.
pub(super) fn matches(old: &Lines<'_>, new: &Lines<'_>) -> Vec<(usize, usize)> {
    let (from, to) = (old.slice(0..old.len()), new.slice(0..new.len()));
    let head = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let rest = from.len().min(to.len()) - head;
    let tail = from.iter().rev().zip(to.iter().rev()).take(rest);
    let tail = tail.take_while(|(a, b)| a == b).count();
    let middle_old = Numbered::of(old, head, old.len() - tail);
    let middle_new = Numbered::of(new, head, new.len() - tail);
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    pairs.extend(middle(&middle_old, &middle_new));
    pairs.extend((0..tail).map(|at| (old.len() - tail + at, new.len() - tail + at)));
    pairs
}

/// Some lines with their places.
struct Numbered<'a> {
    lines: Vec<(usize, &'a [u8])>,
}

impl<'a> Numbered<'a> {
    fn of(lines: &Lines<'a>, from: usize, to: usize) -> Self {
        let lines = lines.slice(from..to).iter();
        Self { lines: (from..).zip(lines.copied()).collect() }
    }

    fn names(&self) -> HashMap<&'a [u8], u32> {
        let mut names = HashMap::with_capacity(self.lines.len());
        for (_, line) in &self.lines {
            let next = u32::try_from(names.len()).unwrap_or(u32::MAX);
            names.entry(*line).or_insert(next);
        }
        names
    }

    /// Places and names of the lines that `names` knows. The others are in no pair: to leave them
    /// out changes nothing but the time it takes.
    fn named(&self, names: &HashMap<&[u8], u32>) -> (Vec<usize>, Vec<u32>) {
        self.lines.iter().filter_map(|(at, line)| Some((*at, *names.get(line)?))).unzip()
    }
}

fn middle(old: &Numbered<'_>, new: &Numbered<'_>) -> Vec<(usize, usize)> {
    let names = old.names();
    let (new_places, new_names) = new.named(&names);
    let known = new.names();
    let shared = names.into_iter().filter(|(line, _)| known.contains_key(line)).collect();
    let (old_places, old_names) = old.named(&shared);
    let algorithm = if old_names.len() + new_names.len() <= EXACT {
        Algorithm::RawMyers
    } else {
        Algorithm::Myers
    };
    let mut found = Capture::new();
    let Ok(()) = diff_slices(algorithm, &mut found, &old_names, &new_names);
    let equal = found.into_ops().into_iter().filter_map(|op| match op {
        DiffOp::Equal { old_index, new_index, len } => {
            Some((0..len).map(move |step| (old_index + step, new_index + step)))
        }
        DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => None,
    });
    let place = |(a, b): (usize, usize)| Some((*old_places.get(a)?, *new_places.get(b)?));
    equal.flatten().filter_map(place).collect()
}
