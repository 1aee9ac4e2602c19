//! Which rows of a snapshot have a name, a link, a tag, a property or a task: found without looking
//! at all of them.

use std::collections::HashMap;

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
    tags: Rows,
    properties: Rows,
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

    /// All words that [`By::Link`] finds something by.
    pub(crate) fn link_names(&self) -> impl Iterator<Item = &str> {
        self.links.0.keys().map(AsRef::as_ref)
    }

    /// All words that [`By::Tag`] finds something by.
    pub(crate) fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.0.keys().map(AsRef::as_ref)
    }

    /// All words that [`By::Property`] finds something by.
    pub(crate) fn properties(&self) -> impl Iterator<Item = &str> {
        self.properties.0.keys().map(AsRef::as_ref)
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
    tags: Vec<String>,
    properties: Vec<String>,
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
        let properties = facts.properties.iter().map(|(name, _)| name.to_lowercase());
        Self {
            links: links.collect(),
            tags: facts.tags.iter().flat_map(|tag| with_upper(&tag.to_lowercase())).collect(),
            properties: properties.collect(),
            has_task: !facts.tasks.is_empty(),
            aliases: facts.aliases.clone(),
        }
    }

    /// Whether a file called `own_name`, folded, that has these words is found by `by`.
    pub(crate) fn has(&self, by: By<'_>, own_name: &str) -> bool {
        let holds = |words: &[String], word: &str| words.iter().any(|known| known == word);
        match by {
            By::Name(name) => name == own_name,
            By::Link(name) => holds(&self.links, name),
            By::Tag(tag) => holds(&self.tags, tag),
            By::Property(name) => holds(&self.properties, name),
            By::Task => self.has_task,
        }
    }

    pub(crate) fn links(&self) -> &[String] {
        &self.links
    }

    pub(crate) fn tags(&self) -> &[String] {
        &self.tags
    }

    pub(crate) fn properties(&self) -> &[String] {
        &self.properties
    }
}

/// A tag and those it is nested in: `food/bread` and `food`.
fn with_upper(tag: &str) -> Vec<String> {
    let parts = tag.match_indices('/').map(|(at, _)| tag.get(..at).unwrap_or_default());
    parts.chain(std::iter::once(tag)).map(str::to_owned).collect()
}
