//! The ranking of the index's notes: brought up behind it, and asked as far as it goes.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fmt, io};

use crate::fulltext::note_matches::SearchableNote;
use crate::fulltext::{FulltextError, FulltextIndex, remove_directory};
use crate::metadata::note_metadata::NoteMetadata;
use crate::snapshot::{NoteSnapshot, SnapshotRow};
use crate::view::IndexView;
use crate::{Index, IndexError};

/// A ranking, and which of the notes it holds stand in one snapshot.
pub(crate) struct FulltextState {
    fulltext: Arc<FulltextIndex>,
    /// The rows of the snapshot by their keys, those that the ranking holds.
    rows: HashMap<u64, u32, BuildHasherDefault<IdentityHasher>>,
    /// The rows that it does not hold.
    unindexed: Vec<usize>,
    /// The keys that it holds and no row has.
    gone: Vec<u64>,
}

impl fmt::Debug for FulltextState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fitting").field("unranked", &self.unindexed).finish_non_exhaustive()
    }
}

impl FulltextState {
    /// Compares what `ranking` holds with the notes of `snapshot`.
    pub(crate) fn compare(
        ranking: Arc<FulltextIndex>,
        snapshot: &NoteSnapshot,
    ) -> Result<Self, FulltextError> {
        let mut held: HashSet<u64, BuildHasherDefault<IdentityHasher>> =
            ranking.keys()?.into_iter().collect();
        let (mut rows, mut unranked) = (HashMap::default(), Vec::new());
        for (at, row) in (0..).zip(snapshot.rows()).filter(|(_, row)| row.is_note()) {
            if held.remove(&row.key) {
                rows.insert(row.key, at);
            } else {
                unranked.push(at as usize);
            }
        }
        rows.shrink_to_fit();
        Ok(Self { fulltext: ranking, rows, unindexed: unranked, gone: held.into_iter().collect() })
    }

    pub(crate) fn fulltext(&self) -> &FulltextIndex {
        &self.fulltext
    }

    /// Where the note with this key stands in the snapshot.
    pub(crate) fn row(&self, key: u64) -> Option<u32> {
        self.rows.get(&key).copied()
    }

    /// The rows of notes that the ranking does not find.
    pub(crate) fn unindexed(&self) -> &[usize] {
        &self.unindexed
    }

    /// The same for another snapshot; `None` when the ranking may not be used for it: it was made
    /// from other notes, or it was discarded.
    pub(crate) fn for_snapshot(&self, snapshot: &NoteSnapshot, dir: &Path) -> Option<Self> {
        let may_be = self.fulltext.rules() == snapshot.rules() && fulltext_dir(dir).exists();
        let fitted = may_be.then(|| Self::compare(Arc::clone(&self.fulltext), snapshot))?;
        fitted.inspect_err(|why| tracing::warn!(%why, "the ranking is rebuilt")).ok()
    }

    /// Whether the snapshot's notes are those of the ranking.
    fn is_whole(&self) -> bool {
        self.unindexed.is_empty() && self.gone.is_empty()
    }

    /// Whether the ranking holds most of the notes: then a query costs less than reading them all,
    /// and an update less than a rebuild.
    pub(crate) fn covers_most(&self) -> bool {
        self.unindexed.len().max(self.gone.len()) <= self.rows.len()
    }
}

/// Keys are hashes already: they are not hashed again.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn write(&mut self, bytes: &[u8]) {
        let fold = |sum: u64, byte: &u8| sum.rotate_left(8) ^ u64::from(*byte);
        self.0 = bytes.iter().fold(self.0, fold);
    }
}

