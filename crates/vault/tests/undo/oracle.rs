//! The result of an undo, found without comparing texts: by the identities of the lines.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::simulation::LineId;

/// A run of lines that one side changed.
#[derive(Debug, Clone)]
pub(crate) struct OracleEdit {
    /// `2k + 1` is line k of the base, `2k` the place before it; a run touches the places inside.
    touches: BTreeSet<usize>,
    pub(crate) gone: Vec<LineId>,
    pub(crate) new: Vec<LineId>,
}

impl OracleEdit {
    fn replaces(&self) -> bool {
        !self.gone.is_empty() && !self.new.is_empty()
    }

    fn is_same(&self, other: &Self) -> bool {
        self.touches == other.touches && self.new == other.new
    }

    fn end(&self) -> usize {
        self.touches.last().unwrap() + usize::from(!self.gone.is_empty())
    }

    /// The place before its first line.
    pub(crate) fn start(&self) -> usize {
        self.touches.first().unwrap() - usize::from(!self.gone.is_empty())
    }
}

/// The changes of `side` against `base`.
pub(crate) fn edits(base: &[LineId], side: &[LineId]) -> Vec<OracleEdit> {
    let number: BTreeMap<LineId, usize> = base.iter().copied().zip(0..).collect();
    let kept = side.iter().map(|line| (number.get(line).copied(), *line));
    let mut found = Vec::new();
    let (mut next, mut new) = (0, Vec::new());
    for (here, line) in kept.chain([(Some(base.len()), 0)]) {
        let Some(here) = here else {
            new.push(line);
            continue;
        };
        assert!(here >= next, "lines never change places: {base:?} {side:?}");
        if here > next || !new.is_empty() {
            let touches = if here > next { 2 * next + 1..2 * here } else { 2 * here..2 * here + 1 };
            let gone = base[next..here].to_vec();
            found.push(OracleEdit {
                touches: touches.collect(),
                gone,
                new: std::mem::take(&mut new),
            });
        }
        next = here + 1;
    }
    found
}

/// `after` with some of its edits of `before` undone.
pub(crate) fn without(before: &[LineId], after: &[LineId], hunks: &BTreeSet<usize>) -> Vec<LineId> {
    let edits = edits(before, after);
    let mut all = after.to_vec();
    let chosen = edits.iter().enumerate().filter(|(at, _)| hunks.contains(at));
    for (_, edit) in chosen {
        let at = match edit.new.first() {
            Some(first) => all.iter().position(|line| line == first).unwrap(),
            None => {
                // Behind the last line above that both versions have.
                let upper = &before[..edit.start() / 2];
                let above = upper.iter().rev().find(|line| after.contains(line));
                above.map_or(0, |above| all.iter().position(|line| line == above).unwrap() + 1)
            }
        };
        all.splice(at..at + edit.new.len(), edit.gone.iter().copied());
    }
    all
}

/// Pairs of lines of which some version, or a chain of them, has the first above the second.
struct KnownLineOrder<'a> {
    versions: &'a [Vec<LineId>],
    pairs: OnceCell<BTreeSet<(LineId, LineId)>>,
}

