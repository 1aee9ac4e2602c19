//! A ranking beside the notes of a snapshot, asked as far as it goes.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use crate::fulltext::{FulltextError, FulltextIndex, remove_directory};
use crate::snapshot::NoteSnapshot;

/// A ranking, and which of the notes it holds stand in one snapshot.
pub(crate) struct FulltextState {
    pub(super) fulltext: Arc<FulltextIndex>,
    /// The rows of the snapshot by their keys, those that the ranking holds.
    rows: HashMap<u64, u32, BuildHasherDefault<IdentityHasher>>,
    /// The rows that it does not hold.
    pub(super) unindexed: Vec<usize>,
    /// The keys that it holds and no row has.
    pub(super) gone: Vec<u64>,
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
    pub(super) fn is_whole(&self) -> bool {
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

/// Deletes the files of the ranking of the index in `dir`: it has text that no file may hold any
/// more. An open one keeps answering, and no thread may be writing it.
pub(crate) fn discard_fulltext(dir: &Path) -> io::Result<()> {
    remove_directory(&fulltext_dir(dir))
}

/// Where the ranking of the index in `dir` is.
pub(super) fn fulltext_dir(dir: &Path) -> PathBuf {
    dir.join("ranked")
}
