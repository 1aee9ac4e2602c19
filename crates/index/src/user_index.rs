//! The index as the user sees it: private notes are found too, and are written to no index file.
//!
//! Code that serves a model takes [`UserIndex::for_models`], which cannot be reversed.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use protocol::{ChangeSet, NotePath, PrivateRules};
use vault::{EntryKind, Vault, VaultError};

use crate::links::{Backlink, OutgoingLink, file_name, fold_name, relative_to};
use crate::metadata::filters::PropertyCount;
use crate::metadata::queries::{BrokenLink, NoteTask, TagCount, ValueCount};
use crate::search::file_finder::FoundFile;
use crate::search::grep::{GrepQuery, GrepResult};
use crate::view::{IndexView, LookupKey};
use crate::{Index, SearchError};

/// The index for the user: it returns everything, whatever the rules say. Code that works for a
/// model gets [the models' index](Self::for_models), from which there is no way back.
///
/// Private notes are known by name in memory. Their metadata is read at the first use, and their
/// texts for each search.
#[derive(Debug, Clone)]
pub struct UserIndex {
    index: Index,
    vault: Vault,
    cached: Arc<CachedLists>,
}

/// Lists that take long in a large vault. The window asks for them at each letter that is typed, so
/// each is told from memory until the notes change.
#[derive(Debug, Default)]
struct CachedLists {
    broken_links: LastAnswer<Vec<BrokenLink>>,
    tasks: LastAnswer<Vec<NoteTask>>,
    values: LastAnswer<Vec<ValueCount>>,
}

/// The last answer, its view, and its query.
#[derive(Debug)]
struct LastAnswer<T>(Mutex<Option<(Weak<IndexView>, String, T)>>);

