//! Two sides of one base.

use std::ops::Range;

use super::hunk::{Hunk, between};
use super::lines::Lines;

/// What two sides come to together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// Both sides' changes; where they conflict, as `ours` has it.
    pub bytes: Vec<u8>,
    /// Where both sides changed the same lines, from top to bottom.
    pub conflicts: Vec<Conflict>,
}

impl Merged {
    /// The merged bytes, if nothing conflicts.
    #[must_use]
    pub fn clean(self) -> Option<Vec<u8>> {
        self.conflicts.is_empty().then_some(self.bytes)
    }
}

/// Lines that both sides changed, each in its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The line of `ours` at which it begins, counted from zero.
    pub line: usize,
    /// What the base has.
    pub base: Vec<u8>,
    /// What our side made of it.
    pub ours: Vec<u8>,
    /// What their side made of it.
    pub theirs: Vec<u8>,
}

/// Puts the changes from `base` to `theirs` into `ours`. What overlaps is said in
/// [`crate::merge`]; the result is the same whichever side is called ours, but for the bytes at
/// conflicts.
#[must_use]
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Merged {
    let base = Lines::of(base);
    let (ours, theirs) = (Side::of(&base, ours), Side::of(&base, theirs));
    let mut merged = Merged { bytes: Vec::new(), conflicts: Vec::new() };
    let mut from = 0;
    let mut line = 0;
    for region in regions(&base, &ours, &theirs) {
        line += region.range.start - from;
        merged.bytes.extend(base.bytes(from..region.range.start));
        from = region.range.end;
        let mine = ours.text(&base, &region.range, &region.ours);
        let other = theirs.text(&base, &region.range, &region.theirs);
        let conflict = !region.ours.is_empty() && !region.theirs.is_empty() && mine != other;
        let chosen = if region.ours.is_empty() { &other } else { &mine };
        merged.bytes.extend(chosen);
        let height = ours.height(&region.range, &region.ours);
        if conflict {
            let base = base.bytes(region.range);
            merged.conflicts.push(Conflict { line, base, ours: mine, theirs: other });
        }
        line += height;
    }
    merged.bytes.extend(base.bytes(from..base.len()));
    merged
}

/// One side, as changes of the base.
struct Side<'a> {
    lines: Lines<'a>,
    hunks: Vec<Hunk>,
}

impl<'a> Side<'a> {
    fn of(base: &Lines<'_>, text: &'a [u8]) -> Self {
        let lines = Lines::of(text);
        let hunks = between(base, &lines);
        Self { lines, hunks }
    }

    /// What this side has in place of `range` of the base, which `hunks` are inside of.
    fn text(&self, base: &Lines<'_>, range: &Range<usize>, hunks: &[Hunk]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut from = range.start;
        for hunk in hunks {
            out.extend(base.bytes(from..hunk.before.start));
            out.extend(self.lines.bytes(hunk.after.clone()));
            from = hunk.before.end;
        }
        out.extend(base.bytes(from..range.end));
        out
    }

    /// How many lines that is.
    fn height(&self, range: &Range<usize>, hunks: &[Hunk]) -> usize {
        let gone: usize = hunks.iter().map(|hunk| hunk.before.len()).sum();
        let come: usize = hunks.iter().map(|hunk| hunk.after.len()).sum();
        range.len() - gone + come
    }

    fn ends_open(&self, hunk: &Hunk) -> bool {
        let last = self.lines.slice(hunk.after.clone()).last();
        last.is_some_and(|line| !line.ends_with(b"\n"))
    }
}

/// Changes that overlap, directly or through one another; a change that overlaps none stands
/// alone in its region.
struct Region {
    range: Range<usize>,
    ours: Vec<Hunk>,
    theirs: Vec<Hunk>,
}

/// From top to bottom; of two that touch, what was put between the lines stands first.
fn regions(base: &Lines<'_>, ours: &Side<'_>, theirs: &Side<'_>) -> Vec<Region> {
    let mut all: Vec<(Whose, &Hunk)> = ours.hunks.iter().map(|hunk| (Whose::Ours, hunk)).collect();
    all.extend(theirs.hunks.iter().map(|hunk| (Whose::Theirs, hunk)));
    all.sort_by_key(|(_, hunk)| (hunk.before.start, hunk.before.end));
    let end = base.len();
    let mut found: Vec<Region> = Vec::new();
    for (whose, hunk) in all {
        let joins = found.last().is_some_and(|region| match whose {
            Whose::Ours => region
                .theirs
                .iter()
                .any(|other| overlap(other, hunk) || glue(end, (theirs, other), (ours, hunk))),
            Whose::Theirs => region
                .ours
                .iter()
                .any(|other| overlap(other, hunk) || glue(end, (ours, other), (theirs, hunk))),
        });
        if !joins {
            found.push(Region { range: hunk.before.clone(), ours: vec![], theirs: vec![] });
        }
        let Some(region) = found.last_mut() else { continue };
        region.range.end = region.range.end.max(hunk.before.end);
        match whose {
            Whose::Ours => region.ours.push(hunk.clone()),
            Whose::Theirs => region.theirs.push(hunk.clone()),
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Whose {
    Ours,
    Theirs,
}

/// Whether two changes of the base overlap; the first begins, or else ends, not below the second.
fn overlap(first: &Hunk, second: &Hunk) -> bool {
    let (first, second) = (&first.before, &second.before);
    second.start < first.end || (second.is_empty() && *first == *second)
}

/// Whether the second would put its lines behind a last line that the first left open.
fn glue(end: usize, first: (&Side<'_>, &Hunk), second: (&Side<'_>, &Hunk)) -> bool {
    let ((side, first), (_, second)) = (first, second);
    first.before.end == end
        && second.before.start == end
        && !second.after.is_empty()
        && side.ends_open(first)
}
