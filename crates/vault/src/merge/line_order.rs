//! Which line stood above which, as far as the versions of a note tell.

use std::cell::{Cell, LazyCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::lines::SplitLines;

/// Earlier versions of a note, as evidence of the order of its lines.
///
/// Two changes that insert lines at the same place do not say which come first. But a line that is
/// restored because its removal is undone has been in the note before: if a version, or a chain of
/// them, shows it above the other, it is restored above it. Lines that occur twice in a version
/// stay with the line above them.
#[derive(Debug, Clone, Default)]
pub struct LineOrder<'a> {
    versions: Vec<&'a [u8]>,
}

impl<'a> LineOrder<'a> {
    /// The order that these versions show together.
    #[must_use]
    pub fn from_versions(versions: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut seen = HashSet::new();
        Self { versions: versions.into_iter().filter(|text| seen.insert(*text)).collect() }
    }
}

/// The evidence of the versions about the two sides of one merge. It is computed once, at the first
/// use, however often the sides meet.
pub(super) struct OrderEvidence<'a> {
    graph: LazyCell<Option<LineGraph<'a>>, Box<dyn FnOnce() -> Option<LineGraph<'a>> + 'a>>,
}

impl<'a> OrderEvidence<'a> {
    /// `sides` are the texts that lines stand in now.
    pub(super) fn from_sides(order: &LineOrder<'a>, sides: [&SplitLines<'a>; 2]) -> Self {
        let (versions, sides) = (order.versions.clone(), sides.map(SplitLines::clone));
        let graph = move || {
            let versions: Vec<SplitLines<'a>> =
                versions.iter().map(|text| SplitLines::split(text)).collect();
            let all: Vec<&SplitLines<'a>> = versions.iter().chain(&sides).collect();
            (!versions.is_empty()).then(|| LineGraph::from_versions(&all))
        };
        Self { graph: LazyCell::new(Box::new(graph)) }
    }

    /// How the lines of `one` and of `other` belong together.
    pub(super) fn relative_order(&self, one: &[&'a [u8]], other: &[&'a [u8]]) -> RelativeOrder {
        let Some(graph) = &*self.graph else { return RelativeOrder::Nothing };
        let (Some(upper), Some(lower)) = (graph.chunks(one), graph.chunks(other)) else {
            return RelativeOrder::Nothing;
        };
        let heads = upper.iter().chain(&lower).map(|chunk| chunk.head);
        let Some(reach) = graph.reachability(heads) else { return RelativeOrder::Nothing };
        let is_below = |upper: &AnchoredLines<'_>| {
            lower.iter().any(|lower| reach.is_above(lower.head, upper.head) == Some(true))
        };
        let is_contradicted = upper.iter().any(is_below);
        match interleave(&reach, &upper, &lower) {
            Some(woven) => RelativeOrder::Order(woven),
            None if is_contradicted => RelativeOrder::NotSo,
            None => RelativeOrder::Nothing,
        }
    }
}

/// How lines that meet belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RelativeOrder {
    /// The lines of both sides in their order, as one text.
    Order(Vec<u8>),
    /// Not the second below the first; how else is not known.
    NotSo,
    Nothing,
}

/// A line that says where it belongs, and those that stay with it.
struct AnchoredLines<'a> {
    /// Its place among the lines of all versions.
    head: usize,
    lines: Vec<&'a [u8]>,
}

/// From each line that no version has twice to those right below it.
struct LineGraph<'a> {
    /// The places of lines in `below`; a line that some version has twice has none.
    places: HashMap<&'a [u8], usize>,
    below: Vec<Vec<usize>>,
    levels: Vec<Option<usize>>,
    /// How many steps may still be taken. A question that needs more stays open: then the sides
    /// conflict.
    steps_left: Cell<usize>,
    visits: RefCell<VisitMarks>,
}

/// Which lines one walk has visited. A walk does not clear the marks of the one before it: that would cost
/// as much as the note is long, each time.
#[derive(Default)]
struct VisitMarks {
    /// For each line, the last walk that visited it.
    last_walk: Vec<u32>,
    /// The number of the current walk; 0 before the first.
    walk: u32,
}

impl VisitMarks {
    /// Begins a walk over `lines` lines, of which none is visited yet.
    fn begin(&mut self, lines: usize) {
        if self.walk == u32::MAX || self.last_walk.len() != lines {
            *self = Self { last_walk: vec![0; lines], walk: 0 };
        }
        self.walk += 1;
    }

    /// Marks a line; returns whether this is its first visit in the current walk.
    fn visit(&mut self, line: usize) -> bool {
        let walk = self.walk;
        self.last_walk.get_mut(line).is_some_and(|last| std::mem::replace(last, walk) != walk)
    }

    fn has_visited(&self, line: usize) -> bool {
        self.last_walk.get(line) == Some(&self.walk)
    }
}

/// The number of lines over which the versions are followed at most in one merge, and the
/// additional number for each line that they have.
const MAX_STEPS: usize = 2_000_000;
const MAX_STEPS_PER_LINE: usize = 64;

/// The number of lines at one place up to which their order is determined.
const MAX_HEADS: usize = 4_000;

