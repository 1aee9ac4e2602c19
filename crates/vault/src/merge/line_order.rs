//! Which line stood above which, as far as the versions of a note tell.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

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
        if let Some(woven) = interleave(graph, &upper, &lower) {
            return RelativeOrder::Order(woven);
        }
        // The lines of each side stand below each other. So if any of the lower ones stands above
        // one of the upper ones, the first stands above the last.
        let is_contradicted = match (upper.last(), lower.first()) {
            (Some(upper), Some(lower)) => graph.is_above(lower.head, upper.head) == Some(true),
            _ => false,
        };
        if is_contradicted { RelativeOrder::NotSo } else { RelativeOrder::Nothing }
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

/// Which lines stand above which, as the versions show together; lines that some version has twice are
/// left out.
///
/// A line leads to the lines below it in each version that has it, to those below these in other
/// versions, and so on. Each version is a chain: who leads to one of its lines leads to all lines
/// below that one. So it suffices to know, for each line, the first line of each version to which
/// it leads (H. V. Jagadish, "A compression technique to materialize transitive closure", 1990).
struct LineGraph<'a> {
    places: HashMap<&'a [u8], usize>,
    /// For each line, its position in the first version that has it.
    positions: Vec<Position>,
    /// For each line, the number of its strongly connected component.
    components: Vec<usize>,
    /// For each component and version, the index of the first line to which the component leads, or
    /// [`NOWHERE`]. Only lines count that have their position in that version.
    first_below: Vec<u32>,
    /// How many versions there are.
    versions: usize,
}

/// Where a line stands: in which version, and at which index among its lines.
#[derive(Clone, Copy)]
struct Position {
    version: usize,
    index: u32,
}

/// More than the index of any line.
const NOWHERE: u32 = u32::MAX;

impl<'a> LineGraph<'a> {
    fn from_versions(versions: &[&SplitLines<'a>]) -> Self {
        let mut repeated = HashSet::new();
        for version in versions {
            let mut seen = HashSet::new();
            repeated.extend(version.iter().filter(|line| !seen.insert(*line)));
        }
        let (mut places, mut positions) = (HashMap::new(), Vec::new());
        let mut below: Vec<Vec<usize>> = Vec::new();
        for (at, version) in versions.iter().enumerate() {
            let mut above: Option<usize> = None;
            let told = version.iter().filter(|line| !repeated.contains(line));
            for (line, index) in told.zip(0..NOWHERE) {
                let place = *places.entry(line).or_insert_with(|| {
                    positions.push(Position { version: at, index });
                    below.push(Vec::new());
                    below.len() - 1
                });
                let above = above.replace(place).and_then(|above| below.get_mut(above));
                // Most versions show the same line below another.
                if let Some(above) = above.filter(|above| !above.contains(&place)) {
                    above.push(place);
                }
            }
        }
        let mut components = vec![0; below.len()];
        let found = strongly_connected_components(&below);
        for (number, component) in found.iter().enumerate() {
            for line in component {
                if let Some(of_line) = components.get_mut(*line) {
                    *of_line = number;
                }
            }
        }
        let mut graph = Self {
            places,
            positions,
            components,
            first_below: Vec::new(),
            versions: versions.len(),
        };
        for component in found {
            let row = graph.lead_down(&component, &below);
            graph.first_below.extend(row);
        }
        graph
    }

    /// The row of `first_below` of the next component. The rows of all components below it are there.
    fn lead_down(&self, component: &[usize], below: &[Vec<usize>]) -> Vec<u32> {
        let mut first = vec![NOWHERE; self.versions];
        for line in component.iter().flat_map(|line| below.get(*line)).flatten() {
            if let Some(position) = self.positions.get(*line)
                && let Some(first) = first.get_mut(position.version)
            {
                *first = (*first).min(position.index);
            }
            for (first, further) in first.iter_mut().zip(self.below_component_of(*line)) {
                *first = (*first).min(*further);
            }
        }
        first
    }

    /// The row of `first_below` of the component in which a line stands; empty while there is none.
    fn below_component_of(&self, line: usize) -> &[u32] {
        let row = self.components.get(line).map(|component| component * self.versions);
        row.and_then(|from| self.first_below.get(from..from + self.versions)).unwrap_or_default()
    }

    /// Whether one line stands above another; `None` when the versions do not say, or contradict
    /// each other.
    fn is_above(&self, one: usize, other: usize) -> Option<bool> {
        match (self.leads_to(one, other), self.leads_to(other, one)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    fn leads_to(&self, upper: usize, lower: usize) -> bool {
        self.positions.get(lower).is_some_and(|lower| {
            let first = self.below_component_of(upper).get(lower.version);
            first.is_some_and(|first| *first <= lower.index)
        })
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
}

/// Lines that lead to each other, together; every other line for itself. A component stands behind those that
/// it leads to. The algorithm is that of S. Rao Kosaraju.
fn strongly_connected_components(below: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); below.len()];
    for (upper, lower) in below.iter().enumerate() {
        for lower in lower {
            if let Some(above) = above.get_mut(*lower) {
                above.push(upper);
            }
        }
    }
    let mut is_new = vec![true; below.len()];
    let mut components = Vec::new();
    for line in lines_after_those_below(below).into_iter().rev() {
        let (mut component, mut waiting) = (Vec::new(), vec![line]);
        while let Some(line) = waiting.pop() {
            if visit(&mut is_new, line) {
                component.push(line);
                waiting.extend(above.get(line).into_iter().flatten());
            }
        }
        components.extend((!component.is_empty()).then_some(component));
    }
    components.reverse();
    components
}

/// All lines in the order in which a depth-first walk leaves them.
fn lines_after_those_below(below: &[Vec<usize>]) -> Vec<usize> {
    let mut is_new = vec![true; below.len()];
    let mut left = Vec::with_capacity(below.len());
    for start in 0..below.len() {
        let lines_below = |line: usize| below.get(line).into_iter().flatten();
        let mut way = Vec::new();
        way.extend(visit(&mut is_new, start).then(|| (start, lines_below(start))));
        while let Some((line, rest)) = way.last_mut() {
            match rest.find(|next| visit(&mut is_new, **next)) {
                Some(next) => way.push((*next, lines_below(*next))),
                None => {
                    left.push(*line);
                    way.pop();
                }
            }
        }
    }
    left
}

/// Marks a line as visited; returns whether this is the first visit.
fn visit(is_new: &mut [bool], line: usize) -> bool {
    is_new.get_mut(line).is_some_and(std::mem::take)
}

/// Both in the only order in which they can stand.
fn interleave(
    graph: &LineGraph<'_>,
    one: &[AnchoredLines<'_>],
    other: &[AnchoredLines<'_>],
) -> Option<Vec<u8>> {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut woven: Vec<&[u8]> = Vec::new();
    while let (Some(first), Some(second)) = (one.peek(), other.peek()) {
        // A line that both sides restored is one line.
        let is_same = first.head == second.head;
        let next =
            if is_same || graph.is_above(first.head, second.head)? { &mut one } else { &mut other };
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
