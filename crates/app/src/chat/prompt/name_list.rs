//! Lists of notes in context blocks, which stay short however many notes there are.
//!
//! What is left out of a list depends on no note that is more private than those in it: where such notes are
//! filtered out later, the rest is the list that there would be without them.

use std::collections::BTreeSet;
use std::fmt;

use protocol::{NotePath, Privacy};

/// Stands between the notes of a list.
pub(crate) const LIST_SEPARATOR: &str = ", ";

/// More notes are not listed.
const MAX_NAMES: usize = 50;

/// The bytes of a list, but for a single long name.
const MAX_LIST_BYTES: usize = 3_000;

/// Ends a list without saying how many notes are left out: it may be the number of private ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherNotes {
    /// Some of them may be told to every model.
    Any,
    /// None of them may be told to every model.
    Private,
}

impl OtherNotes {
    /// As it stands in the place of a name, behind the others.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Any => "and other notes",
            Self::Private => "and other private notes",
        }
    }

    /// The names of a list as text, and how the list ends where not all are in it.
    pub(crate) fn split(list: &str) -> (&str, Option<Self>) {
        for end in [Self::Any, Self::Private] {
            match list.strip_suffix(end.as_str()) {
                Some("") => return ("", Some(end)),
                Some(rest) => {
                    if let Some(names) = rest.strip_suffix(LIST_SEPARATOR) {
                        return (names, Some(end));
                    }
                }
                None => {}
            }
        }
        (list, None)
    }
}

/// Decides which notes of a long list are named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NameRank {
    /// Notes that more models may see come first.
    pub(crate) privacy: Privacy,
    /// Of those, the notes that a call named come before notes in which only links are rewritten.
    pub(crate) is_called: bool,
}

/// Notes as a context block lists them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NameList {
    names: Vec<NotePath>,
    others: Option<OtherNotes>,
}

impl NameList {
    /// A list of these notes, each once. All are in it, in their order, as far as there is room.
    pub(crate) fn new<'n>(
        notes: impl IntoIterator<Item = &'n NotePath>,
        rank: impl Fn(&NotePath) -> NameRank,
    ) -> Self {
        let mut seen = BTreeSet::new();
        let all: Vec<&NotePath> = notes.into_iter().filter(|note| seen.insert(*note)).collect();
        if fits(&all) {
            return Self { names: all.into_iter().cloned().collect(), others: None };
        }
        let all: Vec<_> = all.into_iter().map(|note| (note, rank(note))).collect();
        let up_to = |most: Privacy| -> Vec<&NotePath> {
            let shown = all.iter().filter(|(_, rank)| rank.privacy <= most);
            shown.map(|(note, _)| *note).collect()
        };
        let of = |privacy: Privacy| all.iter().filter(move |(_, rank)| rank.privacy == privacy);
        // The notes that all fit, and the level of those of which some do.
        let (mut named, cut) = match (up_to(Privacy::Local), up_to(Privacy::Open)) {
            (local, _) if fits(&local) => (local, Privacy::Never),
            (_, open) if fits(&open) => (open, Privacy::Local),
            _ => (Vec::new(), Privacy::Open),
        };
        let called = of(cut).filter(|(_, rank)| rank.is_called);
        let ordered = called.chain(of(cut).filter(|(_, rank)| !rank.is_called));
        let mut room = Room::beside(&named);
        named.extend(ordered.map(|(note, _)| *note).take_while(|note| room.take(note)));
        let others = match cut {
            Privacy::Open => Some(OtherNotes::Any),
            Privacy::Local => Some(OtherNotes::Private),
            // No model may be told that there are such notes.
            Privacy::Never => None,
        };
        Self { names: named.into_iter().cloned().collect(), others }
    }

    /// The notes that are named.
    pub(crate) fn names(&self) -> &[NotePath] {
        &self.names
    }

    /// Whether there are no notes.
    pub(crate) const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl fmt::Display for NameList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names.iter().map(NotePath::as_str);
        let parts: Vec<&str> = names.chain(self.others.map(OtherNotes::as_str)).collect();
        f.write_str(&parts.join(LIST_SEPARATOR))
    }
}

