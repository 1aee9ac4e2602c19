//! Which rows of a snapshot have a name, a link, a tag, a property or a task: found without looking
//! at all of them.

use std::collections::HashMap;
use std::sync::Arc;

use super::held::Fresh;
use crate::facts::Facts;
use crate::links::{fold, name};
use crate::parallel;
use crate::snapshot::Snapshot;

/// Rows by what their files hold. Words are folded, so that case does not matter.
#[derive(Debug, Default)]
pub(crate) struct Lookup {
    /// By file name, extension included.
    names: Rows,
    /// By the last part of a link's path, without `.md`.
    links: Rows,
    tags: Spelled,
    properties: Spelled,
    tasks: Vec<u32>,
    /// In the order of rows.
    aliases: Vec<(u32, Box<str>)>,
}

/// Rows by a word, in order and each once.
#[derive(Debug, Default)]
struct Rows(HashMap<Box<str>, Vec<u32>>);

impl Rows {
    fn add(&mut self, word: &str, row: u32) {
        match self.0.get_mut(word) {
            Some(rows) if rows.last() == Some(&row) => {}
            Some(rows) => rows.push(row),
            None => drop(self.0.insert(word.into(), vec![row])),
        }
    }

    fn get(&self, word: &str) -> &[u32] {
        self.0.get(word).map_or(&[], Vec::as_slice)
    }
}

/// The same, and how each word is spelled.
#[derive(Debug, Default)]
struct Spelled(HashMap<Box<str>, (Vec<u32>, Spelling)>);

impl Spelled {
    fn add(&mut self, word: &Word, row: u32) {
        match self.0.get_mut(&*word.folded) {
            Some((rows, spelling)) => {
                if rows.last() != Some(&row) {
                    rows.push(row);
                }
                spelling.also(&word.spelled);
            }
            None => {
                let known = (vec![row], Spelling::Always(word.spelled.as_str().into()));
                self.0.insert(word.folded.as_str().into(), known);
            }
        }
    }

    fn get(&self, word: &str) -> &[u32] {
        self.0.get(word).map_or(&[], |(rows, _)| rows.as_slice())
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(AsRef::as_ref)
    }
}

/// How a word is spelled where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Spelling {
    #[default]
    Nowhere,
    Always(Box<str>),
    Variously,
}

impl Spelling {
    /// It stands in other files too, where it is spelled like this.
    pub(super) fn joined(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nowhere, one) | (one, Self::Nowhere) => one,
            (Self::Always(one), Self::Always(other)) if one == other => Self::Always(one),
            _ => Self::Variously,
        }
    }

    /// It stands somewhere else too, and is spelled like this there.
    fn also(&mut self, spelled: &str) {
        match self {
            Self::Nowhere => *self = Self::Always(spelled.into()),
            Self::Always(known) if **known != *spelled => *self = Self::Variously,
            Self::Always(_) | Self::Variously => {}
        }
    }
}

/// A word as it is looked up and as it is spelled.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) folded: String,
    pub(crate) spelled: String,
}

impl Word {
    pub(crate) fn of(spelled: &str) -> Self {
        Self { folded: spelled.to_lowercase(), spelled: spelled.to_owned() }
    }
}

/// What files can be looked up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By<'a> {
    /// Their name, extension included and [folded](fold).
    Name(&'a str),
    /// A link whose path ends in this, [folded](fold) and without `.md`.
    Link(&'a str),
    /// A tag, in lower case; one of a nested tag's upper parts finds it too.
    Tag(&'a str),
    /// A property, in lower case.
    Property(&'a str),
    /// Having a task.
    Task,
}

impl Lookup {
    /// Of all rows.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let mut lookup = Self::default();
        let rows: Vec<_> = (0_u32..).zip(snapshot.rows()).collect();
        for portion in rows.chunks(PORTION) {
            let known = parallel::look(portion, None, |(at, row)| {
                Some((*at, fold(row.path.name()), Words::of(&snapshot.facts(row))))
            });
            for (row, name, words) in known.found {
                lookup.names.add(&name, row);
                lookup.add(row, &words);
            }
        }
        lookup
    }

    /// Of files by their places in a list.
    pub(crate) fn of_fresh(files: &[Arc<Fresh>]) -> Self {
        let mut lookup = Self::default();
        for (at, file) in (0_u32..).zip(files) {
            lookup.names.add(&file.name, at);
            lookup.add(at, &file.words);
        }
        lookup
    }

    /// The rows that have it, in order.
    pub(crate) fn rows(&self, by: By<'_>) -> &[u32] {
        match by {
            By::Name(name) => self.names.get(name),
            By::Link(name) => self.links.get(name),
            By::Tag(tag) => self.tags.get(tag),
            By::Property(name) => self.properties.get(name),
            By::Task => &self.tasks,
        }
    }

    /// Other names, with the rows whose files have them.
    pub(crate) fn aliases(&self) -> impl Iterator<Item = (u32, &str)> {
        self.aliases.iter().map(|(row, alias)| (*row, alias.as_ref()))
    }

    /// All words that [`By::Tag`] finds something by.
    pub(crate) fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.words()
    }

    /// All words that [`By::Property`] finds something by.
    pub(crate) fn properties(&self) -> impl Iterator<Item = &str> {
        self.properties.words()
    }

    /// How a tag or a property is spelled in the rows that have it.
    pub(crate) fn spelling(&self, by: By<'_>) -> Spelling {
        let known = match by {
            By::Tag(tag) => self.tags.0.get(tag),
            By::Property(name) => self.properties.0.get(name),
            By::Name(_) | By::Link(_) | By::Task => None,
        };
        known.map(|(_, spelling)| spelling.clone()).unwrap_or_default()
    }

    fn add(&mut self, row: u32, words: &Words) {
        words.links.iter().for_each(|link| self.links.add(link, row));
        words.tags.iter().for_each(|tag| self.tags.add(tag, row));
        words.properties.iter().for_each(|property| self.properties.add(property, row));
        if words.has_task {
            self.tasks.push(row);
        }
        self.aliases.extend(words.aliases.iter().map(|alias| (row, alias.as_str().into())));
    }
}

/// So many rows are taken apart before they are put in.
const PORTION: usize = 4096;

/// The words that a file is looked up by, but for its name.
#[derive(Debug, Default)]
pub(crate) struct Words {
    links: Vec<String>,
    tags: Vec<Word>,
    properties: Vec<Word>,
    has_task: bool,
    aliases: Vec<String>,
}

impl Words {
    pub(crate) fn of(facts: &Facts) -> Self {
        let links = facts.links.iter().map(|link| {
            let folded = fold(&link.path);
            let last = name(&folded);
            last.strip_suffix(".md").unwrap_or(last).to_owned()
        });
        let properties = facts.properties.iter().map(|(name, _)| Word::of(name));
        Self {
            links: links.collect(),
            tags: facts.tags.iter().flat_map(|tag| with_upper(tag)).collect(),
            properties: properties.collect(),
            has_task: !facts.tasks.is_empty(),
            aliases: facts.aliases.clone(),
        }
    }
}

/// A tag and those it is nested in: `food/bread` and `food`. Of one that is nested deeper than
/// anybody nests tags only the outermost are among them: all would be as much as the square of it.
pub(crate) fn with_upper(tag: &str) -> impl Iterator<Item = Word> {
    let parts = tag.match_indices('/').map(|(at, _)| tag.get(..at).unwrap_or_default());
    parts.take(DEPTH).chain(std::iter::once(tag)).map(Word::of)
}

/// So many tags that a tag is nested in find it.
const DEPTH: usize = 32;
