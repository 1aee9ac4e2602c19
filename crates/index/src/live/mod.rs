//! What the notes are now: a snapshot, and in memory what is no longer as in it.
//!
//! A view never changes: who searches one sees it to the end, and nobody waits for him.

mod gather;
mod held;
mod later;
mod look;
mod lookup;
mod plan;
mod withheld;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use fixedbitset::FixedBitSet;
use protocol::{NotePath, Privacy};
use vault::{EntryKind, Judged, Stamp, Vault};

pub(crate) use gather::gather;
use held::Listed;
pub(crate) use held::{Fresh, Held};
pub(crate) use later::{keep, kept};
pub(crate) use look::{Eye, Now, Private};
pub(crate) use lookup::{By, Word, with_upper};
use lookup::{Lookup, Spelling};
pub(crate) use withheld::Withheld;

use crate::links::{File, Names, fold};
use crate::ranking::Fitting;
use crate::snapshot::Snapshot;

/// All files of a vault at one moment.
#[derive(Debug, Clone)]
pub(crate) struct View {
    snapshot: Arc<Snapshot>,
    lookup: Arc<Lookup>,
    /// Rows of the snapshot that do not count: the file is gone, or fresh.
    dead: FixedBitSet,
    fresh: BTreeSet<Listed>,
    /// What the fresh files can be looked up by, once somebody asks.
    fresh_lookup: Arc<OnceLock<FreshLookup>>,
    /// Files that no model may see; they are in no other part.
    private: Arc<BTreeMap<NotePath, Private>>,
    /// How much text is fresh, in bytes.
    weight: usize,
    /// The ranking of the snapshot, as far as there is one.
    ranking: Option<Arc<Fitting>>,
}

/// Which fresh files have a name, a link, a tag, a property or a task: without it each such question
/// would be put to each of them, and to each of its words.
#[derive(Debug)]
struct FreshLookup {
    files: Vec<Arc<Fresh>>,
    lookup: Lookup,
}

impl FreshLookup {
    fn having(&self, by: By<'_>) -> impl Iterator<Item = Held<'_>> {
        let places = self.lookup.rows(by).iter().filter_map(|at| usize::try_from(*at).ok());
        places.filter_map(|at| self.files.get(at)).map(|fresh| Held::Fresh(fresh))
    }
}

impl View {
    /// What a snapshot holds.
    pub(crate) fn new(snapshot: Arc<Snapshot>) -> Self {
        let dead = FixedBitSet::with_capacity(snapshot.rows().len());
        let lookup = Arc::new(Lookup::of(&snapshot));
        Self {
            snapshot,
            lookup,
            dead,
            fresh: BTreeSet::new(),
            fresh_lookup: Arc::default(),
            private: Arc::default(),
            weight: 0,
            ranking: None,
        }
    }

    /// The same with these files, which no model may see, and no others of the kind.
    pub(crate) fn hiding(&self, private: BTreeMap<NotePath, Private>) -> Self {
        Self { private: Arc::new(private), ..self.clone() }
    }

    /// The same with a ranking, which was compared with its snapshot.
    pub(crate) fn ranked_by(&self, ranking: Fitting) -> Self {
        Self { ranking: Some(Arc::new(ranking)), ..self.clone() }
    }

    /// The ranking of its snapshot.
    pub(crate) const fn ranking(&self) -> Option<&Arc<Fitting>> {
        self.ranking.as_ref()
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The same after `changes`.
    pub(crate) fn with(&self, changes: impl IntoIterator<Item = (NotePath, Now)>) -> Self {
        let mut view = Self { fresh_lookup: Arc::default(), ..self.clone() };
        for (path, now) in changes {
            if let Some(row) = view.snapshot.find(&path) {
                view.dead.insert(row);
            }
            if let Some(before) = view.fresh.take(&path) {
                view.weight -= before.0.looked.text.len();
            }
            if view.private.contains_key(&path) {
                Arc::make_mut(&mut view.private).remove(&path);
            }
            match now {
                Now::Held(looked) => {
                    view.weight += looked.text.len();
                    view.fresh.insert(Listed(Arc::new(Fresh::new(looked))));
                }
                Now::Private(private) => {
                    Arc::make_mut(&mut view.private).insert(path, private);
                }
                Now::Gone => {}
            }
        }
        view
    }

    /// The same with more files.
    pub(crate) fn with_fresh(&self, files: impl IntoIterator<Item = Arc<Fresh>>) -> Self {
        let mut view = Self { fresh_lookup: Arc::default(), ..self.clone() };
        for file in files {
            view.fresh.replace(Listed(file));
        }
        view
    }

    /// The file at `path` if it is not as in the snapshot.
    pub(crate) fn fresh_at(&self, path: &NotePath) -> Option<&Arc<Fresh>> {
        self.fresh.get(path).map(|listed| &listed.0)
    }

    /// The files that no model may see, in the order of paths.
    pub(crate) fn private(&self) -> &BTreeMap<NotePath, Private> {
        &self.private
    }

    /// Whether its snapshot has something of a file that is private by now.
    pub(crate) fn betrays(&self) -> bool {
        self.private.keys().any(|path| self.snapshot.find(path).is_some())
    }

    /// The stamp of the file at `path` when it was looked at; `None` when it was not, or has to be
    /// looked at again.
    pub(crate) fn stamp(&self, path: &NotePath) -> Option<Stamp> {
        match self.get(path) {
            Some(held) => held.stamp(),
            None => self.private.get(path)?.stamp,
        }
    }

    /// The file at `path`.
    pub(crate) fn get(&self, path: &NotePath) -> Option<Held<'_>> {
        if let Some(fresh) = self.fresh.get(path) {
            return Some(Held::Fresh(&fresh.0));
        }
        let at = self.snapshot.find(path).filter(|row| !self.dead.contains(*row))?;
        self.snapshot.rows().get(at).map(|row| Held::Stored(&self.snapshot, row))
    }

