//! Which rows of a snapshot have a name, a link, a tag, a property or a task: found without looking
//! at all of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::entry::FreshFile;
use crate::links::{backward_key, compare_with_end, equal_run, file_name, fold_name};
use crate::metadata::note_metadata::NoteMetadata;
use crate::snapshot::NoteSnapshot;
use crate::vault_scan::parallel;

/// Rows by what their files hold. Words are folded, so that case does not matter.
#[derive(Debug, Default)]
pub(crate) struct RowLookup {
    /// By file name, extension included; those of one name in the [order](backward_key) of their paths from the end.
    names: RowsByWord,
    /// By the last part of a link's path, without `.md`.
    links: RowsByWord,
    tags: RowsBySpelledWord,
    properties: RowsBySpelledWord,
    tasks: Vec<u32>,
    /// In the order of rows.
    aliases: Vec<(u32, Box<str>)>,
}

/// Rows by a word, each once.
#[derive(Debug, Default)]
struct RowsByWord(HashMap<Box<str>, Vec<u32>>);

impl RowsByWord {
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

    /// Puts the rows of each word in the order of keys.
    fn sort_by_key(&mut self, key: impl Fn(u32) -> Vec<u8>) {
        for rows in self.0.values_mut().filter(|rows| rows.len() > 1) {
            rows.sort_by_cached_key(|row| key(*row));
        }
    }
}

/// The same, and how each word is spelled.
#[derive(Debug, Default)]
struct RowsBySpelledWord(HashMap<Box<str>, (Vec<u32>, Spelling)>);

impl RowsBySpelledWord {
    fn add(&mut self, word: &FoldedWord, row: u32) {
        match self.0.get_mut(&*word.folded) {
            Some((rows, spelling)) => {
                if rows.last() != Some(&row) {
                    rows.push(row);
                }
                spelling.add_spelling(&word.spelled);
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
    Absent,
    Always(Box<str>),
    Variously,
}

impl Spelling {
    /// It stands in other files too, where it is spelled like this.
    pub(super) fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Absent, one) | (one, Self::Absent) => one,
            (Self::Always(one), Self::Always(other)) if one == other => Self::Always(one),
            _ => Self::Variously,
        }
    }

    /// It stands somewhere else too, and is spelled like this there.
    fn add_spelling(&mut self, spelled: &str) {
        match self {
            Self::Absent => *self = Self::Always(spelled.into()),
            Self::Always(known) if **known != *spelled => *self = Self::Variously,
            Self::Always(_) | Self::Variously => {}
        }
    }
}

/// A word as it is looked up and as it is spelled.
#[derive(Debug)]
pub(crate) struct FoldedWord {
    pub(crate) folded: String,
    pub(crate) spelled: String,
}

impl FoldedWord {
    pub(crate) fn new(spelled: &str) -> Self {
        Self { folded: spelled.to_lowercase(), spelled: spelled.to_owned() }
    }
}

