//! Queries for the metadata of notes: links, tags, properties, tasks.
//!
//! Results follow `vault`: notes that its screen withholds are omitted, and changes of a `plan`
//! count as done. `None` means that the index is not ready yet.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use protocol::{ChangeSet, NotePath, Privacy, PrivateRules};
use vault::{EntryKind, Vault};

use crate::Index;
use crate::links::{
    Backlink, LinkTargets, OutgoingLink, TargetCache, candidates_from, fold_name, some_candidates,
};
use crate::vault_scan::parallel;
use crate::view::{FoldedWord, IndexView, LookupKey, ViewEntry, with_parent_tags};

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
    /// The number of notes with this value.
    pub notes: usize,
}

/// A path that links name and that leads to no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenLink {
    /// The path that is named, as it is spelled in the first note.
    pub link: String,
    /// The notes that name it, in order.
    pub sources: Vec<NotePath>,
}

/// An item with a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteTask {
    /// The note that holds the item.
    pub path: NotePath,
    /// 1-based.
    pub line: u32,
    /// The sign in the box; a blank while it is open.
    pub mark: char,
    /// The text behind the box, on its first line.
    pub words: String,
}

impl Index {
    /// The links that leave a file, in order.
    #[must_use]
    pub fn outgoing_links(
        &self,
        vault: &Vault,
        plan: &ChangeSet,
        source: &NotePath,
    ) -> Option<Vec<OutgoingLink>> {
        let view = self.view()?;
        let view = view.planned(plan, vault);
        let shown = VisibleView { view: &view, vault };
        Some(shown.get(source).map_or_else(Vec::new, |held| {
            let all = shown.link_targets();
            let mut targets = TargetCache::for_note(&all, source);
            let outgoing = held.metadata().links.into_iter().map(|link| {
                let targets = targets.first_few(&link);
                OutgoingLink { link, targets }
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
        let shown = VisibleView { view: &view, vault };
        Some(shown.backlinks(target))
    }

    /// All broken links, those in the most notes first.
    #[must_use]
    pub fn broken_links(&self, vault: &Vault) -> Option<Vec<BrokenLink>> {
        let view = self.view()?;
        let shown = VisibleView { view: &view, vault };
        let mut found: BTreeMap<String, BrokenLink> = BTreeMap::new();
        let files: Vec<ViewEntry<'_>> = view.all().filter(|held| shown.shows(held)).collect();
        let all_targets = shown.link_targets();
        let broken = parallel::map_parallel(&files, None, |held| {
            let links = held.metadata().links.into_iter();
            let mut targets = TargetCache::for_note(&all_targets, held.path());
            let missing = links.filter(|link| targets.first(link).is_none());
            let missing: Vec<String> = missing.map(|link| link.path).collect();
            (!missing.is_empty()).then(|| (held.path().clone(), missing))
        });
        for (source, links) in broken.found {
            for link in links {
                let of_link = || BrokenLink { link: link.clone(), sources: Vec::new() };
                found.entry(fold_name(&link)).or_insert_with(of_link).sources.push(source.clone());
            }
        }
        let mut all: Vec<BrokenLink> = found.into_values().collect();
        for unresolved in &mut all {
            unresolved.sources.sort_unstable();
            unresolved.sources.dedup();
        }
        all.sort_by_key(|unresolved| std::cmp::Reverse(unresolved.sources.len()));
        Some(all)
    }

    /// The broken ones of `links`. They are paths as links mean them, and are in no note: they
    /// begin at the top of the vault.
    #[must_use]
    pub fn broken_among(&self, vault: &Vault, mut links: Vec<String>) -> Option<Vec<String>> {
        let view = self.view()?;
        let shown = VisibleView { view: &view, vault };
        let is_shown = |path: &NotePath| shown.get(path).is_some();
        links.retain(|link| some_candidates(&*view, link, 1, is_shown).is_empty());
        Some(links)
    }

    /// The file, note or not, that `link` means in the note `source`, or where it stands in none.
    #[must_use]
    pub fn resolve_link(
        &self,
        vault: &Vault,
        link: &str,
        source: Option<&NotePath>,
    ) -> Option<Option<NotePath>> {
        let view = self.view()?;
        let shown = VisibleView { view: &view, vault };
        let here = source.and_then(NotePath::folder).map(fold_name).unwrap_or_default();
        let mut meant = candidates_from(&*view, link, &here).into_iter();
        Some(meant.find(|path| shown.get(path).is_some()).cloned())
    }

    /// Whether `link` means `note` and could mean no other file, in whatever note it stands.
    #[must_use]
    pub fn means_only(&self, vault: &Vault, link: &str, note: &NotePath) -> Option<bool> {
        let view = self.view()?;
        let shown = VisibleView { view: &view, vault };
        // A second one decides: there may be thousands.
        let meant = some_candidates(&*view, link, 2, |path| shown.get(path).is_some());
        Some(meant == [note])
    }

    /// All tags, those of most notes first.
    #[must_use]
    pub fn tags(&self, vault: &Vault, plan: &ChangeSet) -> Option<Vec<TagCount>> {
        let view = self.view()?;
        let view = view.planned(plan, vault);
        let shown = VisibleView { view: &view, vault };
        let counted = count_spellings(&shown, view.tag_names(), LookupKey::Tag, |held| {
            held.tags().iter().flat_map(|tag| with_parent_tags(tag)).collect()
        });
        let counted = counted.into_iter().map(|(tag, notes)| TagCount { tag, notes });
        let mut tags: Vec<TagCount> = counted.collect();
        tags.sort_by(|a, b| b.notes.cmp(&a.notes).then_with(|| a.tag.cmp(&b.tag)));
        Some(tags)
    }

    /// The values of a property, whatever the case of its name; those of most notes first.
    #[must_use]
    pub fn property_values(&self, vault: &Vault, property: &str) -> Option<Vec<ValueCount>> {
        let view = self.view()?;
        let shown = VisibleView { view: &view, vault };
        let wanted = property.to_lowercase();
        let mut counts: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for held in shown.files_with(LookupKey::Property(&wanted)) {
            let properties = held.metadata().properties.into_iter();
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
    pub fn files_hidden_above(&self, rules: &PrivateRules, most: Privacy) -> Option<Vec<NotePath>> {
        let view = self.base_view()?;
        if view.snapshot().rules() != rules.digest() {
            return None;
        }
        let is_hidden = |held: &ViewEntry<'_>| {
            let by_text = match held.text_privacy() {
                Some(by_text) => by_text,
                // Nobody looked into it. In doubt it is hidden.
                None if rules.depend_on_content_of(held.path()) => Privacy::Never,
                None => Privacy::Open,
            };
            held.kind() != EntryKind::Folder
                && (by_text > most || rules.by_path(held.path()) > most)
        };
        let held: Vec<ViewEntry<'_>> = view.all().collect();
        let known = parallel::map_parallel(&held, None, |held| {
            is_hidden(held).then(|| held.path().clone())
        });
        let private = view.private().values().filter(|_| most < Privacy::Never);
        let private = private.filter(|private| private.entry.kind != EntryKind::Folder);
        let mut hidden = known.found;
        hidden.extend(private.map(|private| private.entry.path.clone()));
        hidden.sort_unstable();
        Some(hidden)
    }

    /// Tells what the index holds from what it held before: as long as this is the same, so is
    /// [what is hidden](Self::files_hidden_above). `None` until it stands.
    #[must_use]
    pub fn version(&self) -> Option<IndexVersion> {
        self.base_view().map(|view| IndexVersion(Arc::downgrade(&view)))
    }

    /// All tasks, in the order of the notes.
    #[must_use]
    pub fn tasks(&self, vault: &Vault) -> Option<Vec<NoteTask>> {
        let view = self.view()?;
        let mut notes = VisibleView { view: &view, vault }.files_with(LookupKey::Task);
        notes.sort_by(|a, b| a.path().cmp(b.path()));
        let of_note = |held: ViewEntry<'_>| {
            let path = held.path().clone();
            let tasks = held.metadata().tasks.into_iter();
            let known = tasks.map(move |task| NoteTask {
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

/// The content of an index at one moment.
#[derive(Debug, Clone)]
pub struct IndexVersion(Weak<IndexView>);

impl PartialEq for IndexVersion {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.0, &other.0)
    }
}

/// A view as a vault shows it.
pub(crate) struct VisibleView<'a> {
    pub(crate) view: &'a IndexView,
    pub(crate) vault: &'a Vault,
}

impl<'a> VisibleView<'a> {
    pub(crate) fn shows(&self, entry: &ViewEntry<'_>) -> bool {
        self.view.is_shown(self.vault, entry)
    }

    pub(crate) fn get(&self, path: &NotePath) -> Option<ViewEntry<'a>> {
        self.view.get(path).filter(|held| self.shows(held))
    }

    pub(crate) fn files_with(&self, key: LookupKey<'_>) -> Vec<ViewEntry<'a>> {
        let mut found = self.view.files_with(key);
        found.retain(|held| self.shows(held));
        found
    }

    /// The files that links could mean, without withheld notes.
    fn link_targets(&self) -> LinkTargets<'a, IndexView, impl Fn(&NotePath) -> bool> {
        LinkTargets::new(self.view, |path: &NotePath| self.get(path).is_some())
    }

    /// The links of all other files that lead to `target`, in the order of the files.
    pub(crate) fn backlinks(&self, target: &NotePath) -> Vec<Backlink> {
        let mut found = Vec::new();
        let all = self.link_targets();
        for held in self.linking_to(target) {
            let source = held.path();
            let mut targets = TargetCache::for_note(&all, source);
            for link in held.metadata().links {
                if targets.first(&link) == Some(target) {
                    found.push(Backlink { source: source.clone(), link });
                }
            }
        }
        found.sort_by(|a, b| (&a.source, a.link.at.start).cmp(&(&b.source, b.link.at.start)));
        found
    }

    /// The other files that hold a link which may mean `target`.
    fn linking_to(&self, target: &NotePath) -> Vec<ViewEntry<'a>> {
        let folded = fold_name(target.name());
        let bare = folded.strip_suffix(".md").unwrap_or(&folded);
        let mut found = self.files_with(LookupKey::Link(bare));
        found.retain(|held| held.path() != target);
        found
    }
}

/// Each of `words` that a note has, in the spelling of most notes, with the number of notes that
/// have it. `spelled_in` returns the words of a note; each note is read once at most, however many
/// words it has.
pub(crate) fn count_spellings<'w>(
    shown: &VisibleView<'_>,
    words: BTreeSet<&'w str>,
    by: impl Fn(&'w str) -> LookupKey<'w>,
    spelled_in: impl Fn(&ViewEntry<'_>) -> Vec<FoldedWord>,
) -> Vec<(String, usize)> {
    let mut found: Vec<(&str, Option<String>, usize)> = Vec::new();
    let mut various: HashMap<&str, BTreeMap<String, usize>> = HashMap::new();
    let mut asked: BTreeMap<&NotePath, ViewEntry<'_>> = BTreeMap::new();
    for word in words {
        let notes = shown.files_with(by(word));
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
