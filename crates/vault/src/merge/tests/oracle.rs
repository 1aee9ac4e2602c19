//! An oracle that needs no diff: it knows of every line where it came from.

use std::collections::BTreeSet;

use super::{hunks, merge};

/// A line with its origin: the number it had in the base, or none.
#[derive(Debug, Clone)]
struct TracedLine {
    from: Option<usize>,
    text: String,
}

type TracedText = Vec<TracedLine>;

fn bytes(text: &[TracedLine]) -> Vec<u8> {
    text.iter().flat_map(|line| line.text.bytes()).collect()
}

/// A few random edits; every new line is unique.
fn edited(base: &TracedText, random: &mut fastrand::Rng, who: &str) -> TracedText {
    let mut text = base.clone();
    for edit in 0..random.usize(0..4) {
        let from = random.usize(0..=text.len());
        let gone = random.usize(0..3).min(text.len() - from);
        let new = (0..random.usize(0..3))
            .map(|n| TracedLine { from: None, text: format!("{who} {edit} {n}\n") });
        text.splice(from..from + gone, new.collect::<Vec<_>>());
    }
    text
}

/// The change of one side in one run of the base.
struct TracedEdit {
    /// Places of the base it touches: `2k + 1` is line k, `2k` the place before it. A run of lines
    /// touches also the places between them.
    touches: BTreeSet<usize>,
    new: String,
}

impl TracedEdit {
    fn replaces(&self) -> bool {
        !self.new.is_empty() && self.touches.iter().any(|place| place % 2 == 1)
    }

    /// Both contradict each other unless they are apart, or the same, or one only takes lines out
    /// and the other does not replace any.
    fn contradicts(&self, other: &Self) -> bool {
        let same = self.touches == other.touches && self.new == other.new;
        let milder = (self.new.is_empty() && !other.replaces())
            || (other.new.is_empty() && !self.replaces());
        !self.touches.is_disjoint(&other.touches) && !same && !milder
    }
}

fn edits(base: &TracedText, side: &TracedText) -> Vec<TracedEdit> {
    let mut found = Vec::new();
    let (mut next, mut new) = (0, String::new());
    let end = TracedLine { from: Some(base.len()), text: String::new() };
    for line in side.iter().chain([&end]) {
        let Some(here) = line.from else {
            new.push_str(&line.text);
            continue;
        };
        if here > next || !new.is_empty() {
            let touches = if here > next { 2 * next + 1..2 * here } else { 2 * here..2 * here + 1 };
            found.push(TracedEdit { touches: touches.collect(), new: std::mem::take(&mut new) });
        }
        next = here + 1;
    }
    found
}

/// The merged bytes; `None` where two edits contradict each other.
fn oracle(base: &TracedText, ours: &TracedText, theirs: &TracedText) -> Option<Vec<u8>> {
    let (ours, mut theirs) = (edits(base, ours), edits(base, theirs));
    for mine in &ours {
        if theirs.iter().any(|other| mine.contradicts(other)) {
            return None;
        }
        theirs.retain(|other| mine.touches != other.touches || mine.new != other.new);
    }
    let all: Vec<TracedEdit> = ours.into_iter().chain(theirs).collect();
    let mut out = Vec::new();
    for place in 0..=2 * base.len() {
        let here = |edit: &&TracedEdit| edit.touches.first() == Some(&place);
        all.iter().filter(here).for_each(|edit| out.extend(edit.new.bytes()));
        if place % 2 == 1 && !all.iter().any(|edit| edit.touches.contains(&place)) {
            out.extend(base.get(place / 2).expect("a line").text.bytes());
        }
    }
    Some(out)
}

#[test]
fn merges_conflict_exactly_where_the_oracle_finds_overlapping_lines() {
    let (mut clean, mut conflicts) = (0, 0);
    for seed in 0..20_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let base: TracedText = (0..random.usize(0..9))
            .map(|n| TracedLine { from: Some(n), text: format!("base {n}\n") })
            .collect();
        let ours = edited(&base, &mut random, "ours");
        let theirs = edited(&base, &mut random, "theirs");
        let found = merge(&bytes(&base), &bytes(&ours), &bytes(&theirs)).without_conflicts();
        let expected = oracle(&base, &ours, &theirs);
        let said = |text: &Option<Vec<u8>>| {
            text.as_ref().map(|text| String::from_utf8_lossy(text).into_owned())
        };
        assert_eq!(said(&found), said(&expected), "seed {seed}: {base:?} {ours:?} {theirs:?}");
        if expected.is_some() { clean += 1 } else { conflicts += 1 }
    }
    assert!(clean > 5_000 && conflicts > 2_000, "both happen: {clean} and {conflicts}");
}

/// Where lines repeat, nobody can tell from two texts which of them stayed; but nothing is lost.
#[test]
fn a_clean_merge_of_repeated_lines_loses_and_invents_nothing() {
    for seed in 0..20_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut text = || -> Vec<u8> {
            (0..random.usize(0..8)).flat_map(|_| [b'a' + random.u8(0..4), b'\n']).collect()
        };
        let (base, ours, theirs) = (text(), text(), text());
        assert_eq!(merge(&base, &base, &theirs).without_conflicts().as_ref(), Some(&theirs));
        assert_eq!(merge(&base, &ours, &base).without_conflicts().as_ref(), Some(&ours));
        assert_eq!(merge(&base, &ours, &ours).without_conflicts().as_ref(), Some(&ours));
        let merged = merge(&base, &ours, &theirs);
        let other = merge(&base, &theirs, &ours);
        assert_eq!(merged.conflicts.len(), other.conflicts.len(), "seed {seed}");
        let Some(both) = merged.without_shared_changes() else { continue };
        assert_eq!(
            other.without_shared_changes().as_ref(),
            Some(&both),
            "seed {seed}: the sides are equals"
        );
        // A change that both sides made counts once.
        let mut made = edit_set(&base, &ours);
        made.extend(edit_set(&base, &theirs));
        for letter in b'a'..=b'd' {
            let gained: i32 =
                made.iter().map(|(_, gone, come)| count(come, letter) - count(gone, letter)).sum();
            let sum = count(&base, letter) + gained;
            assert_eq!(count(&both, letter), sum, "seed {seed}: {}", char::from(letter));
        }
    }
}

/// Each change: its place, the removed and the inserted lines. Lines are two bytes long here.
fn edit_set(base: &[u8], side: &[u8]) -> BTreeSet<(usize, Vec<u8>, Vec<u8>)> {
    let lines = |text: &[u8], of: std::ops::Range<usize>| {
        text.get(of.start * 2..of.end * 2).expect("lines").to_vec()
    };
    hunks(base, side)
        .into_iter()
        .map(|hunk| (hunk.before.start, lines(base, hunk.before), lines(side, hunk.after)))
        .collect()
}

fn count(text: &[u8], letter: u8) -> i32 {
    text.iter().filter(|byte| **byte == letter).map(|_| 1).sum()
}
