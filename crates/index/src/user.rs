//! The index as the user sees it: what no model may see is found too, and is on no disk but his own.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use protocol::{ChangeSet, NotePath, PrivateRules};
use vault::{EntryKind, Vault, VaultError};

use crate::facts::Facts;
use crate::having::PropertyCount;
use crate::known::{KnownTask, TagCount, Unresolved, ValueCount};
use crate::links::{Backlink, Outgoing, relative_to};
use crate::live::{Fresh, View};
use crate::names::Named;
use crate::parallel;
use crate::search::{Found, Query};
use crate::snapshot::{Looked, unmarked};
use crate::{Index, SearchError};

/// So long reading what private notes say about themselves may take; of those that are left only
/// the names are known until it is asked for the next time.
const READING: Duration = Duration::from_secs(2);

/// Tells everything, whatever the rules say. It belongs to who answers the user himself; who works
/// for a model is given [the models' index](Self::for_models), from which there is no way back.
///
/// Private notes are known by name in memory. What they say about themselves is read when it is
/// asked for first, and their texts for each search.
#[derive(Debug, Clone)]
pub struct UserIndex {
    index: Index,
    vault: Vault,
    told: Arc<Told>,
}

/// Lists that take long in a large vault. The window asks for them at each letter that is typed, so
/// each is told from memory until the notes change.
#[derive(Debug, Default)]
struct Told {
    dead: Last<Vec<Unresolved>>,
    tasks: Last<Vec<KnownTask>>,
    values: Last<Vec<ValueCount>>,
}

/// The last answer, the view it is about, and what it was asked about.
#[derive(Debug)]
struct Last<T>(Mutex<Option<(Weak<View>, String, T)>>);

impl<T> Default for Last<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Last<T> {
    /// What `tell` would tell about it in this view.
    fn or(&self, view: &Arc<View>, about: &str, tell: impl FnOnce() -> Option<T>) -> Option<T> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let view = Arc::downgrade(view);
        if let Some((of, known, told)) = last.as_ref()
            && Weak::ptr_eq(of, &view)
            && known == about
        {
            return Some(told.clone());
        }
        let told = tell()?;
        *last = Some((view, about.to_owned(), told.clone()));
        Some(told)
    }
}

/// All files, those that no model may see among them.
#[derive(Debug, Default)]
pub(crate) struct Whole(Mutex<Option<Seen>>);

/// A view as the models have it, and the same with all else.
#[derive(Debug)]
struct Seen {
    models: Arc<View>,
    whole: Arc<View>,
}

impl Whole {
    /// The view with all that it leaves out.
    pub(crate) fn of(&self, models: Arc<View>, vault: &Vault) -> Arc<View> {
        if models.private().is_empty() {
            return models;
        }
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = seen.as_ref().filter(|seen| Arc::ptr_eq(&seen.models, &models)) {
            return Arc::clone(&seen.whole);
        }
        let before = seen.take().map(|seen| seen.whole);
        let whole = Arc::new(models.with_fresh(unread(&models, before.as_deref(), vault)));
        *seen = Some(Seen { models, whole: Arc::clone(&whole) });
        whole
    }
}

/// The private files of a view with all but their texts; those that are as they were `before` are
/// not read again.
fn unread(models: &View, before: Option<&View>, vault: &Vault) -> Vec<Arc<Fresh>> {
    let all: Vec<_> = models.private().values().collect();
    let until = Instant::now() + READING;
    let known = parallel::look(&all, None, |private| {
        let path = &private.entry.path;
        let same = |fresh: &&Arc<Fresh>| {
            fresh.looked.stamp.is_some_and(|stamp| private.stamp == Some(stamp))
        };
        if let Some(fresh) = before.and_then(|before| before.fresh_at(path)).filter(same) {
            return Some(Arc::clone(fresh));
        }
        let holds_facts = private.entry.kind == EntryKind::Note || private.entry.path.is_canvas();
        let bytes =
            (holds_facts && Instant::now() < until).then(|| vault.bytes(path).ok()).flatten();
        let facts = bytes.as_deref().map(|bytes| Facts::of(path, &unmarked(bytes)));
        let stamp = private.stamp.filter(|_| facts.is_some() || !holds_facts);
        let facts = facts.unwrap_or_default().encode();
        let (entry, text) = (private.entry.clone(), Vec::new());
        let looked = Looked { entry, stamp, text, facts, by_text: None };
        Some(Arc::new(Fresh::unread(looked)))
    });
    known.found
}

impl UserIndex {
    /// Over all notes of `vault`; `rules` keep some from every model. `dir` is its own, and nothing
    /// of what they keep back is written there. Nothing is read yet.
    #[must_use]
    pub fn new(vault: &Vault, rules: PrivateRules, dir: &Path) -> Self {
        let index = Index::new(vault, rules, dir).for_the_user();
        Self { index, vault: vault.whole(), told: Arc::default() }
    }