impl KnownLineOrder<'_> {
    fn pairs(&self) -> &BTreeSet<(LineId, LineId)> {
        self.pairs.get_or_init(|| Self::all(self.versions))
    }

    fn all(versions: &[Vec<LineId>]) -> BTreeSet<(LineId, LineId)> {
        let mut below: BTreeMap<LineId, BTreeSet<LineId>> = BTreeMap::new();
        for version in versions {
            for (at, line) in version.iter().enumerate() {
                below.entry(*line).or_default().extend(&version[at + 1..]);
            }
        }
        let mut pairs = BTreeSet::new();
        for from in below.keys() {
            let mut waiting = vec![*from];
            while let Some(line) = waiting.pop() {
                for to in below.get(&line).into_iter().flatten() {
                    if pairs.insert((*from, *to)) {
                        waiting.push(*to);
                    }
                }
            }
        }
        pairs
    }

    /// The only order of both that no version contradicts; `None` when there are several.
    fn only_order(&self, one: &[LineId], other: &[LineId]) -> Option<Vec<LineId>> {
        match (one, other) {
            ([], only) | (only, []) => return Some(only.to_vec()),
            _ => {}
        }
        let mut found = Vec::new();
        self.interleave(one, other, &mut Vec::new(), &mut found);
        match found.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    /// Whether some version tells that a line of the lower ones stood above one of the upper ones.
    fn contradicts(&self, upper: &[LineId], lower: &[LineId]) -> bool {
        let told = |above: LineId, below: LineId| self.pairs().contains(&(above, below));
        let mut pairs =
            upper.iter().flat_map(|upper| lower.iter().map(move |lower| (*upper, *lower)));
        pairs.any(|(upper, lower)| told(lower, upper) && !told(upper, lower))
    }

    fn interleave(
        &self,
        one: &[LineId],
        other: &[LineId],
        so_far: &mut Vec<LineId>,
        found: &mut Vec<Vec<LineId>>,
    ) {
        if one.is_empty() && other.is_empty() {
            let is_told = |(at, upper): (usize, &LineId)| {
                so_far[at + 1..].iter().all(|lower| !self.pairs().contains(&(*lower, *upper)))
            };
            let different: BTreeSet<_> = so_far.iter().collect();
            if so_far.iter().enumerate().all(is_told) && different.len() == so_far.len() {
                found.push(so_far.clone());
            }
            return;
        }
        if let ([head, one @ ..], [same, other @ ..]) = (one, other)
            && head == same
        {
            so_far.push(*head);
            self.interleave(one, other, so_far, found);
            so_far.pop();
            return;
        }
        for (first, second) in [(one, other), (other, one)] {
            if let Some((head, tail)) = first.split_first() {
                so_far.push(*head);
                self.interleave(tail, second, so_far, found);
                so_far.pop();
            }
        }
    }
}

/// Both sides' edits of the base; `None` where two contradict each other.
pub(crate) fn merged(
    base: &[LineId],
    ours: &[LineId],
    theirs: &[LineId],
    versions: &[Vec<LineId>],
) -> Option<Vec<LineId>> {
    let mut told = versions.to_vec();
    told.extend([ours.to_vec(), theirs.to_vec()]);
    let told = if versions.is_empty() { &[][..] } else { &told };
    let above = KnownLineOrder { versions: told, pairs: OnceCell::new() };
    let mine = edits(base, ours);
    let mut other = edits(base, theirs);
    other.retain(|edit| !mine.iter().any(|same| same.is_same(edit)));
    let mut all: Vec<OracleEdit> = Vec::new();
    for edit in mine {
        let meets = |other: &&OracleEdit| !edit.touches.is_disjoint(&other.touches);
        for met in other.iter().filter(meets) {
            let milder =
                |one: &OracleEdit, other: &OracleEdit| one.new.is_empty() && !other.replaces();
            let both_insert = edit.gone.is_empty() && met.gone.is_empty();
            let known = both_insert && above.only_order(&edit.new, &met.new).is_some();
            if !known && !milder(&edit, met) && !milder(met, &edit) {
                return None;
            }
        }
        all.push(edit);
    }
    all.extend(other);
    all.sort_by_key(|edit| (edit.start(), edit.end()));
    for pair in all.windows(2) {
        let (upper, lower) = (&pair[0], &pair[1]);
        if upper.end() == lower.start()
            && above.only_order(&upper.new, &lower.new).is_none()
            && above.contradicts(&upper.new, &lower.new)
        {
            return None;
        }
    }
    Some(join(base, all, &above))
}

fn join(base: &[LineId], all: Vec<OracleEdit>, above: &KnownLineOrder<'_>) -> Vec<LineId> {
    let gone: BTreeSet<LineId> = all.iter().flat_map(|edit| edit.gone.iter().copied()).collect();
    // New lines that meet stand as they did; else one below the other.
    let mut news: Vec<(usize, usize, Vec<LineId>)> = Vec::new();
    for edit in all.into_iter().filter(|edit| !edit.new.is_empty()) {
        if let Some((_, end, upper)) = news.last_mut()
            && *end == edit.start()
            && let Some(woven) = above.only_order(upper, &edit.new)
        {
            (*upper, *end) = (woven, edit.end());
        } else {
            news.push((edit.start(), edit.end(), edit.new));
        }
    }
    let mut out = Vec::new();
    for place in 0..=base.len() {
        let here = news.iter().filter(|(start, _, _)| *start == 2 * place);
        out.extend(here.flat_map(|(_, _, new)| new.iter().copied()));
        out.extend(base.get(place).filter(|line| !gone.contains(line)));
    }
    out
}