/// Whether a list of these notes is short enough to be told whole, whatever is in it.
pub(crate) fn fits(notes: &[&NotePath]) -> bool {
    let mut room = Room::beside(&[]);
    notes.iter().all(|note| room.take(note))
}

/// The room in a list.
struct Room {
    names: usize,
    bytes: usize,
}

impl Room {
    /// The room beside notes that are in the list.
    fn beside(listed: &[&NotePath]) -> Self {
        let bytes = |note: &&NotePath| note.as_str().len() + LIST_SEPARATOR.len();
        Self { names: listed.len(), bytes: listed.iter().map(bytes).sum() }
    }

    /// Takes the room for a note, if there is enough. The first note always has room.
    fn take(&mut self, note: &NotePath) -> bool {
        let bytes = self.bytes + note.as_str().len() + LIST_SEPARATOR.len();
        let has_room = self.names == 0 || (self.names < MAX_NAMES && bytes <= MAX_LIST_BYTES);
        if has_room {
            (self.names, self.bytes) = (self.names + 1, bytes);
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(prefix: &str, count: usize) -> Vec<NotePath> {
        let path = |n: usize| NotePath::parse(&format!("{prefix}{n}.md")).expect("a path");
        (0..count).map(path).collect()
    }

    /// Notes whose name begins with `local` or `never` are private; those that begin with `x` were called.
    fn rank(note: &NotePath) -> NameRank {
        let begins = |with: &str| note.as_str().starts_with(with);
        let privacy = match (begins("local"), begins("never")) {
            (true, _) => Privacy::Local,
            (_, true) => Privacy::Never,
            _ => Privacy::Open,
        };
        NameRank { privacy, is_called: begins("x") }
    }

    fn listed(notes: &[NotePath]) -> String {
        NameList::new(notes, rank).to_string()
    }

    #[test]
    fn a_short_list_names_every_note_once_in_its_order() {
        let all = [notes("never", 2), notes("b", 1), notes("never", 1), notes("x", 1)].concat();
        assert_eq!(listed(&all), "never0.md, never1.md, b0.md, x0.md");
        assert!(!listed(&notes("b", MAX_NAMES)).contains("other"), "it is whole");
    }

    #[test]
    fn a_long_list_names_first_what_was_called_and_no_number() {
        let list = NameList::new(&[notes("b", 5_000), notes("x", 2)].concat(), rank);
        let text = list.to_string();
        assert!(text.starts_with("x0.md, x1.md, b0.md, "), "{text}");
        assert!(text.ends_with("b47.md, and other notes"), "{text}");
        assert_eq!(list.names().len(), MAX_NAMES);
        let long = listed(&notes(&"l".repeat(200), 5_000));
        assert!(long.len() <= MAX_LIST_BYTES + 30 && long.ends_with("and other notes"), "{long}");
    }

    #[test]
    fn private_notes_change_nothing_of_what_is_told_of_the_others() {
        for (open, local, expected) in [(10, 1_000, Some(OtherNotes::Private)), (10, 5, None)] {
            let (of_open, of_local) = (notes("b", open), notes("local", local));
            let all = [of_local, of_open.clone(), notes("never", 1_000)].concat();
            let list = NameList::new(&all, rank);
            let shown: Vec<_> =
                list.names.iter().filter(|note| rank(note).privacy == Privacy::Open).collect();
            assert_eq!(shown, of_open.iter().collect::<Vec<_>>());
            assert_eq!(list.others, expected, "{local}");
        }
        let public = listed(&notes("b", 60));
        assert_eq!(listed(&[notes("local", 60), notes("b", 60)].concat()), public);
    }

    #[test]
    fn the_end_of_a_list_is_told_from_names() {
        for (list, expected) in [
            ("a.md, and other notes", ("a.md", Some(OtherNotes::Any))),
            ("and other private notes", ("", Some(OtherNotes::Private))),
            ("Salt and other notes", ("Salt and other notes", None)),
            ("a.md, b.md", ("a.md, b.md", None)),
        ] {
            assert_eq!(OtherNotes::split(list), expected, "{list}");
        }
    }
}
