//! Tells which hunks of an edit can be undone while moves stand that rewrote links in the same note.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use markdown::parser::{Document, Link};
use protocol::{ChangeKind, Effect, NotePath};
use vault::merge::hunks;
use vault::undo::Hunks;

/// A move of another turn that stands.
#[derive(Debug, Clone)]
pub(crate) struct StandingMove {
    pub(super) from: NotePath,
    pub(super) to: NotePath,
    pub(super) is_of_folder: bool,
}

impl StandingMove {
    pub(crate) fn of(effect: &Effect) -> Option<Self> {
        let (from, to) = (effect.path.clone(), effect.target.clone()?);
        Some(Self { from, to, is_of_folder: effect.kind == ChangeKind::RenameFolder })
    }

    /// Whether it moves a note that it found or left at a path.
    fn moves(&self, note: &NotePath) -> bool {
        note.is_in(&self.from) || note.is_in(&self.to)
    }

    /// Whether a link in a note may lead elsewhere before and after the move.
    fn concerns(&self, link: &str, note: &NotePath) -> bool {
        let is_path = link.contains('/');
        let name = link_name(link);
        let is_file = link.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("md"));
        [&self.from, &self.to].into_iter().any(|end| name == end.title().to_lowercase())
            || (self.is_of_folder && is_path)
            || (self.moves(note) && (is_path || is_file))
    }

    /// Whether it is the reason for another link in the place of one.
    fn explains(&self, old: &str, new: &str, note: &NotePath) -> bool {
        let (old, new) = (link_name(old), link_name(new));
        let is_renamed =
            old == self.from.title().to_lowercase() && new == self.to.title().to_lowercase();
        is_renamed || (old == new && (self.is_of_folder || self.moves(note)))
    }
}

/// The last part of a link's path, in lower case and without `.md`.
fn link_name(link: &str) -> String {
    let name = link.rsplit('/').next().unwrap_or(link).to_lowercase();
    name.strip_suffix(".md").map(str::to_owned).unwrap_or(name)
}

/// The hunks of an edit that can be undone while the moves stand. Those in which the moves only rewrote links are left
/// out; `None` if there is a hunk with such links and other changes.
pub(crate) fn undoable_hunks(
    note: &NotePath,
    (before, after): (&[u8], &[u8]),
    moves: &[StandingMove],
) -> Option<BTreeSet<usize>> {
    let (before, after) = (LinkedText::read(note, before)?, LinkedText::read(note, after)?);
    let kept: HashSet<&str> = after.links.iter().map(|link| link.path.as_str()).collect();
    let needs_move = |link: &LinkPlace| {
        !kept.contains(link.path.as_str()) && moves.iter().any(|one| one.concerns(&link.path, note))
    };
    let mut undoable = BTreeSet::new();
    for (place, hunk) in hunks(before.text, after.text).into_iter().enumerate() {
        let (old, new) = (before.lines(&hunk.before), after.lines(&hunk.after));
        if !old.links.iter().any(needs_move) {
            undoable.insert(place);
        } else if !old.differs_by_moves(&new, note, moves) {
            return None;
        }
    }
    Some(undoable)
}

/// The path that a link names, and the bytes of it.
struct LinkPlace {
    at: Range<usize>,
    path: String,
}

/// A text with the offsets of its lines, and with its links in their order.
struct LinkedText<'a> {
    text: &'a [u8],
    line_starts: Vec<usize>,
    links: Vec<LinkPlace>,
}

/// Some lines of a text with their links.
struct LinkedLines<'a> {
    text: &'a [u8],
    at: Range<usize>,
    links: &'a [LinkPlace],
}

impl<'a> LinkedText<'a> {
    /// `None` where the links are not known: a note that is not UTF-8, and a canvas.
    fn read(note: &NotePath, text: &'a [u8]) -> Option<Self> {
        if note.is_canvas() {
            return None;
        }
        let breaks = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let line_starts = [0].into_iter().chain(breaks.map(|(at, _)| at + 1)).collect();
        if !note.is_markdown() {
            return Some(Self { text, line_starts, links: Vec::new() });
        }
        let document = Document::decode(text).ok()?;
        let place =
            |link: &Link| LinkPlace { at: link.target.clone(), path: link.path(document.text) };
        let mut links: Vec<LinkPlace> = document.links.iter().map(place).collect();
        links.sort_by_key(|link| link.at.start);
        Some(Self { text, line_starts, links })
    }

    /// Takes no time in proportion to the text: a note may have as many hunks as lines.
    fn lines(&self, lines: &Range<usize>) -> LinkedLines<'_> {
        let start = |line: usize| self.line_starts.get(line).copied().unwrap_or(self.text.len());
        let at = start(lines.start)..start(lines.end);
        let links_before = |end: usize| self.links.partition_point(|link| link.at.start < end);
        let links = self.links.get(links_before(at.start)..links_before(at.end));
        LinkedLines { text: self.text, at, links: links.unwrap_or_default() }
    }
}