impl<'a> LineGraph<'a> {
    fn from_versions(versions: &[&SplitLines<'a>]) -> Self {
        let mut repeated = HashSet::new();
        for version in versions {
            let mut seen = HashSet::new();
            repeated.extend(version.iter().filter(|line| !seen.insert(*line)));
        }
        let (mut places, mut below) = (HashMap::new(), Vec::new());
        for version in versions {
            let mut above: Option<usize> = None;
            for line in version.iter().filter(|line| !repeated.contains(line)) {
                let place = *places.entry(line).or_insert_with(|| {
                    below.push(Vec::new());
                    below.len() - 1
                });
                if let Some(above) = above.replace(place).and_then(|above| below.get_mut(above)) {
                    above.push(place);
                }
            }
        }
        let steps = Cell::new(MAX_STEPS + below.len().saturating_mul(MAX_STEPS_PER_LINE));
        let levels = levels(&below);
        Self { places, below, levels, steps_left: steps, visits: RefCell::default() }
    }

    /// `None` when no line says where it belongs.
    fn chunks(&self, lines: &[&'a [u8]]) -> Option<Vec<AnchoredLines<'a>>> {
        let head = lines.iter().find_map(|line| self.places.get(line).copied())?;
        let mut chunks = vec![AnchoredLines { head, lines: Vec::new() }];
        for line in lines {
            let place = self.places.get(line).copied().filter(|place| *place != head);
            chunks.extend(place.map(|head| AnchoredLines { head, lines: Vec::new() }));
            if let Some(chunk) = chunks.last_mut() {
                chunk.lines.push(line);
            }
        }
        Some(chunks)
    }

    /// Which of these lines lead down to which; `None` when that takes too long to find out.
    fn reachability(&self, heads: impl Iterator<Item = usize>) -> Option<Reachability> {
        let heads: BTreeMap<usize, usize> =
            heads.collect::<BTreeSet<_>>().into_iter().zip(0..).collect();
        if heads.len() > MAX_HEADS {
            return None;
        }
        let mut led = Vec::with_capacity(heads.len());
        let mut visits = self.visits.borrow_mut();
        let level_of = |place: &usize| self.levels.get(*place).copied().flatten();
        // A walk ends at the level of the lowest head: what is below leads to no head. Where a head
        // has no level, it may be anywhere.
        let lowest = heads.keys().map(level_of).collect::<Option<Vec<usize>>>();
        let lowest = lowest.and_then(|levels| levels.into_iter().max());
        let may_lead_to_head = |place: &usize| {
            lowest.is_none_or(|lowest| level_of(place).is_some_and(|at| at <= lowest))
        };
        // Used steps stay used: the next meeting must not begin again.
        let mut steps = self.steps_left.replace(0);
        for from in heads.keys() {
            visits.begin(self.below.len());
            let mut waiting = vec![*from];
            while let Some(place) = waiting.pop() {
                for below in self.below.get(place).into_iter().flatten() {
                    steps = steps.checked_sub(1)?;
                    if may_lead_to_head(below) && visits.visit(*below) {
                        waiting.push(*below);
                    }
                }
            }
            led.push(heads.keys().map(|to| visits.has_visited(*to)).collect());
        }
        self.steps_left.set(steps);
        Some(Reachability { heads, reachable: led })
    }
}

/// For each line, the length of the longest way down to it. A line that stands in a circle, or below
/// one, has none: such a line leads only to lines without a level.
fn levels(below: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut unseen_above = vec![0_usize; below.len()];
    for place in below.iter().flatten() {
        if let Some(unseen) = unseen_above.get_mut(*place) {
            *unseen += 1;
        }
    }
    let mut longest = vec![0_usize; below.len()];
    let mut levels = vec![None; below.len()];
    let is_top = |(_, unseen): &(usize, &usize)| **unseen == 0;
    let mut waiting: Vec<usize> =
        (0..).zip(&unseen_above).filter(is_top).map(|(at, _)| at).collect();
    while let Some(place) = waiting.pop() {
        let level = longest.get(place).copied().unwrap_or_default();
        if let Some(found) = levels.get_mut(place) {
            *found = Some(level);
        }
        for lower in below.get(place).into_iter().flatten() {
            let (Some(way), Some(unseen)) = (longest.get_mut(*lower), unseen_above.get_mut(*lower))
            else {
                continue;
            };
            *way = (*way).max(level + 1);
            *unseen -= 1;
            if *unseen == 0 {
                waiting.push(*lower);
            }
        }
    }
    levels
}

/// Which of some lines lead down to which.
struct Reachability {
    /// Their places among all lines, with those among these.
    heads: BTreeMap<usize, usize>,
    reachable: Vec<Vec<bool>>,
}

impl Reachability {
    /// `None` when the versions do not say, or contradict each other.
    fn is_above(&self, one: usize, other: usize) -> Option<bool> {
        let (one, other) = (*self.heads.get(&one)?, *self.heads.get(&other)?);
        let leads = |from: usize, to: usize| self.reachable.get(from)?.get(to).copied();
        match (leads(one, other)?, leads(other, one)?) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }
}

/// Both in the only order in which they can stand.
fn interleave(
    reach: &Reachability,
    one: &[AnchoredLines<'_>],
    other: &[AnchoredLines<'_>],
) -> Option<Vec<u8>> {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut woven: Vec<&[u8]> = Vec::new();
    while let (Some(first), Some(second)) = (one.peek(), other.peek()) {
        // A line that both sides restored is one line.
        let is_same = first.head == second.head;
        let next =
            if is_same || reach.is_above(first.head, second.head)? { &mut one } else { &mut other };
        woven.extend(next.next().into_iter().flat_map(|chunk| &chunk.lines));
        if is_same {
            other.next();
        }
    }
    woven.extend(one.chain(other).flat_map(|chunk| &chunk.lines));
    // Only the last line of a note may be without its line break.
    let (_, all_but_last) = woven.split_last()?;
    all_but_last.iter().all(|line| line.ends_with(b"\n")).then(|| woven.concat())
}
