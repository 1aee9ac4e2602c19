//! What the index knows about notes beside their text: links, tags, properties, tasks.
//!
//! Everything is as `vault` shows it: what its screen keeps back is not there, and what a `plan`
//! changes counts as changed. `None` means that the index does not stand yet.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use protocol::{ChangeSet, NotePath, Privacy, PrivateRules};
use vault::{EntryKind, Vault};

use crate::Index;
use crate::links::{Backlink, Outgoing, Targets, candidates_from, fold};
use crate::live::{By, Held, View, Word, with_upper};
use crate::parallel;

/// A tag and how many notes have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagCount {
    /// Without `#`, as it is spelled in most notes.
    pub tag: String,
    /// How many notes have it, or one that is nested in it.
    pub notes: usize,
}

/// A value that a property has somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueCount {
    /// As it is spelled in most notes.
    pub value: String,
    /// How many notes have it.
    pub notes: usize,
}

/// A link that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// The path that is named, as it is spelled in the first note.
    pub link: String,
    /// The notes that name it, in order.
    pub sources: Vec<NotePath>,
}

/// An item with a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTask {
    /// The note.
    pub path: NotePath,
    /// 1-based.
    pub line: u32,
    /// The sign in the box; a blank while it is open.
    pub mark: char,
    /// Its words.
    pub words: String,
}

impl Index {
    /// The links that leave a file, in order.
    #[must_use]
    pub fn outgoing(
        &self,
        vault: &Vault,
        plan: &ChangeSet,
        source: &NotePath,
    ) -> Option<Vec<Outgoing>> {
        let view = self.view()?;
        let view = view.planned(plan, vault);
        let shown = Shown { view: &view, vault };
        Some(shown.get(source).map_or_else(Vec::new, |held| {
            let mut targets = shown.targets(source);
            let outgoing = held.facts().links.into_iter().map(|link| {
                let targets = targets.told(&link);
                Outgoing { link, targets }
            });
            outgoing.collect()
        }))
    }

    /// The links of all other files that lead to `target`, in the order of the files.
    #[must_use]
    pub fn backlinks(
        &self,
        vault: &Vault,
        plan: &ChangeSet,
        target: &NotePath,
    ) -> Option<Vec<Backlink>> {
        let view = self.view()?;
        let view = view.planned(plan, vault);
        let shown = Shown { view: &view, vault };
        Some(shown.backlinks(target))
    }

    /// All links that lead nowhere, those that most notes name first.
    #[must_use]
    pub fn unresolved(&self, vault: &Vault) -> Option<Vec<Unresolved>> {
        let view = self.view()?;
        let shown = Shown { view: &view, vault };
        let mut found: BTreeMap<String, Unresolved> = BTreeMap::new();
        let files: Vec<Held<'_>> = view.all().filter(|held| shown.shows(held)).collect();
        let dead = parallel::look(&files, None, |held| {
            let links = held.facts().links.into_iter();
            let mut targets = shown.targets(held.path());
            let dead = links.filter(|link| targets.first(link).is_none());
            let dead: Vec<String> = dead.map(|link| link.path).collect();
            (!dead.is_empty()).then(|| (held.path().clone(), dead))
        });
        for (source, links) in dead.found {
            for link in links {
                let of_link = || Unresolved { link: link.clone(), sources: Vec::new() };
                found.entry(fold(&link)).or_insert_with(of_link).sources.push(source.clone());
            }
        }
        let mut all: Vec<Unresolved> = found.into_values().collect();
        for unresolved in &mut all {
            unresolved.sources.sort_unstable();
            unresolved.sources.dedup();
        }
        all.sort_by_key(|unresolved| std::cmp::Reverse(unresolved.sources.len()));
        Some(all)
    }

    /// Those of `links` that lead nowhere. They are paths as links mean them, and stand in no note:
    /// they begin at the top of the vault.
    #[must_use]
    pub fn dead_among(&self, vault: &Vault, mut links: Vec<String>) -> Option<Vec<String>> {
        let view = self.view()?;
        let shown = Shown { view: &view, vault };
        links.retain(|link| {
            let meant = candidates_from(&*view, link, "");
            meant.into_iter().all(|path| shown.get(path).is_none())
        });
        Some(links)
    }

