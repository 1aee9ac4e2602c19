//! Two sides of one base.

use std::ops::Range;

use super::chunk::{MergeChunk, MergeSide, chunks};
use super::line_order::LineOrder;
use super::lines::SplitLines;
use super::properties::{OtherConflicts, are_properties_kept, frontmatter};

/// The result of merging two sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// Both sides' changes; where they conflict, as `ours` has it.
    pub bytes: Vec<u8>,
    /// Where both sides changed the same lines, from top to bottom.
    pub conflicts: Vec<MergeConflict>,
    /// How many runs of lines one side took out while the other took out some of them too, or put
    /// lines between them. That is no contradiction, but these lines are not as the other side
    /// knew them.
    pub combined_deletions: usize,
}

impl Merged {
    /// The merged bytes, if nothing conflicts.
    #[must_use]
    pub fn without_conflicts(self) -> Option<Vec<u8>> {
        self.conflicts.is_empty().then_some(self.bytes)
    }

    /// The merged bytes, if every line that one side changed is as the base had it on the other,
    /// or changed in the same way.
    #[must_use]
    pub fn without_shared_changes(self) -> Option<Vec<u8>> {
        if self.combined_deletions == 0 { self.without_conflicts() } else { None }
    }

    /// Adds one region, which begins at this line of ours.
    fn add_chunk(
        &mut self,
        base: &SplitLines<'_>,
        sides: [&MergeSide<'_>; 2],
        region: MergeChunk,
        line: usize,
    ) {
        let [ours, theirs] = sides;
        let mine = ours.text(base, &region.range, &region.ours);
        let other = theirs.text(base, &region.range, &region.theirs);
        if let Some(woven) = region.interleaved {
            self.bytes.extend(woven);
        } else if region.ours.is_empty() {
            self.bytes.extend(other);
        } else if region.theirs.is_empty() || mine == other {
            self.bytes.extend(mine);
        } else if let Some(both) = region.combine_deletions(base, sides) {
            self.bytes.extend(both);
            self.combined_deletions += 1;
        } else {
            self.bytes.extend(&mine);
            let base = base.bytes(region.range);
            let changed = region.theirs.into_iter().map(|hunk| hunk.before).collect();
            self.conflicts.push(MergeConflict { line, base, ours: mine, theirs: other, changed });
        }
    }
}

/// Lines that both sides changed, each in its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConflict {
    /// The line of `ours` at which it begins, counted from zero.
    pub line: usize,
    /// The text of the base.
    pub base: Vec<u8>,
    /// The text of our side.
    pub ours: Vec<u8>,
    /// The text of their side.
    pub theirs: Vec<u8>,
    /// The lines of the base that their side changed in it, each change for itself; empty where lines were only
    /// inserted.
    pub changed: Vec<Range<usize>>,
}

impl MergeConflict {
    /// Whether a change of their side, of these lines of the base, is in the conflict.
    #[must_use]
    pub fn contains(&self, lines: &Range<usize>) -> bool {
        let is_it = |changed: &Range<usize>| {
            changed == lines || (changed.start < lines.end && lines.start < changed.end)
        };
        self.changed.iter().any(is_it)
    }
}

/// Merges the changes from `base` to `theirs` into `ours`. [`crate::merge`] defines conflicts. The
/// result is the same whichever side is called ours, but for the bytes at conflicts.
#[must_use]
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Merged {
    merge_in_order(base, ours, theirs, &LineOrder::default())
}

/// As [`merge`], but lines that both sides put at one place, or that touch, stand as earlier
/// versions had them, where `order` knows.
#[must_use]
pub fn merge_in_order(base: &[u8], ours: &[u8], theirs: &[u8], order: &LineOrder<'_>) -> Merged {
    let merged = merge_lines(base, ours, theirs, order);
    let conflict = match merged.conflicts.is_empty() {
        true => OtherConflicts::None,
        false => OtherConflicts::Some,
    };
    if are_properties_kept([base, ours, theirs], &merged.bytes, conflict) {
        return merged;
    }
    merge_below_frontmatter(base, ours, theirs, order)
}

/// The notes with their frontmatter in conflict, and the lines below it merged.
fn merge_below_frontmatter(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    order: &LineOrder<'_>,
) -> Merged {
    let [in_base, in_ours, in_theirs] = [base, ours, theirs].map(frontmatter);
    let below = |note: &[u8], matter: &[u8]| note.get(matter.len()..).unwrap_or_default().to_vec();
    let bodies = [below(base, in_base), below(ours, in_ours), below(theirs, in_theirs)];
    let [base_body, our_body, their_body] = &bodies;
    let mut merged = merge_lines(base_body, our_body, their_body, order);
    let lines = |text: &[u8]| SplitLines::split(text).len();
    let (above, above_in_base) = (lines(in_ours), lines(in_base));
    for conflict in &mut merged.conflicts {
        conflict.line += above;
        for changed in &mut conflict.changed {
            *changed = changed.start + above_in_base..changed.end + above_in_base;
        }
    }
    let (ours, mut theirs) = (in_ours.to_vec(), in_theirs.to_vec());
    // Text follows their frontmatter, so it must end with a line break.
    if !theirs.is_empty() && !theirs.ends_with(b"\n") && !merged.bytes.is_empty() {
        theirs.push(b'\n');
    }
    let is_glued = !ours.is_empty() && !ours.ends_with(b"\n") && !merged.bytes.is_empty();
    if is_glued {
        merged.bytes.splice(..0, *b"\n");
    }
    merged.bytes.splice(..0, ours.iter().copied());
    let conflict = MergeConflict {
        line: 0,
        base: in_base.to_vec(),
        ours,
        theirs,
        // Where the base has none, it was put before the first line, or in the place of it.
        changed: match above_in_base {
            0 => vec![0..0, 0..1],
            lines => std::iter::once(0..lines).collect(),
        },
    };
    merged.conflicts.insert(0, conflict);
    merged
}

fn merge_lines(base: &[u8], ours: &[u8], theirs: &[u8], order: &LineOrder<'_>) -> Merged {
    let base = SplitLines::split(base);
    let (ours, theirs) = (MergeSide::from_text(&base, ours), MergeSide::from_text(&base, theirs));
    let mut merged = Merged { bytes: Vec::new(), conflicts: Vec::new(), combined_deletions: 0 };
    let mut from = 0;
    let mut line = 0;
    for region in chunks(&base, &ours, &theirs, order) {
        line += region.range.start - from;
        merged.bytes.extend(base.bytes(from..region.range.start));
        from = region.range.end;
        let height = ours.line_count(&region.range, &region.ours);
        merged.add_chunk(&base, [&ours, &theirs], region, line);
        line += height;
    }
    merged.bytes.extend(base.bytes(from..base.len()));
    merged
}
