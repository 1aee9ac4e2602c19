//! The present notes: a snapshot, and in memory the changes since.
//!
//! A view never changes: a search sees the same view to its end, and nobody waits for it.

mod build;
mod delta;
mod entry;
mod file_names;
mod lookup;
mod planned;
mod private_cache;
mod scan;
pub(crate) mod whole_view;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use fixedbitset::FixedBitSet;
use protocol::{NotePath, Privacy};
use vault::{EntryKind, Fingerprint, TextPrivacy, Vault};

pub(crate) use build::build_snapshot;
pub(crate) use delta::{load_delta, save_delta};
use entry::FreshByPath;
pub(crate) use entry::{FreshFile, ViewEntry};
pub(crate) use lookup::{FoldedWord, LookupKey, with_parent_tags};
use lookup::{RowLookup, Spelling};
pub(crate) use private_cache::PrivateCache;
pub(crate) use scan::{FileScanner, PrivateFile, ScanOutcome};

use crate::fulltext::state::FulltextState;
use crate::snapshot::{NoteSnapshot, SnapshotRow};

/// All files of a vault at one moment.
#[derive(Debug, Clone)]
pub(crate) struct IndexView {
    snapshot: Arc<NoteSnapshot>,
    lookup: Arc<RowLookup>,
    /// Rows of the snapshot that do not count: the file is gone, or fresh.
    excluded_rows: FixedBitSet,
    fresh: BTreeSet<FreshByPath>,
    /// The keys of the fresh files, computed at the first use.
    fresh_lookup: Arc<OnceLock<FreshLookup>>,
    /// Files that no model may see; they are in no other part.
    private: Arc<BTreeMap<NotePath, PrivateFile>>,
    /// How much text is fresh, in bytes.
    fresh_bytes: usize,
    /// The ranking of the snapshot, as far as there is one.
    fulltext: Option<Arc<FulltextState>>,
}

/// Which fresh files have a name, a link, a tag, a property or a task: without it each such question
/// would be put to each of them, and to each of its words.
#[derive(Debug)]
struct FreshLookup {
    files: Vec<Arc<FreshFile>>,
    lookup: RowLookup,
}

impl FreshLookup {
    fn files_with(&self, key: LookupKey<'_>) -> impl Iterator<Item = ViewEntry<'_>> {
        let places = self.lookup.rows(key).iter().filter_map(|at| usize::try_from(*at).ok());
        places.filter_map(|at| self.files.get(at)).map(|fresh| ViewEntry::Fresh(fresh))
    }
}

impl IndexView {
    /// The view of a snapshot without changes.
    pub(crate) fn new(snapshot: Arc<NoteSnapshot>) -> Self {
        let excluded = FixedBitSet::with_capacity(snapshot.rows().len());
        let lookup = Arc::new(RowLookup::from_snapshot(&snapshot));
        Self {
            snapshot,
            lookup,
            excluded_rows: excluded,
            fresh: BTreeSet::new(),
            fresh_lookup: Arc::default(),
            private: Arc::default(),
            fresh_bytes: 0,
            fulltext: None,
        }
    }

    /// The same with these files, which no model may see, and no others of the kind.
    pub(crate) fn with_private_files(&self, private: BTreeMap<NotePath, PrivateFile>) -> Self {
        Self { private: Arc::new(private), ..self.clone() }
    }

    /// The same with a ranking, which was compared with its snapshot.
    pub(crate) fn with_fulltext(&self, ranking: FulltextState) -> Self {
        Self { fulltext: Some(Arc::new(ranking)), ..self.clone() }
    }

    /// The ranking of its snapshot.
    pub(crate) const fn fulltext(&self) -> Option<&Arc<FulltextState>> {
        self.fulltext.as_ref()
    }

    pub(crate) fn snapshot(&self) -> &NoteSnapshot {
        &self.snapshot
    }

    /// The same after `changes`.
    pub(crate) fn with_changes(
        &self,
        changes: impl IntoIterator<Item = (NotePath, ScanOutcome)>,
    ) -> Self {
        let mut view = Self { fresh_lookup: Arc::default(), ..self.clone() };
        for (path, now) in changes {
            if let Some(row) = view.snapshot.find(&path) {
                view.excluded_rows.insert(row);
            }
            if let Some(before) = view.fresh.take(&path) {
                view.fresh_bytes -= before.0.scanned.text.len();
            }
            if view.private.contains_key(&path) {
                Arc::make_mut(&mut view.private).remove(&path);
            }
            match now {
                ScanOutcome::Held(looked) => {
                    view.fresh_bytes += looked.text.len();
                    view.fresh.insert(FreshByPath(Arc::new(FreshFile::new(looked))));
                }
                ScanOutcome::Private(private) => {
                    Arc::make_mut(&mut view.private).insert(path, private);
                }
                ScanOutcome::Gone => {}
            }
        }
        view
    }