    /// The file, note or not, that `link` means in the note `source`, or where it stands in none.
    #[must_use]
    pub fn meant(
        &self,
        vault: &Vault,
        link: &str,
        source: Option<&NotePath>,
    ) -> Option<Option<NotePath>> {
        let view = self.view()?;
        let shown = Shown { view: &view, vault };
        let here = source.and_then(NotePath::folder).map(fold).unwrap_or_default();
        let mut meant = candidates_from(&*view, link, &here).into_iter();
        Some(meant.find(|path| shown.get(path).is_some()).cloned())
    }

    /// Whether `link` means `note` and could mean no other file, in whatever note it stands.
    #[must_use]
    pub fn means_only(&self, vault: &Vault, link: &str, note: &NotePath) -> Option<bool> {
        let view = self.view()?;
        let shown = Shown { view: &view, vault };
        let meant = candidates_from(&*view, link, "").into_iter();
        let meant: Vec<&NotePath> = meant.filter(|path| shown.get(path).is_some()).collect();
        Some(meant == [note])
    }

    /// All tags, those of most notes first.
    #[must_use]
    pub fn tags(&self, vault: &Vault, plan: &ChangeSet) -> Option<Vec<TagCount>> {
        let view = self.view()?;
        let view = view.planned(plan, vault);
        let shown = Shown { view: &view, vault };
        let counted = counted(&shown, view.tag_names(), By::Tag, |held| {
            held.tags().iter().flat_map(|tag| with_upper(tag)).collect()
        });
        let counted = counted.into_iter().map(|(tag, notes)| TagCount { tag, notes });
        let mut tags: Vec<TagCount> = counted.collect();
        tags.sort_by(|a, b| b.notes.cmp(&a.notes).then_with(|| a.tag.cmp(&b.tag)));
        Some(tags)
    }

    /// The values of a property, whatever the case of its name; those of most notes first.
    #[must_use]
    pub fn values(&self, vault: &Vault, property: &str) -> Option<Vec<ValueCount>> {
        let view = self.view()?;
        let shown = Shown { view: &view, vault };
        let wanted = property.to_lowercase();
        let mut counts: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for held in shown.having(By::Property(&wanted)) {
            let properties = held.facts().properties.into_iter();
            let own = properties.filter(|(name, _)| name.to_lowercase() == wanted);
            for value in own.flat_map(|(_, values)| values) {
                *counts.entry(value.to_lowercase()).or_default().entry(value).or_default() += 1;
            }
        }
        let count = |spelled: BTreeMap<String, usize>| ValueCount {
            notes: spelled.values().sum(),
            value: most_common(&spelled).unwrap_or_default(),
        };
        let mut values: Vec<ValueCount> = counts.into_values().map(count).collect();
        values.sort_by(|a, b| b.notes.cmp(&a.notes).then_with(|| a.value.cmp(&b.value)));
        Some(values)
    }

    /// The files that `rules` keep from who may see what is at most as private as `most`, in the order
    /// of paths, told from what was judged when they changed: no note is opened. `None` until the
    /// index stands for these rules.
    #[must_use]
    pub fn hidden_beyond(&self, rules: &PrivateRules, most: Privacy) -> Option<Vec<NotePath>> {
        let view = self.base()?;
        if view.snapshot().rules() != rules.digest() {
            return None;
        }
        let is_hidden = |held: &Held<'_>| {
            let by_text = match held.by_text() {
                Some(by_text) => by_text,
                // Nobody looked into it. In doubt it is hidden.
                None if rules.looks_into(held.path()) => Privacy::Never,
                None => Privacy::Open,
            };
            held.kind() != EntryKind::Folder
                && (by_text > most || rules.by_path(held.path()) > most)
        };
        let held: Vec<Held<'_>> = view.all().collect();
        let known =
            parallel::look(&held, None, |held| is_hidden(held).then(|| held.path().clone()));
        let private = view.private().values().filter(|_| most < Privacy::Never);
        let private = private.filter(|private| private.entry.kind != EntryKind::Folder);
        let mut hidden = known.found;
        hidden.extend(private.map(|private| private.entry.path.clone()));
        hidden.sort_unstable();
        Some(hidden)
    }

    /// Tells what the index holds from what it held before: as long as this is the same, so is
    /// [what is hidden](Self::hidden_beyond). `None` until it stands.
    #[must_use]
    pub fn moment(&self) -> Option<Moment> {
        self.base().map(|view| Moment(Arc::downgrade(&view)))
    }

    /// All tasks, in the order of the notes.
    #[must_use]
    pub fn tasks(&self, vault: &Vault) -> Option<Vec<KnownTask>> {
        let view = self.view()?;
        let mut notes = Shown { view: &view, vault }.having(By::Task);
        notes.sort_by(|a, b| a.path().cmp(b.path()));
        let of_note = |held: Held<'_>| {
            let path = held.path().clone();
            let tasks = held.facts().tasks.into_iter();
            let known = tasks.map(move |task| KnownTask {
                path: path.clone(),
                line: task.line,
                mark: task.mark,
                words: task.words,
            });
            known.collect::<Vec<_>>()
        };
        Some(notes.into_iter().flat_map(of_note).collect())
    }
}