    /// The files that have something; those as in the snapshot first, each part in the order of
    /// paths.
    pub(crate) fn having<'v>(&'v self, by: By<'_>) -> Vec<Held<'v>> {
        let rows = self.lookup.rows(by).iter().filter_map(|row| usize::try_from(*row).ok());
        let rows = rows.filter(|row| !self.dead.contains(*row));
        let rows = rows.filter_map(|row| self.snapshot.rows().get(row));
        let stored = rows.map(|row| Held::Stored(&self.snapshot, row));
        stored.chain(self.fresh_lookup().having(by)).collect()
    }

    /// All words that [`By::Tag`] may find something by, in order and each once.
    pub(crate) fn tag_names(&self) -> BTreeSet<&str> {
        self.lookup.tags().chain(self.fresh_lookup().lookup.tags()).collect()
    }

    /// All words that [`By::Property`] may find something by, in order and each once.
    pub(crate) fn property_names(&self) -> BTreeSet<&str> {
        self.lookup.properties().chain(self.fresh_lookup().lookup.properties()).collect()
    }

    /// How a tag or a property is spelled, if it is the same in all files that have it.
    pub(crate) fn spelling(&self, by: By<'_>) -> Option<Box<str>> {
        let fresh = self.fresh_lookup().lookup.spelling(by);
        match self.lookup.spelling(by).joined(fresh) {
            Spelling::Always(spelled) => Some(spelled),
            Spelling::Nowhere | Spelling::Variously => None,
        }
    }

    /// The paths of all files, and what each is.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (&NotePath, EntryKind)> {
        let stored = self.snapshot.rows().iter().enumerate();
        let stored = stored.filter(|(at, _)| !self.dead.contains(*at));
        let stored = stored.map(|(_, row)| (&row.path, row.kind));
        let fresh = self.each_fresh().map(|fresh| &fresh.looked.entry);
        stored.chain(fresh.map(|entry| (&entry.path, entry.kind)))
    }

    /// Other names of files.
    pub(crate) fn aliases(&self) -> impl Iterator<Item = (&NotePath, &str)> {
        let stored = self.lookup.aliases().filter_map(|(row, alias)| {
            let at = usize::try_from(row).ok().filter(|at| !self.dead.contains(*at))?;
            Some((&self.snapshot.rows().get(at)?.path, alias))
        });
        let fresh = self.each_fresh().flat_map(|fresh| {
            let path = &fresh.looked.entry.path;
            fresh.facts.aliases.iter().map(move |alias| (path, alias.as_str()))
        });
        stored.chain(fresh)
    }

    /// Whether `vault` shows a file of this view, whose text is not judged again.
    pub(crate) fn is_shown(&self, vault: &Vault, held: &Held<'_>) -> bool {
        let rules = self.snapshot.rules();
        let judged = held.by_text().map(|by_text| Judged { rules, by_text });
        vault.shows(held.path(), held.text(), judged)
    }

    /// What is known of the text of the file at `path` if it had this stamp when it was looked at.
    pub(crate) fn judged(&self, path: &NotePath, stamp: Stamp) -> Option<Judged> {
        let is_same = self.stamp(path) == Some(stamp);
        let by_text = match self.get(path).filter(|_| is_same) {
            Some(held) => held.by_text()?,
            // In no other part: no model may see it, by its path or by its text.
            None if is_same => Privacy::Never,
            None => return None,
        };
        Some(Judged { rules: self.snapshot.rules(), by_text })
    }

