//! Which line stood above which, as far as the versions of a note tell.

use std::collections::{HashMap, HashSet};

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

    /// How the lines of `one` and of `other` belong together. `sides` are the texts that they stand
    /// in now.
    pub(super) fn told(&self, sides: [&Lines<'_>; 2], one: &[&[u8]], other: &[&[u8]]) -> Told {
        if self.versions.is_empty() {
            return Told::Nothing;
        }
        let versions: Vec<Lines<'_>> = self.versions.iter().map(|text| Lines::of(text)).collect();
        let all: Vec<&Lines<'_>> = versions.iter().chain(sides).collect();
        let graph = Graph::of(&all);
        let (Some(upper), Some(lower)) = (graph.chunks(one), graph.chunks(other)) else {
            return Told::Nothing;
        };
        let is_below = |upper: &Chunk<'_>| {
            lower.iter().any(|lower| graph.is_above(lower.head, upper.head) == Some(true))
        };
        let is_contradicted = upper.iter().any(is_below);
        match graph.woven(upper, lower) {
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
    head: &'a [u8],
    lines: Vec<&'a [u8]>,
}

/// From each line that no version has twice to those right below it.
struct Graph<'a> {
    below: HashMap<&'a [u8], Vec<&'a [u8]>>,
    repeated: HashSet<&'a [u8]>,
}

impl<'a> Graph<'a> {
    fn of(versions: &[&Lines<'a>]) -> Self {
        let mut repeated = HashSet::new();
        for version in versions {
            let mut seen = HashSet::new();
            repeated.extend(version.iter().filter(|line| !seen.insert(*line)));
        }
        let mut below: HashMap<&[u8], Vec<&[u8]>> = HashMap::new();
        for version in versions {
            let mut above = None;
            for line in version.iter().filter(|line| !repeated.contains(line)) {
                if let Some(above) = above.replace(line) {
                    below.entry(above).or_default().push(line);
                }
            }
        }
        Self { below, repeated }
    }

    /// `None` when no line says where it belongs.
    fn chunks(&self, lines: &[&'a [u8]]) -> Option<Vec<Chunk<'a>>> {
        let head = *lines.iter().find(|line| !self.repeated.contains(*line))?;
        let mut chunks = vec![Chunk { head, lines: Vec::new() }];
        for line in lines {
            let is_head = *line != head && !self.repeated.contains(line);
            if is_head {
                chunks.push(Chunk { head: line, lines: Vec::new() });
            }
            if let Some(chunk) = chunks.last_mut() {
                chunk.lines.push(line);
            }
        }
        Some(chunks)
    }

    /// Both in the only order in which they can stand.
    fn woven(&self, mut one: Vec<Chunk<'a>>, mut other: Vec<Chunk<'a>>) -> Option<Vec<u8>> {
        let mut woven: Vec<&[u8]> = Vec::new();
        while let (Some(first), Some(second)) = (one.first(), other.first()) {
            // A line that both sides brought back is one line.
            if first.head == second.head {
                woven.extend(one.remove(0).lines);
                other.remove(0);
                continue;
            }
            let next = if self.is_above(first.head, second.head)? { &mut one } else { &mut other };
            woven.extend(next.remove(0).lines);
        }
        woven.extend(one.into_iter().chain(other).flat_map(|chunk| chunk.lines));
        // Only the last line of a note may be without its line break.
        let (_, all_but_last) = woven.split_last()?;
        all_but_last.iter().all(|line| line.ends_with(b"\n")).then(|| woven.concat())
    }

    /// `None` when the versions do not say, or contradict each other.
    fn is_above(&self, one: &[u8], other: &[u8]) -> Option<bool> {
        match (self.leads(one, other), self.leads(other, one)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    fn leads(&self, from: &[u8], to: &[u8]) -> bool {
        let mut seen: HashSet<&[u8]> = HashSet::new();
        let mut waiting = vec![from];
        while let Some(line) = waiting.pop() {
            for below in self.below.get(line).into_iter().flatten() {
                if *below == to {
                    return true;
                }
                if seen.insert(below) {
                    waiting.push(below);
                }
            }
        }
        false
    }
}