impl<T> Default for LastAnswer<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> LastAnswer<T> {
    /// The result of `tell` in this view, cached.
    fn get_or(
        &self,
        view: &Arc<IndexView>,
        about: &str,
        tell: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
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

impl UserIndex {
    /// An index over all notes of `vault`; `rules` keep some from every model. `dir` is its own,
    /// and no text of private notes is written there. Nothing is read yet.
    #[must_use]
    pub fn new(vault: &Vault, rules: PrivateRules, dir: &Path) -> Self {
        let index = Index::new(vault, rules, dir).for_the_user();
        Self { index, vault: vault.unfiltered(), cached: Arc::default() }
    }

    /// The same index as models may ask it.
    #[must_use]
    pub fn for_models(&self) -> Index {
        self.index.for_models()
    }

    /// See [`Index::find_files`].
    pub fn find_files(
        &self,
        query: &str,
        recent: &[NotePath],
        limit: usize,
        wanted: impl Fn(&NotePath) -> bool,
    ) -> Result<Vec<FoundFile>, VaultError> {
        self.index.find_files(&self.vault, query, recent, limit, wanted)
    }

    /// See [`Index::search`]. Private notes are opened for it, until `deadline` has passed.
    pub fn search(&self, query: &GrepQuery, deadline: Duration) -> Result<GrepResult, SearchError> {
        self.index.search(&self.vault, &ChangeSet::default(), query, deadline)
    }

    /// See [`Index::outgoing_links`].
    #[must_use]
    pub fn outgoing_links(&self, source: &NotePath) -> Option<Vec<OutgoingLink>> {
        self.index.outgoing_links(&self.vault, &ChangeSet::default(), source)
    }

    /// See [`Index::backlinks`].
    #[must_use]
    pub fn backlinks(&self, target: &NotePath) -> Option<Vec<Backlink>> {
        self.index.backlinks(&self.vault, &ChangeSet::default(), target)
    }

    /// The files in which links may have to be rewritten when each first path of `moves` goes to the second: those that
    /// move, those with a link by a name that goes or comes, and those whose links the index does not hold, which are
    /// private notes and conflict copies. In the order of paths. Files that are not UTF-8 text, which are never
    /// rewritten, may be missing. `None` until the index stands.
    #[must_use]
    pub fn sources_of_links(&self, moves: &[(NotePath, NotePath)]) -> Option<Vec<NotePath>> {
        let view = self.index.base_view()?;
        // Links from the note's folder may end in these: `./Plan/` and `./Plan/.` are `Plan`.
        let mut names: BTreeSet<String> = ["", ".", ".."].map(str::to_owned).into();
        names.extend(moves.iter().flat_map(|(from, to)| [from, to]).flat_map(link_names));
        let linking = names.iter().flat_map(|name| view.files_with(LookupKey::Link(name)));
        let copies = view.all().filter(|held| held.kind() == EntryKind::Conflict);
        let private = view.private().values().map(|private| &private.entry);
        let private = private.filter(|entry| entry.kind != EntryKind::Folder);
        let known = linking.chain(copies).map(|held| held.path());
        let moved = moves.iter().map(|(from, _)| from);
        let sources: BTreeSet<&NotePath> =
            known.chain(private.map(|entry| &entry.path)).chain(moved).collect();
        Some(sources.into_iter().cloned().collect())
    }

    /// See [`Index::broken_links`].
    #[must_use]
    pub fn broken_links(&self) -> Option<Vec<BrokenLink>> {
        self.cached
            .broken_links
            .get_or(&self.index.view()?, "", || self.index.broken_links(&self.vault))
    }

    /// See [`Index::broken_among`].
    #[must_use]
    pub fn broken_among(&self, links: Vec<String>) -> Option<Vec<String>> {
        self.index.broken_among(&self.vault, links)
    }

    /// The file, note or not, that `link` means in the note `source`, or where it stands in none.
    /// Until the index stands it is looked for under its whole path alone: from the note's folder,
    /// then from the top.
    #[must_use]
    pub fn resolve_link(&self, link: &str, source: Option<&NotePath>) -> Option<NotePath> {
        let meant = self.index.resolve_link(&self.vault, link, source);
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

    /// See [`Index::property_values`].
    #[must_use]
    pub fn property_values(&self, property: &str) -> Option<Vec<ValueCount>> {
        let tell = || self.index.property_values(&self.vault, property);
        self.cached.values.get_or(&self.index.view()?, property, tell)
    }

    /// See [`Index::notes_with_tag`].
    #[must_use]
    pub fn notes_with_tag(&self, tag: &str) -> Option<Vec<NotePath>> {
        self.index.notes_with_tag(&self.vault, tag)
    }

    /// See [`Index::notes_with_value`].
    #[must_use]
    pub fn notes_with_value(&self, property: &str, value: &str) -> Option<Vec<NotePath>> {
        self.index.notes_with_value(&self.vault, property, value)
    }

    /// See [`Index::tasks`].
    #[must_use]
    pub fn tasks(&self) -> Option<Vec<NoteTask>> {
        self.cached.tasks.get_or(&self.index.view()?, "", || self.index.tasks(&self.vault))
    }

    fn is_file(&self, path: &NotePath) -> bool {
        let found = self.vault.entry(path).ok().flatten();
        found.is_some_and(|(found, _)| !matches!(found.kind, EntryKind::Folder | EntryKind::Link))
    }
}

/// The last parts of links that may mean the file at `path`, folded and without one `.md`. A link to `a.md` means
/// `a.md.md` where there is no `a.md`.
fn link_names(path: &NotePath) -> [String; 2] {
    let folded = fold_name(path.as_str());
    let name = file_name(&folded);
    let bare = name.strip_suffix(".md").unwrap_or(name);
    [bare, bare.strip_suffix(".md").unwrap_or(bare)].map(str::to_owned)
}

/// The paths from the top that a link in a note of the folder `here` may spell out.
fn whole_paths(link: &str, here: Option<&str>) -> Vec<String> {
    let in_folder = relative_to(here.unwrap_or_default(), link);
    match link.strip_prefix('/') {
        Some(whole) => vec![whole.to_owned()],
        None if link.starts_with("./") || link.starts_with("../") => Vec::from_iter(in_folder),
        None => in_folder.into_iter().chain([link.to_owned()]).collect(),
    }
}
