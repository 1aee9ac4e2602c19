//! Where the changes of two sides meet.

use std::ops::Range;

use super::hunk::{DiffHunk, diff_lines};
use super::line_order::{LineOrder, OrderEvidence, RelativeOrder};
use super::lines::SplitLines;

/// One side, as changes of the base.
pub(super) struct MergeSide<'a> {
    lines: SplitLines<'a>,
    hunks: Vec<DiffHunk>,
}

impl<'a> MergeSide<'a> {
    pub(super) fn from_text(base: &SplitLines<'_>, text: &'a [u8]) -> Self {
        let lines = SplitLines::split(text);
        let hunks = diff_lines(base, &lines);
        Self { lines, hunks }
    }

    /// The text of this side in place of `range` of the base, which contains `hunks`.
    pub(super) fn text(
        &self,
        base: &SplitLines<'_>,
        range: &Range<usize>,
        hunks: &[DiffHunk],
    ) -> Vec<u8> {
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

    /// The number of lines that this side has in place of `range`.
    pub(super) fn line_count(&self, range: &Range<usize>, hunks: &[DiffHunk]) -> usize {
        let gone: usize = hunks.iter().map(|hunk| hunk.before.len()).sum();
        let come: usize = hunks.iter().map(|hunk| hunk.after.len()).sum();
        range.len() - gone + come
    }

    fn new_lines(&self, hunk: &DiffHunk) -> &[&'a [u8]] {
        self.lines.slice(hunk.after.clone())
    }
}

/// Changes that overlap, directly or through one another; a change that overlaps none stands
/// alone in its region.
pub(super) struct MergeChunk {
    /// Lines of the base.
    pub(super) range: Range<usize>,
    pub(super) ours: Vec<DiffHunk>,
    pub(super) theirs: Vec<DiffHunk>,
    /// The new lines of both, where their order is known.
    pub(super) interleaved: Option<Vec<u8>>,
}

impl MergeChunk {
    /// The lines of both sides if one side only deleted lines, and the other inserted or deleted
    /// lines but replaced none.
    pub(super) fn combine_deletions(
        &self,
        base: &SplitLines<'_>,
        sides: [&MergeSide<'_>; 2],
    ) -> Option<Vec<u8>> {
        let [ours, theirs] = sides;
        let only_out = |hunks: &[DiffHunk]| hunks.iter().all(|hunk| hunk.after.is_empty());
        let replaces = |hunk: &DiffHunk| !hunk.before.is_empty() && !hunk.after.is_empty();
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
        let is_insertion = |hunk: &&DiffHunk| hunk.before.is_empty();
        let mut mine = self.ours.iter().filter(is_insertion).peekable();
        let mut other = self.theirs.iter().filter(is_insertion).peekable();
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
enum ChunkOwner {
    Ours,
    Theirs,
}

/// From top to bottom; of two that touch, what was put between the lines stands first.
pub(super) fn chunks<'a>(
    base: &SplitLines<'_>,
    ours: &MergeSide<'a>,
    theirs: &MergeSide<'a>,
    order: &LineOrder<'a>,
) -> Vec<MergeChunk> {
    let mut all: Vec<(ChunkOwner, &DiffHunk)> =
        ours.hunks.iter().map(|hunk| (ChunkOwner::Ours, hunk)).collect();
    all.extend(theirs.hunks.iter().map(|hunk| (ChunkOwner::Theirs, hunk)));
    all.sort_by_key(|(_, hunk)| (hunk.before.start, hunk.before.end));
    let mut found: Vec<MergeChunk> = Vec::new();
    let told = OrderEvidence::from_sides(order, [&ours.lines, &theirs.lines]);
    for (whose, hunk) in all {
        let (this, other) = match whose {
            ChunkOwner::Ours => (ours, theirs),
            ChunkOwner::Theirs => (theirs, ours),
        };
        let meeting = found.last().map_or(ChunkOverlap::Apart, |region| {
            let (mine, above) = match whose {
                ChunkOwner::Ours => (&region.ours, &region.theirs),
                ChunkOwner::Theirs => (&region.theirs, &region.ours),
            };
            overlap_with(base, &told, (other, above), (this, hunk, mine))
        });
        let woven = match meeting {
            ChunkOverlap::Apart => {
                let range = hunk.before.clone();
                found.push(MergeChunk { range, ours: vec![], theirs: vec![], interleaved: None });
                None
            }
            ChunkOverlap::Overlapping => None,
            ChunkOverlap::InOrder(woven) => Some(woven),
        };
        let Some(region) = found.last_mut() else { continue };
        region.range.end = region.range.end.max(hunk.before.end);
        region.interleaved = woven;
        match whose {
            ChunkOwner::Ours => region.ours.push(hunk.clone()),
            ChunkOwner::Theirs => region.theirs.push(hunk.clone()),
        }
    }
    found
}

/// How a change meets the region above it.
enum ChunkOverlap {
    /// Not at all.
    Apart,
    Overlapping,
    /// Their new lines stand in this order.
    InOrder(Vec<u8>),
}

/// `above` is the text of the other side in the region, `mine` the text of this side.
fn overlap_with<'a>(
    base: &SplitLines<'_>,
    told: &OrderEvidence<'a>,
    (other, above): (&MergeSide<'a>, &[DiffHunk]),
    (this, hunk, mine): (&MergeSide<'a>, &DiffHunk, &[DiffHunk]),
) -> ChunkOverlap {
    // Of changes that are in order and apart the last one reaches farthest.
    let mut lowest_first = above.iter().rev();
    let overlaps = lowest_first
        .any(|above| ranges_overlap(above, hunk) || would_join_lines(base, (other, above), hunk));
    let ([above], []) = (above, mine) else {
        return if overlaps { ChunkOverlap::Overlapping } else { ChunkOverlap::Apart };
    };
    let both_insert = above.before.is_empty() && above.before == hunk.before;
    let touch = above.before.end == hunk.before.start;
    if (overlaps && !both_insert) || !touch {
        return if overlaps { ChunkOverlap::Overlapping } else { ChunkOverlap::Apart };
    }
    let (upper, lower) = (other.new_lines(above), this.new_lines(hunk));
    match told.relative_order(upper, lower) {
        RelativeOrder::Order(woven) => ChunkOverlap::InOrder(woven),
        RelativeOrder::NotSo => ChunkOverlap::Overlapping,
        RelativeOrder::Nothing if overlaps => ChunkOverlap::Overlapping,
        RelativeOrder::Nothing => ChunkOverlap::Apart,
    }
}

/// Whether two changes of the base overlap; the first begins, or else ends, not below the second.
fn ranges_overlap(first: &DiffHunk, second: &DiffHunk) -> bool {
    let (first, second) = (&first.before, &second.before);
    second.start < first.end || (second.is_empty() && *first == *second)
}

/// Whether the second would put its lines behind a last line that the first left open.
fn would_join_lines(
    base: &SplitLines<'_>,
    first: (&MergeSide<'_>, &DiffHunk),
    second: &DiffHunk,
) -> bool {
    let (side, first) = first;
    let is_open = |line: &&[u8]| !line.ends_with(b"\n");
    first.before.end == base.len()
        && second.before.start == base.len()
        && !second.after.is_empty()
        && side.new_lines(first).last().is_some_and(is_open)
}
