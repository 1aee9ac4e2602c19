//! Brings the ranking up behind the index.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::note_matches::SearchableNote;
use super::state::{FulltextState, fulltext_dir};
use super::{FulltextError, FulltextIndex};
use crate::metadata::note_metadata::NoteMetadata;
use crate::snapshot::{NoteSnapshot, SnapshotRow};
use crate::vault_index::FulltextPermit;
use crate::view::IndexView;
use crate::{Index, IndexError};

impl Index {
    /// Updates the ranking to the notes that the index keeps on disk: writes those that are new to
    /// it and returns their number. A rebuild takes long for a large vault. A search reads the
    /// notes that it does not hold yet. Stops when `stop` is set.
    pub fn update_fulltext(&self, stop: &AtomicBool) -> Result<usize, IndexError> {
        let permit = self.acquire_fulltext()?;
        if stop.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let Some(view) = permit.view() else { return Ok(0) };
        if view.holds_private_text() {
            // Its snapshot is about to be rebuilt.
            return Ok(0);
        }
        let fitting = match view.fulltext() {
            Some(shown) if shown.is_whole() => return Ok(0),
            Some(shown) => Some(Arc::clone(shown)),
            None => self.stored_fulltext(view).map(Arc::new),
        };
        if let Some(whole) = fitting.as_ref().filter(|fitting| fitting.is_whole()) {
            return publish(&permit, Arc::clone(&whole.fulltext)).map(|()| 0);
        }
        match self.updated_fulltext(&permit, view, fitting.as_deref(), stop) {
            // The written files are about to be discarded.
            Ok(_) if permit.is_cancelled() => Ok(0),
            Ok((ranking, written)) => publish(&permit, Arc::new(ranking)).map(|()| written),
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
        permit: &FulltextPermit<'_>,
        view: &IndexView,
        fitting: Option<&FulltextState>,
        stop: &AtomicBool,
    ) -> Result<(FulltextIndex, usize), FulltextError> {
        let snapshot = view.snapshot();
        if let Some(fitting) = fitting.filter(|fitting| fitting.covers_most()) {
            let new = fitting.unindexed.iter().filter_map(|at| snapshot.rows().get(*at));
            let new =
                new.map(|row| snapshot_note(snapshot, row)).take_while(|_| !permit.is_cancelled());
            match fitting.fulltext.update(&fitting.gone, new, stop) {
                Err(why @ FulltextError::Failed { .. }) => {
                    tracing::warn!(%why, "the ranking is rebuilt");
                }
                updated => return Ok((updated?, fitting.unindexed.len())),
            }
        }
        let dir = fulltext_dir(self.dir());
        let all = snapshot_notes(snapshot).take_while(|_| !permit.is_cancelled());
        let ranking = FulltextIndex::build(&dir, snapshot.rules(), all, stop)?;
        Ok((ranking, snapshot_notes(snapshot).count()))
    }
}

fn publish(permit: &FulltextPermit<'_>, ranking: Arc<FulltextIndex>) -> Result<(), IndexError> {
    permit.publish(ranking).map_err(|why| IndexError::Unranked { why })
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