    /// The same index as models may ask it.
    #[must_use]
    pub fn for_models(&self) -> Index {
        self.index.for_models()
    }

    /// See [`Index::names`].
    pub fn names(
        &self,
        query: &str,
        recent: &[NotePath],
        limit: usize,
    ) -> Result<Vec<Named>, VaultError> {
        self.index.names(&self.vault, query, recent, limit)
    }

    /// See [`Index::search`]. Private notes are opened for it, until `deadline` has passed.
    pub fn search(&self, query: &Query, deadline: Duration) -> Result<Found, SearchError> {
        self.index.search(&self.vault, &ChangeSet::default(), query, deadline)
    }

    /// See [`Index::outgoing`].
    #[must_use]
    pub fn outgoing(&self, source: &NotePath) -> Option<Vec<Outgoing>> {
        self.index.outgoing(&self.vault, &ChangeSet::default(), source)
    }

    /// See [`Index::backlinks`].
    #[must_use]
    pub fn backlinks(&self, target: &NotePath) -> Option<Vec<Backlink>> {
        self.index.backlinks(&self.vault, &ChangeSet::default(), target)
    }

    /// See [`Index::unresolved`].
    #[must_use]
    pub fn unresolved(&self) -> Option<Vec<Unresolved>> {
        self.told.dead.or(&self.index.view()?, "", || self.index.unresolved(&self.vault))
    }

    /// See [`Index::dead_among`].
    #[must_use]
    pub fn dead_among(&self, links: Vec<String>) -> Option<Vec<String>> {
        self.index.dead_among(&self.vault, links)
    }

    /// The file, note or not, that `link` means in the note `source`, or where it stands in none.
    /// Until the index stands it is looked for under its whole path alone: from the note's folder,
    /// then from the top.
    #[must_use]
    pub fn meant(&self, link: &str, source: Option<&NotePath>) -> Option<NotePath> {
        let meant = self.index.meant(&self.vault, link, source);
        meant.unwrap_or_else(|| {
            let spelled = whole_paths(link, source.and_then(NotePath::folder)).into_iter();
            let mut paths = spelled.filter_map(|path| NotePath::parse(&path).ok());
            paths.find(|path| self.is_file(path))
        })
    }

    /// The text of a link to a note by which no other file is meant: its title, else its path without
    /// `.md`, else the whole path. Until the index stands a title is not known to be the only one.
    #[must_use]
    pub fn link_to(&self, note: &NotePath) -> String {
        let means_only =
            |link: &&str| self.index.means_only(&self.vault, link, note).unwrap_or_default();
        let whole = note.as_str();
        let bare = whole.strip_suffix(".md").filter(|bare| bare.contains('/'));
        let shortest = [Some(note.title()), bare].into_iter().flatten().find(means_only);
        shortest.unwrap_or(whole).to_owned()
    }

    /// See [`Index::tags`].
    #[must_use]
    pub fn tags(&self) -> Option<Vec<TagCount>> {
        self.index.tags(&self.vault, &ChangeSet::default())
    }

    /// See [`Index::properties`].
    #[must_use]
    pub fn properties(&self) -> Option<Vec<PropertyCount>> {
        self.index.properties(&self.vault)
    }

    /// See [`Index::values`].
    #[must_use]
    pub fn values(&self, property: &str) -> Option<Vec<ValueCount>> {
        let tell = || self.index.values(&self.vault, property);
        self.told.values.or(&self.index.view()?, property, tell)
    }

    /// See [`Index::tagged`].
    #[must_use]
    pub fn tagged(&self, tag: &str) -> Option<Vec<NotePath>> {
        self.index.tagged(&self.vault, tag)
    }

    /// See [`Index::valued`].
    #[must_use]
    pub fn valued(&self, property: &str, value: &str) -> Option<Vec<NotePath>> {
        self.index.valued(&self.vault, property, value)
    }

    /// See [`Index::tasks`].
    #[must_use]
    pub fn tasks(&self) -> Option<Vec<KnownTask>> {
        self.told.tasks.or(&self.index.view()?, "", || self.index.tasks(&self.vault))
    }

    fn is_file(&self, path: &NotePath) -> bool {
        let found = self.vault.entry(path).ok().flatten();
        found.is_some_and(|(found, _)| !matches!(found.kind, EntryKind::Folder | EntryKind::Link))
    }
}

/// The paths from the top that a link in a note of the folder `here` may spell out.
fn whole_paths(link: &str, here: Option<&str>) -> Vec<String> {
    let beside = relative_to(here.unwrap_or_default(), link);
    match link.strip_prefix('/') {
        Some(whole) => vec![whole.to_owned()],
        None if link.starts_with("./") || link.starts_with("../") => Vec::from_iter(beside),
        None => beside.into_iter().chain([link.to_owned()]).collect(),
    }
}