    /// The same with more files.
    pub(crate) fn with_fresh(&self, files: impl IntoIterator<Item = Arc<FreshFile>>) -> Self {
        let mut view = Self { fresh_lookup: Arc::default(), ..self.clone() };
        for file in files {
            view.fresh.replace(FreshByPath(file));
        }
        view
    }

    /// The file at `path` if it is not as in the snapshot.
    pub(crate) fn fresh_at(&self, path: &NotePath) -> Option<&Arc<FreshFile>> {
        self.fresh.get(path).map(|listed| &listed.0)
    }

    /// The files that no model may see, in the order of paths.
    pub(crate) fn private(&self) -> &BTreeMap<NotePath, PrivateFile> {
        &self.private
    }

    /// Whether its snapshot may have something of a file that is private by now, under its path or
    /// under an earlier one.
    pub(crate) fn holds_private_text(&self) -> bool {
        if self.private.is_empty() {
            return false;
        }
        let inodes: Option<HashSet<u64>> =
            self.private.values().map(|file| Some(file.stamp?.inode())).collect();
        let may_be_moved = |row: &SnapshotRow| match (row.stamp, &inodes) {
            (Some(stamp), Some(inodes)) => inodes.contains(&stamp.inode()),
            // One of the files was written a moment ago, so it is not told which file it is.
            _ => self.get(&row.path).is_none(),
        };
        let mut rows = self.excluded_rows.ones().filter_map(|row| self.snapshot.rows().get(row));
        self.private.keys().any(|path| self.snapshot.find(path).is_some()) || rows.any(may_be_moved)
    }

    /// The stamp of the file at `path` when it was looked at; `None` when it was not, or has to be
    /// looked at again.
    pub(crate) fn stamp(&self, path: &NotePath) -> Option<Fingerprint> {
        match self.get(path) {
            Some(held) => held.stamp(),
            None => self.private.get(path)?.stamp,
        }
    }

    /// The file at `path`.
    pub(crate) fn get(&self, path: &NotePath) -> Option<ViewEntry<'_>> {
        if let Some(fresh) = self.fresh.get(path) {
            return Some(ViewEntry::Fresh(&fresh.0));
        }
        let at = self.snapshot.find(path).filter(|row| !self.excluded_rows.contains(*row))?;
        self.snapshot.rows().get(at).map(|row| ViewEntry::Stored(&self.snapshot, row))
    }

    /// The files that have something; those as in the snapshot first, each part in the order of
    /// paths.
    pub(crate) fn files_with<'v>(&'v self, key: LookupKey<'_>) -> Vec<ViewEntry<'v>> {
        let rows = self.lookup.rows(key).iter().filter_map(|row| usize::try_from(*row).ok());
        let rows = rows.filter(|row| !self.excluded_rows.contains(*row));
        let rows = rows.filter_map(|row| self.snapshot.rows().get(row));
        let stored = rows.map(|row| ViewEntry::Stored(&self.snapshot, row));
        stored.chain(self.fresh_lookup().files_with(key)).collect()
    }

    /// All words that [`LookupKey::Tag`] may find something by, in order and each once.
    pub(crate) fn tag_names(&self) -> BTreeSet<&str> {
        self.lookup.tags().chain(self.fresh_lookup().lookup.tags()).collect()
    }

    /// All words that [`LookupKey::Property`] may find something by, in order and each once.
    pub(crate) fn property_names(&self) -> BTreeSet<&str> {
        self.lookup.properties().chain(self.fresh_lookup().lookup.properties()).collect()
    }

    /// How a tag or a property is spelled, if it is the same in all files that have it.
    pub(crate) fn spelling(&self, key: LookupKey<'_>) -> Option<Box<str>> {
        let fresh = self.fresh_lookup().lookup.spelling(key);
        match self.lookup.spelling(key).merge(fresh) {
            Spelling::Always(spelled) => Some(spelled),
            Spelling::Absent | Spelling::Variously => None,
        }
    }