    /// The file at a row of the snapshot, if it still counts.
    pub(crate) fn row(&self, row: usize) -> Option<Held<'_>> {
        let row = Some(row).filter(|row| !self.dead.contains(*row))?;
        self.snapshot.rows().get(row).map(|row| Held::Stored(&self.snapshot, row))
    }

    fn fresh_lookup(&self) -> &FreshLookup {
        self.fresh_lookup.get_or_init(|| {
            let files: Vec<_> = self.fresh.iter().map(|listed| Arc::clone(&listed.0)).collect();
            FreshLookup { lookup: Lookup::of_fresh(&files), files }
        })
    }

    fn each_fresh(&self) -> impl Iterator<Item = &Fresh> {
        self.fresh.iter().map(|listed| &*listed.0)
    }

    /// Whether a row of the snapshot still counts.
    pub(crate) fn counts(&self, row: usize) -> bool {
        row < self.snapshot.rows().len() && !self.dead.contains(row)
    }

    /// The files that are not as in the snapshot, in the order of paths.
    pub(crate) fn fresh(&self) -> impl Iterator<Item = Held<'_>> {
        self.each_fresh().map(Held::Fresh)
    }

    /// All files; those as in the snapshot first, each part in the order of paths.
    pub(crate) fn all(&self) -> impl Iterator<Item = Held<'_>> {
        let stored = self.snapshot.rows().iter().enumerate();
        let stored = stored.filter(|(at, _)| !self.dead.contains(*at));
        stored
            .map(|(_, row)| Held::Stored(&self.snapshot, row))
            .chain(self.each_fresh().map(Held::Fresh))
    }

    /// Neighbouring rows that are plain text, in runs of about `size` bytes, of those notes whose
    /// path is `wanted`.
    pub(crate) fn runs(
        &self,
        size: usize,
        wanted: impl Fn(&NotePath) -> bool,
    ) -> Vec<Range<usize>> {
        let mut runs = Vec::new();
        let (mut start, mut length) = (0, 0);
        let rows = self.snapshot.rows();
        for (at, row) in rows.iter().enumerate() {
            let empty = row.length() == 0;
            let plain = row.is_searched() && !row.is_odd && !self.dead.contains(at);
            let joins = empty || (plain && wanted(&row.path));
            if !joins || length >= size {
                if length > 0 {
                    runs.push(start..at);
                }
                (start, length) = (if joins { at } else { at + 1 }, 0);
            }
            if joins {
                length += row.length();
            }
        }
        if length > 0 {
            runs.push(start..rows.len());
        }
        runs
    }

    /// The notes that no run holds: fresh ones, and those whose text is odd.
    pub(crate) fn singles(&self, wanted: impl Fn(&NotePath) -> bool) -> Vec<Held<'_>> {
        let rows = self.snapshot.rows().iter().enumerate();
        let odd = rows.filter(|(at, row)| row.is_odd && !self.dead.contains(*at));
        let odd = odd.map(|(_, row)| Held::Stored(&self.snapshot, row));
        let all = odd.chain(self.each_fresh().map(Held::Fresh));
        all.filter(|held| held.kind() == EntryKind::Note && wanted(held.path())).collect()
    }

    /// The files that have to be looked at again before they can be known after a restart.
    pub(crate) fn unsettled(&self) -> Vec<NotePath> {
        let open = self.all().filter(|held| held.stamp().is_none());
        let private = self.private.iter().filter(|(_, private)| private.stamp.is_none());
        let private = private.map(|(path, _)| path.clone());
        open.map(|held| held.path().clone()).chain(private).collect()
    }

    /// Whether so much is fresh that a new snapshot pays.
    pub(crate) fn is_heavy(&self) -> bool {
        self.is_heavy_with(0)
    }

    /// Whether it would be with so many more changes.
    pub(crate) fn is_heavy_with(&self, more: usize) -> bool {
        let most = FRESH_FILES.max(self.snapshot.rows().len() / 8);
        let dead_or_fresh = self.dead.count_ones(..).max(self.fresh.len());
        self.weight > FRESH_BYTES || dead_or_fresh + more > most
    }
}

impl Names for View {
    fn named<'n>(&'n self, name: &str) -> Vec<File<'n>> {
        let is_file = |held: &Held<'_>| !matches!(held.kind(), EntryKind::Folder | EntryKind::Link);
        let found = self.having(By::Name(name)).into_iter().filter(is_file);
        found
            .map(|held| match held {
                Held::Stored(_, row) => {
                    File { path: &row.path, folded: fold(row.path.as_str()).into() }
                }
                Held::Fresh(fresh) => {
                    File { path: &fresh.looked.entry.path, folded: fresh.folded.as_str().into() }
                }
            })
            .collect()
    }
}

/// So much fresh text is held in memory.
const FRESH_BYTES: usize = 8 << 20;

/// So many fresh files cost little to search one by one.
const FRESH_FILES: usize = 1_000;