/// What an index held at one moment.
#[derive(Debug, Clone)]
pub struct Moment(Weak<View>);

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.0, &other.0)
    }
}

/// A view as a vault shows it.
pub(crate) struct Shown<'a> {
    pub(crate) view: &'a View,
    pub(crate) vault: &'a Vault,
}

impl<'a> Shown<'a> {
    pub(crate) fn shows(&self, held: &Held<'_>) -> bool {
        self.view.is_shown(self.vault, held)
    }

    pub(crate) fn get(&self, path: &NotePath) -> Option<Held<'a>> {
        self.view.get(path).filter(|held| self.shows(held))
    }

    pub(crate) fn having(&self, by: By<'_>) -> Vec<Held<'a>> {
        let mut found = self.view.having(by);
        found.retain(|held| self.shows(held));
        found
    }

    /// What the links of `source` mean; what is kept back is not among it.
    fn targets(&self, source: &NotePath) -> Targets<'a, View, impl Fn(&NotePath) -> bool> {
        Targets::of(self.view, source, |path| self.get(path).is_some())
    }

    /// The links of all other files that lead to `target`, in the order of the files.
    pub(crate) fn backlinks(&self, target: &NotePath) -> Vec<Backlink> {
        let mut found = Vec::new();
        for held in self.linking_to(target) {
            let source = held.path();
            let mut targets = self.targets(source);
            for link in held.facts().links {
                if targets.first(&link) == Some(target) {
                    found.push(Backlink { source: source.clone(), link });
                }
            }
        }
        found.sort_by(|a, b| (&a.source, a.link.at.start).cmp(&(&b.source, b.link.at.start)));
        found
    }

    /// The other files that hold a link which may mean `target`.
    fn linking_to(&self, target: &NotePath) -> Vec<Held<'a>> {
        let folded = fold(target.name());
        let bare = folded.strip_suffix(".md").unwrap_or(&folded);
        let mut found = self.having(By::Link(bare));
        found.retain(|held| held.path() != target);
        found
    }
}

/// Each of `words` that a note has, as it is spelled in most notes, with how many have it.
/// `spelled_in` tells the words of a note; each note is asked once at most, however many words it
/// has.
pub(crate) fn counted<'w>(
    shown: &Shown<'_>,
    words: BTreeSet<&'w str>,
    by: impl Fn(&'w str) -> By<'w>,
    spelled_in: impl Fn(&Held<'_>) -> Vec<Word>,
) -> Vec<(String, usize)> {
    let mut found: Vec<(&str, Option<String>, usize)> = Vec::new();
    let mut various: HashMap<&str, BTreeMap<String, usize>> = HashMap::new();
    let mut asked: BTreeMap<&NotePath, Held<'_>> = BTreeMap::new();
    for word in words {
        let notes = shown.having(by(word));
        if notes.is_empty() {
            continue;
        }
        let spelled = shown.view.spelling(by(word)).map(String::from);
        found.push((word, spelled.clone(), notes.len()));
        if spelled.is_none() {
            various.insert(word, BTreeMap::new());
            asked.extend(notes.into_iter().map(|held| (held.path(), held)));
        }
    }
    for word in asked.values().flat_map(spelled_in) {
        if let Some(counts) = various.get_mut(word.folded.as_str()) {
            *counts.entry(word.spelled).or_default() += 1;
        }
    }
    let spelled = |(word, spelled, notes): (&str, Option<String>, usize)| {
        let most = || most_common(various.get(word)?);
        (spelled.or_else(most).unwrap_or_default(), notes)
    };
    found.into_iter().map(spelled).collect()
}

/// The one that comes most often; of several the first in the order of signs.
fn most_common(counts: &BTreeMap<String, usize>) -> Option<String> {
    let most = counts.values().copied().max()?;
    counts.iter().find(|(_, count)| **count == most).map(|(one, _)| one.clone())
}
