//! The single changes between two versions of a note, each of which can be undone alone.

use std::collections::BTreeSet;
use std::ops::Range;

use super::lcs::matching_lines;
use super::lines::SplitLines;

/// One changed run of lines: what stood at `before` in the old version stands at `after` in the
/// new one. Line numbers count from zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffHunk {
    /// Lines of the old version; empty where lines were only inserted.
    pub before: Range<usize>,
    /// Lines of the new version; empty where lines were only taken out.
    pub after: Range<usize>,
}

/// The changes from `old` to `new`, from top to bottom; between two hunks is at least one line that
/// both versions share. Lines that were inserted or deleted next to equal ones count as the last of
/// them, as in git, so that two comparisons agree on which of them it was.
#[must_use]
pub fn hunks(old: &[u8], new: &[u8]) -> Vec<DiffHunk> {
    diff_lines(&SplitLines::split(old), &SplitLines::split(new))
}

/// The text in the place of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HunkSide {
    /// The lines of the old version.
    Old,
    /// The lines of the new version.
    New,
    /// These bytes.
    Other(Vec<u8>),
}

/// `new` with some of its changes against `old` undone: those whose place in [`hunks`] is in
/// `chosen`.
#[must_use]
pub fn revert_hunks(old: &[u8], new: &[u8], chosen: &BTreeSet<usize>) -> Vec<u8> {
    assemble(
        old,
        new,
        |number| if chosen.contains(&number) { HunkSide::Old } else { HunkSide::New },
    )
}

/// The lines that both versions share, and in the place of each hunk what `side` says of its place
/// in [`hunks`].
#[must_use]
pub fn assemble(old: &[u8], new: &[u8], side: impl Fn(usize) -> HunkSide) -> Vec<u8> {
    let (old, new) = (SplitLines::split(old), SplitLines::split(new));
    let mut out = Vec::new();
    let mut from = 0;
    for (number, hunk) in diff_lines(&old, &new).into_iter().enumerate() {
        out.extend(new.bytes(from..hunk.after.start));
        from = hunk.after.end;
        match side(number) {
            HunkSide::Old => out.extend(old.bytes(hunk.before)),
            HunkSide::New => out.extend(new.bytes(hunk.after)),
            HunkSide::Other(bytes) => out.extend(bytes),
        }
    }
    out.extend(new.bytes(from..new.len()));
    out
}

pub(super) fn diff_lines(old: &SplitLines<'_>, new: &SplitLines<'_>) -> Vec<DiffHunk> {
    let mut found: Vec<DiffHunk> = Vec::new();
    let (mut from_old, mut from_new) = (0, 0);
    let end = (old.len(), new.len());
    for (at_old, at_new) in matching_lines(old, new).into_iter().chain([end]) {
        if (from_old, from_new) != (at_old, at_new) {
            found.push(DiffHunk { before: from_old..at_old, after: from_new..at_new });
        }
        (from_old, from_new) = (at_old + 1, at_new + 1);
    }
    // From the bottom up: a hunk that moves down may meet the one below, where that came to rest.
    let mut settled: Vec<DiffHunk> = Vec::new();
    for hunk in found.into_iter().rev() {
        slide_down(hunk, old, new, &mut settled);
    }
    settled.reverse();
    settled
}

/// Moves `hunk` down as far as it means the same, and joins it with the one below if it meets it.
fn slide_down(
    mut hunk: DiffHunk,
    old: &SplitLines<'_>,
    new: &SplitLines<'_>,
    below: &mut Vec<DiffHunk>,
) {
    loop {
        if below.last().is_some_and(|next| next.before.start == hunk.before.end) {
            let Some(next) = below.pop() else { break };
            hunk = DiffHunk {
                before: hunk.before.start..next.before.end,
                after: hunk.after.start..next.after.end,
            };
        }
        if !can_slide_down(&hunk, old, new) {
            break;
        }
        hunk.before = hunk.before.start + 1..hunk.before.end + 1;
        hunk.after = hunk.after.start + 1..hunk.after.end + 1;
    }
    below.push(hunk);
}

/// Whether the line below is equal to the first line of a pure insertion or deletion.
fn can_slide_down(hunk: &DiffHunk, old: &SplitLines<'_>, new: &SplitLines<'_>) -> bool {
    if hunk.before.is_empty() {
        let below = new.get(hunk.after.end);
        below.is_some() && below == new.get(hunk.after.start)
    } else if hunk.after.is_empty() {
        let below = old.get(hunk.before.end);
        below.is_some() && below == old.get(hunk.before.start)
    } else {
        false
    }
}
