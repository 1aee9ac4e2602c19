//! What the index knows about notes beside their text: links, tags, properties, tasks.
//!
//! Everything is as `vault` shows it: what its screen keeps back is not there, and what a `plan`
//! changes counts as changed. `None` means that the index does not stand yet.

use std::collections::BTreeMap;

use protocol::{ChangeSet, NotePath};
use vault::Vault;

use crate::Index;
use crate::links::{Backlink, Outgoing, candidates_from, fold, targets};
use crate::live::{By, Held, View};
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
        let view = view.planned(plan);
        let shown = Shown { view: &view, vault };
        Some(shown.get(source).map_or_else(Vec::new, |held| {
            let outgoing = held.facts().links.into_iter().map(|link| {
                let targets = shown.targets(&link, source);
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
        let view = view.planned(plan);
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
            let dead = links.filter(|link| shown.targets(link, held.path()).is_empty());
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

    /// All tags, those of most notes first.
    #[must_use]
    pub fn tags(&self, vault: &Vault, plan: &ChangeSet) -> Option<Vec<TagCount>> {
        let view = self.view()?;
        let view = view.planned(plan);
        let shown = Shown { view: &view, vault };
        let counted = view.tag_names().into_iter().map(|word| {
            let notes = shown.having(By::Tag(word));
            let tag = spelled(&view, By::Tag(word), || {
                notes.iter().flat_map(|held| spelled_like(&held.tags(), word)).collect()
            });
            TagCount { tag, notes: notes.len() }
        });
        let mut tags: Vec<TagCount> = counted.filter(|tag| tag.notes > 0).collect();
        tags.sort_by(|a, b| b.notes.cmp(&a.notes).then_with(|| a.tag.cmp(&b.tag)));
        Some(tags)
    }

    /// The values of a property, whatever the case of its name; those of most notes first.
    #[must_use]
    pub fn values(&self, vault: &Vault, property: &str) -> Option<Vec<ValueCount>> {
        let view = self.view()?;
        let shown = Shown { view: &view, vault };
        let wanted = property.to_lowercase();
        let mut counts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for held in shown.having(By::Property(&wanted)) {
            let properties = held.facts().properties.into_iter();
            let own = properties.filter(|(name, _)| name.to_lowercase() == wanted);
            for value in own.flat_map(|(_, values)| values) {
                counts.entry(value.to_lowercase()).or_default().push(value);
            }
        }
        let count = |spelled: Vec<String>| ValueCount {
            notes: spelled.len(),
            value: most_common(spelled.into_iter()).unwrap_or_default(),
        };
        let mut values: Vec<ValueCount> = counts.into_values().map(count).collect();
        values.sort_by(|a, b| b.notes.cmp(&a.notes).then_with(|| a.value.cmp(&b.value)));
        Some(values)
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

/// A view as a vault shows it.
pub(crate) struct Shown<'a> {
    pub(crate) view: &'a View,
    pub(crate) vault: &'a Vault,
}

impl<'a> Shown<'a> {
    pub(crate) fn shows(&self, held: &Held<'_>) -> bool {
        self.vault.shows(held.path(), held.text())
    }

    pub(crate) fn get(&self, path: &NotePath) -> Option<Held<'a>> {
        self.view.get(path).filter(|held| self.shows(held))
    }

    pub(crate) fn having(&self, by: By<'_>) -> Vec<Held<'a>> {
        let mut found = self.view.having(by);
        found.retain(|held| self.shows(held));
        found
    }

    /// The files that a link could mean; what is kept back is not among them.
    fn targets(&self, link: &crate::links::Spelled, source: &NotePath) -> Vec<NotePath> {
        let targets = targets(self.view, link, source).into_iter();
        targets.filter(|path| self.get(path).is_some()).cloned().collect()
    }

    /// The links of all other files that lead to `target`, in the order of the files.
    pub(crate) fn backlinks(&self, target: &NotePath) -> Vec<Backlink> {
        let mut found = Vec::new();
        for held in self.linking_to(target) {
            let source = held.path();
            for link in held.facts().links {
                if self.targets(&link, source).first() == Some(target) {
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

/// How a word is spelled in most notes; `all` tells every spelling, which takes long.
pub(crate) fn spelled(view: &View, by: By<'_>, all: impl FnOnce() -> Vec<String>) -> String {
    let only = view.spelling(by).map(String::from);
    only.or_else(|| most_common(all().into_iter())).unwrap_or_default()
}

/// The spelling of a tag, or of an upper part of one, in each place.
fn spelled_like(tags: &[String], word: &str) -> Vec<String> {
    let spelled = tags.iter().filter_map(|tag| {
        let parts = word.split('/').count();
        let upper: Vec<&str> = tag.split('/').take(parts).collect();
        let upper = upper.join("/");
        (upper.to_lowercase() == word).then_some(upper)
    });
    spelled.collect()
}

/// The one that comes most often; of several the first in the order of signs.
fn most_common(all: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(one, _)| one)
}