/// The keys that files can be looked up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookupKey<'a> {
    /// A link whose path ends in this, [folded](fold_name) and without `.md`.
    Link(&'a str),
    /// A tag, in lower case; one of a nested tag's upper parts finds it too.
    Tag(&'a str),
    /// A property, in lower case.
    Property(&'a str),
    /// Having a task.
    Task,
}

impl RowLookup {
    /// Of all rows.
    pub(crate) fn from_snapshot(snapshot: &NoteSnapshot) -> Self {
        let mut lookup = Self::default();
        let rows: Vec<_> = (0_u32..).zip(snapshot.rows()).collect();
        for portion in rows.chunks(ROWS_PER_BATCH) {
            let known = parallel::map_parallel(portion, None, |(at, row)| {
                Some((
                    *at,
                    fold_name(row.path.name()),
                    FileLookupKeys::from_metadata(&snapshot.metadata(row)),
                ))
            });
            for (row, name, words) in known.found {
                lookup.names.add(&name, row);
                lookup.add(row, &words);
            }
        }
        lookup.names.sort_by_key(|row| {
            let row = usize::try_from(row).ok().and_then(|at| snapshot.rows().get(at));
            row.map(|row| backward_key(&fold_name(row.path.as_str()))).unwrap_or_default()
        });
        lookup
    }

    /// Of files by their places in a list.
    pub(crate) fn from_fresh(files: &[Arc<FreshFile>]) -> Self {
        let mut lookup = Self::default();
        for (at, file) in (0_u32..).zip(files) {
            lookup.names.add(&file.folded_name, at);
            lookup.add(at, &file.keys);
        }
        lookup.names.sort_by_key(|at| {
            let file = usize::try_from(at).ok().and_then(|at| files.get(at));
            file.map(|file| backward_key(&file.folded_path)).unwrap_or_default()
        });
        lookup
    }

    /// The rows of files whose path is `path` or ends in it at a `/`, the path itself first. `folded` gives the
    /// folded path of a row; it is asked about few of the rows.
    pub(super) fn rows_ending_in<'p>(
        &self,
        path: &str,
        folded: impl Fn(u32) -> Cow<'p, str>,
    ) -> &[u32] {
        let rows = self.names.get(file_name(path));
        equal_run(rows, |row| compare_with_end(&folded(*row), path))
    }

    /// The rows that have it, in order.
    pub(crate) fn rows(&self, key: LookupKey<'_>) -> &[u32] {
        match key {
            LookupKey::Link(name) => self.links.get(name),
            LookupKey::Tag(tag) => self.tags.get(tag),
            LookupKey::Property(name) => self.properties.get(name),
            LookupKey::Task => &self.tasks,
        }
    }

    /// Aliases, with the rows whose files have them.
    pub(crate) fn aliases(&self) -> impl Iterator<Item = (u32, &str)> {
        self.aliases.iter().map(|(row, alias)| (*row, alias.as_ref()))
    }

    /// All words that [`LookupKey::Tag`] finds something by.
    pub(crate) fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.words()
    }

    /// All words that [`LookupKey::Property`] finds something by.
    pub(crate) fn properties(&self) -> impl Iterator<Item = &str> {
        self.properties.words()
    }

    /// How a tag or a property is spelled in the rows that have it.
    pub(crate) fn spelling(&self, key: LookupKey<'_>) -> Spelling {
        let known = match key {
            LookupKey::Tag(tag) => self.tags.0.get(tag),
            LookupKey::Property(name) => self.properties.0.get(name),
            LookupKey::Link(_) | LookupKey::Task => None,
        };
        known.map(|(_, spelling)| spelling.clone()).unwrap_or_default()
    }

    fn add(&mut self, row: u32, words: &FileLookupKeys) {
        words.links.iter().for_each(|link| self.links.add(link, row));
        words.tags.iter().for_each(|tag| self.tags.add(tag, row));
        words.properties.iter().for_each(|property| self.properties.add(property, row));
        if words.has_task {
            self.tasks.push(row);
        }
        self.aliases.extend(words.aliases.iter().map(|alias| (row, alias.as_str().into())));
    }
}

/// How many rows are decoded before they are inserted.
const ROWS_PER_BATCH: usize = 4096;

/// The words that a file is looked up by, but for its name.
#[derive(Debug, Default)]
pub(crate) struct FileLookupKeys {
    links: Vec<String>,
    tags: Vec<FoldedWord>,
    properties: Vec<FoldedWord>,
    has_task: bool,
    aliases: Vec<String>,
}

impl FileLookupKeys {
    pub(crate) fn from_metadata(facts: &NoteMetadata) -> Self {
        let links = facts.links.iter().map(|link| {
            let folded = fold_name(&link.path);
            let last = file_name(&folded);
            last.strip_suffix(".md").unwrap_or(last).to_owned()
        });
        let properties = facts.properties.iter().map(|(name, _)| FoldedWord::new(name));
        Self {
            links: links.collect(),
            tags: facts.tags.iter().flat_map(|tag| with_parent_tags(tag)).collect(),
            properties: properties.collect(),
            has_task: !facts.tasks.is_empty(),
            aliases: facts.aliases.clone(),
        }
    }
}

/// A tag and those it is nested in: `food/bread` and `food`. Of one that is nested deeper than
/// anybody nests tags only the outermost are among them: all would be as much as the square of it.
pub(crate) fn with_parent_tags(tag: &str) -> impl Iterator<Item = FoldedWord> {
    let parts = tag.match_indices('/').map(|(at, _)| tag.get(..at).unwrap_or_default());
    parts.take(MAX_TAG_DEPTH).chain(std::iter::once(tag)).map(FoldedWord::new)
}

/// The number of outer tags that find a note by a tag nested in them.
const MAX_TAG_DEPTH: usize = 32;