impl Index {
    /// Updates the ranking to the notes that the index keeps on disk: writes those that are new to
    /// it and returns their number. A rebuild takes long for a large vault. A search reads the
    /// notes that it does not hold yet. Stops when `stop` is set.
    pub fn update_fulltext(&self, stop: &AtomicBool) -> Result<usize, IndexError> {
        let _alone = self.lock_fulltext();
        let Some(view) = self.base_view() else { return Ok(0) };
        if view.holds_private_text() {
            // Its snapshot is about to be rebuilt.
            return Ok(0);
        }
        let fitting = match view.fulltext() {
            Some(shown) if shown.is_whole() => return Ok(0),
            Some(shown) => Some(Arc::clone(shown)),
            None => self.stored_fulltext(&view).map(Arc::new),
        };
        if let Some(whole) = fitting.as_ref().filter(|fitting| fitting.is_whole()) {
            return self.use_fulltext(Arc::clone(&whole.fulltext)).map(|()| 0);
        }
        match self.updated_fulltext(&view, fitting.as_deref(), stop) {
            // The written files are about to be discarded.
            Ok(_) if self.has_fulltext_waiters() => Ok(0),
            Ok((ranking, written)) => self.use_fulltext(Arc::new(ranking)).map(|()| written),
            Err(FulltextError::Cancelled) => Ok(0),
            Err(why) => Err(IndexError::Unranked { why }),
        }
    }

    /// The ranking that is on disk.
    fn stored_fulltext(&self, view: &IndexView) -> Option<FulltextState> {
        let snapshot = view.snapshot();
        let kept = FulltextIndex::open(&fulltext_dir(self.dir()), snapshot.rules())?;
        FulltextState::compare(Arc::new(kept), snapshot).ok()
    }

    /// A ranking of the view's snapshot, and how many notes were written for it.
    fn updated_fulltext(
        &self,
        view: &IndexView,
        fitting: Option<&FulltextState>,
        stop: &AtomicBool,
    ) -> Result<(FulltextIndex, usize), FulltextError> {
        let snapshot = view.snapshot();
        if let Some(fitting) = fitting.filter(|fitting| fitting.covers_most()) {
            let new = fitting.unindexed.iter().filter_map(|at| snapshot.rows().get(*at));
            let new = new
                .map(|row| snapshot_note(snapshot, row))
                .take_while(|_| !self.has_fulltext_waiters());
            match fitting.fulltext.update(&fitting.gone, new, stop) {
                Err(why @ FulltextError::Failed { .. }) => {
                    tracing::warn!(%why, "the ranking is rebuilt");
                }
                updated => return Ok((updated?, fitting.unindexed.len())),
            }
        }
        let dir = fulltext_dir(self.dir());
        let all = snapshot_notes(snapshot).take_while(|_| !self.has_fulltext_waiters());
        let ranking = FulltextIndex::build(&dir, snapshot.rules(), all, stop)?;
        Ok((ranking, snapshot_notes(snapshot).count()))
    }

    /// Lets searches use a ranking, if it is one of the notes as they may be seen now.
    fn use_fulltext(&self, ranking: Arc<FulltextIndex>) -> Result<(), IndexError> {
        let shown = self.replace_view(|view| {
            let fits = view.snapshot().rules() == ranking.rules();
            let fitting =
                fits.then(|| FulltextState::compare(ranking, view.snapshot())).transpose()?;
            Ok(fitting.map(|fitting| view.with_fulltext(fitting)))
        });
        shown.map_err(|why| IndexError::Unranked { why })
    }
}

/// Deletes the files of the ranking of the index in `dir`: it has text that no file may hold any
/// more. An open one keeps answering, and no thread may be writing it.
pub(crate) fn discard_fulltext(dir: &Path) -> io::Result<()> {
    remove_directory(&fulltext_dir(dir))
}

/// Where the ranking of the index in `dir` is.
fn fulltext_dir(dir: &Path) -> PathBuf {
    dir.join("ranked")
}

/// All notes of the snapshot, those that count no more among them: they are refused when found.
fn snapshot_notes(snapshot: &NoteSnapshot) -> impl Iterator<Item = SearchableNote<'_>> {
    snapshot.rows().iter().filter(|row| row.is_note()).map(|row| snapshot_note(snapshot, row))
}

fn snapshot_note<'a>(snapshot: &'a NoteSnapshot, row: &'a SnapshotRow) -> SearchableNote<'a> {
    SearchableNote {
        key: row.key,
        path: &row.path,
        aliases: NoteMetadata::decode_aliases(snapshot.encoded_metadata(row)).into(),
        text: String::from_utf8_lossy(snapshot.text(row)),
    }
}