impl LinkedLines<'_> {
    /// Whether the lines differ in nothing but in links that the moves explain.
    fn differs_by_moves(&self, other: &Self, note: &NotePath, moves: &[StandingMove]) -> bool {
        let is_explained = |(old, new): (&LinkPlace, &LinkPlace)| {
            old.path == new.path || moves.iter().any(|one| one.explains(&old.path, &new.path, note))
        };
        self.links.len() == other.links.len()
            && self.text_between_links() == other.text_between_links()
            && self.links.iter().zip(other.links).all(is_explained)
    }

    fn text_between_links(&self) -> Vec<&[u8]> {
        let starts = self.links.iter().map(|link| link.at.start).chain([self.at.end]);
        let ends = [self.at.start].into_iter().chain(self.links.iter().map(|link| link.at.end));
        ends.zip(starts).map(|(from, to)| self.text.get(from..to).unwrap_or_default()).collect()
    }
}

/// The hunks that the window lists: all, where it lists none.
pub(super) fn requested_hunks(listed: &[u32]) -> Hunks {
    match listed {
        [] => Hunks::All,
        some => Hunks::Some(some.iter().filter_map(|hunk| usize::try_from(*hunk).ok()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).unwrap()
    }

    fn moved(from: &str, to: &str) -> StandingMove {
        StandingMove { from: path(from), to: path(to), is_of_folder: false }
    }

    #[track_caller]
    fn check(note: &str, before: &str, after: &str, expected: Option<&[usize]>) {
        check_with(&[moved("A.md", "Sub/B.md")], note, before, after, expected);
    }

    #[track_caller]
    fn check_with(
        moves: &[StandingMove],
        note: &str,
        before: &str,
        after: &str,
        expected: Option<&[usize]>,
    ) {
        let found = undoable_hunks(&path(note), (before.as_bytes(), after.as_bytes()), moves);
        let expected: Option<BTreeSet<usize>> =
            expected.map(|places| places.iter().copied().collect());
        assert_eq!(found, expected, "{before:?} {after:?}");
    }

    #[test]
    fn an_edit_without_the_links_of_a_move_is_undone_whole() {
        check("A.md", "one\n\ntwo\n", "ONE\n\nTWO\n", Some(&[0, 1]));
        check("C.md", "one\n", "one [[B]]\n", Some(&[0]));
        check("C.md", "[[X]] one\n", "one\n", Some(&[0]));
        check("C.md", "[[A]] one\n\n[[A]]\n", "one\n\n[[A]]\n", Some(&[0]));
        check("data.txt", "[[A]]\n", "[[B]]\n", Some(&[0]));
    }

    #[test]
    fn links_that_a_move_rewrote_are_left_to_it() {
        check("C.md", "See [[A]].\n\nend\n", "See [[B]].\n\nEND\n", Some(&[1]));
        check("C.md", "[x](A.md) [[A#h|a]]\n", "[x](Sub/B.md) [[B#h|a]]\n", Some(&[]));
        check("A.md", "[C](C.md)\n\nend\n", "[C](../C.md)\n\nEND\n", Some(&[1]));
        let folder = StandingMove { is_of_folder: true, ..moved("Old", "New") };
        check_with(&[folder], "C.md", "[[Old/n]]\n\nend\n", "[[New/n]]\n\nEND\n", Some(&[1]));
    }

    #[test]
    fn an_edit_of_a_line_with_a_rewritten_link_needs_the_move() {
        check("C.md", "See [[A]].\n", "SEE [[B]].\n", None);
        check("C.md", "See [[A]].\n", "See.\n", None);
        check("C.md", "[[A]]\n", "[[Another]]\n", None);
        check("A.md", "[C](C.md) end\n", "[C](../C.md) END\n", None);
        check("board.canvas", "{}\n", "{ }\n", None);
    }

    /// How often a time is taken: other programs disturb, and the shortest counts.
    const ATTEMPTS: usize = 5;
    /// The growth that is allowed for eight times the lines. The time that is linear grows to the eightfold, the
    /// quadratic one to the 64-fold.
    const MAX_GROWTH: u32 = 24;

    /// The time to look at each line of a note by itself.
    fn time_for_lines(count: usize) -> Duration {
        let text = "See [[A]] there.\n".repeat(count);
        let linked = LinkedText::read(&path("C.md"), text.as_bytes()).unwrap();
        let measure = |_| {
            let begun = Instant::now();
            let lines = (0..count).map(|line| linked.lines(&(line..line + 1)));
            let links: usize = lines.map(|line| line.links.len()).sum();
            let took = begun.elapsed();
            assert_eq!(links, count);
            took
        };
        (0..ATTEMPTS).map(measure).min().unwrap()
    }

    #[test]
    fn the_time_for_many_hunks_grows_as_their_number() {
        let (few, many) = (time_for_lines(1_000), time_for_lines(8_000));
        assert!(many < few * MAX_GROWTH, "{few:?} for 1,000 lines, {many:?} for 8,000");
    }
}