    /// The paths of all files, and the kind of each.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (&NotePath, EntryKind)> {
        let stored = self.snapshot.rows().iter().enumerate();
        let stored = stored.filter(|(at, _)| !self.excluded_rows.contains(*at));
        let stored = stored.map(|(_, row)| (&row.path, row.kind));
        let fresh = self.each_fresh().map(|fresh| &fresh.scanned.entry);
        stored.chain(fresh.map(|entry| (&entry.path, entry.kind)))
    }

    /// Aliases of files.
    pub(crate) fn aliases(&self) -> impl Iterator<Item = (&NotePath, &str)> {
        let stored = self.lookup.aliases().filter_map(|(row, alias)| {
            let at = usize::try_from(row).ok().filter(|at| !self.excluded_rows.contains(*at))?;
            Some((&self.snapshot.rows().get(at)?.path, alias))
        });
        let fresh = self.each_fresh().flat_map(|fresh| {
            let path = &fresh.scanned.entry.path;
            fresh.metadata.aliases.iter().map(move |alias| (path, alias.as_str()))
        });
        stored.chain(fresh)
    }

    /// Whether `vault` shows a file of this view, whose text is not judged again.
    pub(crate) fn is_shown(&self, vault: &Vault, entry: &ViewEntry<'_>) -> bool {
        let rules = self.snapshot.rules();
        let judged = entry.text_privacy().map(|by_text| TextPrivacy { rules, by_text });
        vault.shows(entry.path(), entry.text(), judged)
    }

    /// The known privacy of the text of the file at `path`, if it had this fingerprint when it was
    /// checked.
    pub(crate) fn text_privacy(
        &self,
        path: &NotePath,
        fingerprint: Fingerprint,
    ) -> Option<TextPrivacy> {
        let is_same = self.stamp(path) == Some(fingerprint);
        let by_text = match self.get(path).filter(|_| is_same) {
            Some(held) => held.text_privacy()?,
            // In no other part: no model may see it, by its path or by its text.
            None if is_same => Privacy::Never,
            None => return None,
        };
        Some(TextPrivacy { rules: self.snapshot.rules(), by_text })
    }

    /// The file at a row of the snapshot, if it still counts.
    pub(crate) fn entry_at(&self, row: usize) -> Option<ViewEntry<'_>> {
        let row = Some(row).filter(|row| !self.excluded_rows.contains(*row))?;
        self.snapshot.rows().get(row).map(|row| ViewEntry::Stored(&self.snapshot, row))
    }

    fn fresh_lookup(&self) -> &FreshLookup {
        self.fresh_lookup.get_or_init(|| {
            let files: Vec<_> = self.fresh.iter().map(|listed| Arc::clone(&listed.0)).collect();
            FreshLookup { lookup: RowLookup::from_fresh(&files), files }
        })
    }

    fn each_fresh(&self) -> impl Iterator<Item = &FreshFile> {
        self.fresh.iter().map(|listed| &*listed.0)
    }

    /// Whether a row of the snapshot still counts.
    pub(crate) fn is_current_row(&self, row: usize) -> bool {
        row < self.snapshot.rows().len() && !self.excluded_rows.contains(row)
    }

    /// The files that are not as in the snapshot, in the order of paths.
    pub(crate) fn fresh(&self) -> impl Iterator<Item = ViewEntry<'_>> {
        self.each_fresh().map(ViewEntry::Fresh)
    }

    /// All files; those as in the snapshot first, each part in the order of paths.
    pub(crate) fn all(&self) -> impl Iterator<Item = ViewEntry<'_>> {
        let stored = self.snapshot.rows().iter().enumerate();
        let stored = stored.filter(|(at, _)| !self.excluded_rows.contains(*at));
        stored
            .map(|(_, row)| ViewEntry::Stored(&self.snapshot, row))
            .chain(self.each_fresh().map(ViewEntry::Fresh))
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
            let empty = row.text_length() == 0;
            let plain = row.is_searched() && !row.is_binary && !self.excluded_rows.contains(at);
            let joins = empty || (plain && wanted(&row.path));
            if !joins || length >= size {
                if length > 0 {
                    runs.push(start..at);
                }
                (start, length) = (if joins { at } else { at + 1 }, 0);
            }
            if joins {
                length += row.text_length();
            }
        }
        if length > 0 {
            runs.push(start..rows.len());
        }
        runs
    }

    /// The notes that no run holds: fresh ones, and those whose text is odd.
    pub(crate) fn single_notes(&self, wanted: impl Fn(&NotePath) -> bool) -> Vec<ViewEntry<'_>> {
        let rows = self.snapshot.rows().iter().enumerate();
        let odd = rows.filter(|(at, row)| row.is_binary && !self.excluded_rows.contains(*at));
        let odd = odd.map(|(_, row)| ViewEntry::Stored(&self.snapshot, row));
        let all = odd.chain(self.each_fresh().map(ViewEntry::Fresh));
        all.filter(|held| held.kind() == EntryKind::Note && wanted(held.path())).collect()
    }

    /// The files that have to be looked at again before they can be known after a restart.
    pub(crate) fn unsettled_paths(&self) -> Vec<NotePath> {
        let open = self.all().filter(|held| held.stamp().is_none());
        let private = self.private.iter().filter(|(_, private)| private.stamp.is_none());
        let private = private.map(|(path, _)| path.clone());
        open.map(|held| held.path().clone()).chain(private).collect()
    }

    /// Whether enough is fresh that a new snapshot pays.
    pub(crate) fn needs_new_snapshot(&self) -> bool {
        self.would_need_new_snapshot(0)
    }

    /// Whether it would be with `more` more changes.
    pub(crate) fn would_need_new_snapshot(&self, more: usize) -> bool {
        let most = MAX_FRESH_FILES.max(self.snapshot.rows().len() / 8);
        let excluded_or_fresh = self.excluded_rows.count_ones(..).max(self.fresh.len());
        self.fresh_bytes > MAX_FRESH_BYTES || excluded_or_fresh + more > most
    }
}

/// The bytes of fresh text that are held in memory.
const MAX_FRESH_BYTES: usize = 8 << 20;

/// The number of fresh files that cost little to search one by one.
const MAX_FRESH_FILES: usize = 1_000;
