//! Which line stood above which, as far as the versions of a note tell.

use std::cell::{Cell, LazyCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::lines::Lines;

/// Earlier versions of a note, for what they say about the order of its lines.
///
/// Two changes that put lines at the same place do not say which come first. But a line that comes
/// back, because its removal is undone, has stood in the note before: if a version, or a chain of
/// them, shows it above the other, it comes back above. Lines that occur twice in a version stay
/// with the line above them.
#[derive(Debug, Clone, Default)]
pub struct Order<'a> {
    versions: Vec<&'a [u8]>,
}

impl<'a> Order<'a> {
    /// What these versions say together.
    #[must_use]
    pub fn of(versions: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut seen = HashSet::new();
        Self { versions: versions.into_iter().filter(|text| seen.insert(*text)).collect() }
    }
}

/// What the versions tell about the two sides of one merge. They are taken apart once, when it is
/// asked for first, however often the sides meet.
pub(super) struct Tellings<'a> {
    graph: LazyCell<Option<Graph<'a>>, Box<dyn FnOnce() -> Option<Graph<'a>> + 'a>>,
}

impl<'a> Tellings<'a> {
    /// `sides` are the texts that lines stand in now.
    pub(super) fn of(order: &Order<'a>, sides: [&Lines<'a>; 2]) -> Self {
        let (versions, sides) = (order.versions.clone(), sides.map(Lines::clone));
        let graph = move || {
            let versions: Vec<Lines<'a>> = versions.iter().map(|text| Lines::of(text)).collect();
            let all: Vec<&Lines<'a>> = versions.iter().chain(&sides).collect();
            (!versions.is_empty()).then(|| Graph::of(&all))
        };
        Self { graph: LazyCell::new(Box::new(graph)) }
    }

    /// How the lines of `one` and of `other` belong together.
    pub(super) fn about(&self, one: &[&'a [u8]], other: &[&'a [u8]]) -> Told {
        let Some(graph) = &*self.graph else { return Told::Nothing };
        let (Some(upper), Some(lower)) = (graph.chunks(one), graph.chunks(other)) else {
            return Told::Nothing;
        };
        let heads = upper.iter().chain(&lower).map(|chunk| chunk.head);
        let Some(reach) = graph.reach(heads) else { return Told::Nothing };
        let is_below = |upper: &Chunk<'_>| {
            lower.iter().any(|lower| reach.is_above(lower.head, upper.head) == Some(true))
        };
        let is_contradicted = upper.iter().any(is_below);
        match woven(&reach, &upper, &lower) {
            Some(woven) => Told::Order(woven),
            None if is_contradicted => Told::NotSo,
            None => Told::Nothing,
        }
    }
}

/// How lines that meet belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    /// In this order.
    Order(Vec<u8>),
    /// Not the second below the first; how else is not known.
    NotSo,
    Nothing,
}

/// A line that says where it belongs, and those that stay with it.
struct Chunk<'a> {
    /// Its place among the lines of all versions.
    head: usize,
    lines: Vec<&'a [u8]>,
}

/// From each line that no version has twice to those right below it.
struct Graph<'a> {
    /// The places of lines in `below`; a line that some version has twice has none.
    places: HashMap<&'a [u8], usize>,
    below: Vec<Vec<usize>>,
    /// How many steps may still be taken. What needs more is not told: then the sides conflict.
    steps: Cell<usize>,
}

/// Over so many lines the versions are followed at most, in one merge, and over so many more for each line
/// that they have.
const STEPS: usize = 2_000_000;
const STEPS_A_LINE: usize = 64;

/// Of so many lines at one place it is told in which order they stand.
const HEADS: usize = 4_000;

impl<'a> Graph<'a> {
    fn of(versions: &[&Lines<'a>]) -> Self {
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
        let steps = Cell::new(STEPS + below.len().saturating_mul(STEPS_A_LINE));
        Self { places, below, steps }
    }

    /// `None` when no line says where it belongs.
    fn chunks(&self, lines: &[&'a [u8]]) -> Option<Vec<Chunk<'a>>> {
        let head = lines.iter().find_map(|line| self.places.get(line).copied())?;
        let mut chunks = vec![Chunk { head, lines: Vec::new() }];
        for line in lines {
            let place = self.places.get(line).copied().filter(|place| *place != head);
            chunks.extend(place.map(|head| Chunk { head, lines: Vec::new() }));
            if let Some(chunk) = chunks.last_mut() {
                chunk.lines.push(line);
            }
        }
        Some(chunks)
    }

    /// Which of these lines lead down to which; `None` when that takes too long to find out.
    fn reach(&self, heads: impl Iterator<Item = usize>) -> Option<Reach> {
        let heads: BTreeMap<usize, usize> =
            heads.collect::<BTreeSet<_>>().into_iter().zip(0..).collect();
        if heads.len() > HEADS {
            return None;
        }
        let mut led = Vec::with_capacity(heads.len());
        let mut seen: Vec<bool> = Vec::new();
        // What is used up stays so: the next meeting must not begin again.
        let mut steps = self.steps.replace(0);
        for from in heads.keys() {
            seen.clear();
            seen.resize(self.below.len(), false);
            let mut waiting = vec![*from];
            steps = steps.checked_sub(self.below.len() / 64)?;
            while let Some(place) = waiting.pop() {
                for below in self.below.get(place).into_iter().flatten() {
                    steps = steps.checked_sub(1)?;
                    let Some(seen) = seen.get_mut(*below).filter(|seen| !**seen) else { continue };
                    *seen = true;
                    waiting.push(*below);
                }
            }
            let leads = |to: &usize| seen.get(*to).is_some_and(|seen| *seen);
            led.push(heads.keys().map(leads).collect());
        }
        self.steps.set(steps);
        Some(Reach { heads, led })
    }
}

/// Which of some lines lead down to which.
struct Reach {
    /// Their places among all lines, with those among these.
    heads: BTreeMap<usize, usize>,
    led: Vec<Vec<bool>>,
}

impl Reach {
    /// `None` when the versions do not say, or contradict each other.
    fn is_above(&self, one: usize, other: usize) -> Option<bool> {
        let (one, other) = (*self.heads.get(&one)?, *self.heads.get(&other)?);
        let leads = |from: usize, to: usize| self.led.get(from)?.get(to).copied();
        match (leads(one, other)?, leads(other, one)?) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }
}

/// Both in the only order in which they can stand.
fn woven(reach: &Reach, one: &[Chunk<'_>], other: &[Chunk<'_>]) -> Option<Vec<u8>> {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut woven: Vec<&[u8]> = Vec::new();
    while let (Some(first), Some(second)) = (one.peek(), other.peek()) {
        // A line that both sides brought back is one line.
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
