//! Where the changes of two sides meet.

use std::ops::Range;

use super::hunk::{Hunk, between};
use super::lines::Lines;
use super::order::{Order, Tellings, Told};

/// One side, as changes of the base.
pub(super) struct Side<'a> {
    lines: Lines<'a>,
    hunks: Vec<Hunk>,
}

impl<'a> Side<'a> {
    pub(super) fn of(base: &Lines<'_>, text: &'a [u8]) -> Self {
        let lines = Lines::of(text);
        let hunks = between(base, &lines);
        Self { lines, hunks }
    }

    /// What this side has in place of `range` of the base, which `hunks` are inside of.
    pub(super) fn text(&self, base: &Lines<'_>, range: &Range<usize>, hunks: &[Hunk]) -> Vec<u8> {
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
    pub(super) fn height(&self, range: &Range<usize>, hunks: &[Hunk]) -> usize {
        let gone: usize = hunks.iter().map(|hunk| hunk.before.len()).sum();
        let come: usize = hunks.iter().map(|hunk| hunk.after.len()).sum();
        range.len() - gone + come
    }

    fn new_lines(&self, hunk: &Hunk) -> &[&'a [u8]] {
        self.lines.slice(hunk.after.clone())
    }
}

/// Changes that overlap, directly or through one another; a change that overlaps none stands
/// alone in its region.
pub(super) struct Region {
    /// Lines of the base.
    pub(super) range: Range<usize>,
    pub(super) ours: Vec<Hunk>,
    pub(super) theirs: Vec<Hunk>,
    /// The new lines of both, where their order is known.
    pub(super) woven: Option<Vec<u8>>,
}

impl Region {
    /// The lines of both sides if one only took lines out, and the other put in or took out, but
    /// replaced none.
    pub(super) fn mingled(&self, base: &Lines<'_>, sides: [&Side<'_>; 2]) -> Option<Vec<u8>> {
        let [ours, theirs] = sides;
        let only_out = |hunks: &[Hunk]| hunks.iter().all(|hunk| hunk.after.is_empty());
        let replaces = |hunk: &Hunk| !hunk.before.is_empty() && !hunk.after.is_empty();
        if !(only_out(&self.ours) || only_out(&self.theirs))
            || self.ours.iter().chain(&self.theirs).any(replaces)
        {
            return None;
        }
        let mut gone = vec![false; self.range.len()];
        for line in self.ours.iter().chain(&self.theirs).flat_map(|hunk| hunk.before.clone()) {
            if let Some(gone) = gone.get_mut(line - self.range.start) {
                *gone = true;
            }
        }
        let put_in = |hunk: &&Hunk| hunk.before.is_empty();
        let mut mine = self.ours.iter().filter(put_in).peekable();
        let mut other = self.theirs.iter().filter(put_in).peekable();
        let mut out = Vec::new();
        for (at, gone) in (self.range.start..).zip(gone.into_iter().chain([true])) {
            while let Some(hunk) = mine.next_if(|hunk| hunk.before.start == at) {
                out.extend(ours.lines.bytes(hunk.after.clone()));
            }
            while let Some(hunk) = other.next_if(|hunk| hunk.before.start == at) {
                out.extend(theirs.lines.bytes(hunk.after.clone()));
            }
            if !gone {
                out.extend(base.bytes(at..at + 1));
            }
        }
        Some(out)
    }
}

#[derive(Clone, Copy)]
enum Whose {
    Ours,
    Theirs,
}

/// From top to bottom; of two that touch, what was put between the lines stands first.
pub(super) fn regions<'a>(
    base: &Lines<'_>,
    ours: &Side<'a>,
    theirs: &Side<'a>,
    order: &Order<'a>,
) -> Vec<Region> {
    let mut all: Vec<(Whose, &Hunk)> = ours.hunks.iter().map(|hunk| (Whose::Ours, hunk)).collect();
    all.extend(theirs.hunks.iter().map(|hunk| (Whose::Theirs, hunk)));
    all.sort_by_key(|(_, hunk)| (hunk.before.start, hunk.before.end));
    let mut found: Vec<Region> = Vec::new();
    let told = Tellings::of(order, [&ours.lines, &theirs.lines]);
    for (whose, hunk) in all {
        let (this, other) = match whose {
            Whose::Ours => (ours, theirs),
            Whose::Theirs => (theirs, ours),
        };
        let meeting = found.last().map_or(Meeting::Apart, |region| {
            let (mine, above) = match whose {
                Whose::Ours => (&region.ours, &region.theirs),
                Whose::Theirs => (&region.theirs, &region.ours),
            };
            meeting(base, &told, (other, above), (this, hunk, mine))
        });
        let woven = match meeting {
            Meeting::Apart => {
                let range = hunk.before.clone();
                found.push(Region { range, ours: vec![], theirs: vec![], woven: None });
                None
            }
            Meeting::Overlapping => None,
            Meeting::InOrder(woven) => Some(woven),
        };
        let Some(region) = found.last_mut() else { continue };
        region.range.end = region.range.end.max(hunk.before.end);
        region.woven = woven;
        match whose {
            Whose::Ours => region.ours.push(hunk.clone()),
            Whose::Theirs => region.theirs.push(hunk.clone()),
        }
    }
    found
}

/// How a change meets the region above it.
enum Meeting {
    /// Not at all.
    Apart,
    Overlapping,
    /// Their new lines stand in this order.
    InOrder(Vec<u8>),
}

/// `above` is what the other side has in the region, `mine` what this side has there.
fn meeting<'a>(
    base: &Lines<'_>,
    told: &Tellings<'a>,
    (other, above): (&Side<'a>, &[Hunk]),
    (this, hunk, mine): (&Side<'a>, &Hunk, &[Hunk]),
) -> Meeting {
    // Of changes that are in order and apart the last one reaches farthest.
    let mut lowest_first = above.iter().rev();
    let overlaps =
        lowest_first.any(|above| overlap(above, hunk) || glue(base, (other, above), hunk));
    let ([above], []) = (above, mine) else {
        return if overlaps { Meeting::Overlapping } else { Meeting::Apart };
    };
    let both_put_in = above.before.is_empty() && above.before == hunk.before;
    let touch = above.before.end == hunk.before.start;
    if (overlaps && !both_put_in) || !touch {
        return if overlaps { Meeting::Overlapping } else { Meeting::Apart };
    }
    let (upper, lower) = (other.new_lines(above), this.new_lines(hunk));
    match told.about(upper, lower) {
        Told::Order(woven) => Meeting::InOrder(woven),
        Told::NotSo => Meeting::Overlapping,
        Told::Nothing if overlaps => Meeting::Overlapping,
        Told::Nothing => Meeting::Apart,
    }
}

/// Whether two changes of the base overlap; the first begins, or else ends, not below the second.
fn overlap(first: &Hunk, second: &Hunk) -> bool {
    let (first, second) = (&first.before, &second.before);
    second.start < first.end || (second.is_empty() && *first == *second)
}

/// Whether the second would put its lines behind a last line that the first left open.
fn glue(base: &Lines<'_>, first: (&Side<'_>, &Hunk), second: &Hunk) -> bool {
    let (side, first) = first;
    let is_open = |line: &&[u8]| !line.ends_with(b"\n");
    first.before.end == base.len()
        && second.before.start == base.len()
        && !second.after.is_empty()
        && side.new_lines(first).last().is_some_and(is_open)
}
