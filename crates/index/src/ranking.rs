//! The ranking that belongs to the index's snapshot: brought up behind it, and asked once it fits.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};

use crate::live::View;
use crate::ranked::{Ranking, RankingError};
use crate::reading::NoteText;
use crate::snapshot::Snapshot;
use crate::{Index, IndexError};

/// A ranking, and the snapshot whose rows are its keys.
pub(crate) struct Fitting {
    generation: u64,
    ranking: Arc<Ranking>,
}

impl std::fmt::Debug for Fitting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fitting").field("generation", &self.generation).finish_non_exhaustive()
    }
}

impl Index {
    /// Brings the ranking to what is on disk of the index, which takes long for a large vault.
    /// Until it is there, finding reads all texts of the index. Does nothing when it fits already,
    /// or when `stop` is set.
    pub fn rank(&self, stop: &AtomicBool) -> Result<(), IndexError> {
        let Some(view) = self.view() else { return Ok(()) };
        let generation = view.snapshot().generation();
        if self.ranking(view.snapshot()).is_some() {
            return Ok(());
        }
        let dir = self.ranking_dir();
        let ranking = match Ranking::open(&dir, generation) {
            Some(ranking) => ranking,
            None => match Ranking::build(&dir, generation, texts(&view), stop) {
                Ok(ranking) => ranking,
                Err(RankingError::Cancelled) => return Ok(()),
                Err(why) => return Err(IndexError::Unranked { why }),
            },
        };
        let fitting = Fitting { generation, ranking: Arc::new(ranking) };
        *self.fitting().write().unwrap_or_else(PoisonError::into_inner) = Some(fitting);
        Ok(())
    }

    /// The ranking whose keys are the rows of `snapshot`.
    pub(crate) fn ranking(&self, snapshot: &Snapshot) -> Option<Arc<Ranking>> {
        let fitting = self.fitting().read().unwrap_or_else(PoisonError::into_inner);
        let fitting = fitting.as_ref()?;
        (fitting.generation == snapshot.generation()).then(|| Arc::clone(&fitting.ranking))
    }

    fn ranking_dir(&self) -> PathBuf {
        self.dir().join("ranked")
    }
}

/// All notes of the snapshot, those that count no more among them: they are refused when found.
fn texts(view: &View) -> impl Iterator<Item = NoteText<'_>> {
    let snapshot = view.snapshot();
    let rows = (0_u64..).zip(snapshot.rows()).filter(|(_, row)| row.is_note());
    rows.map(|(key, row)| NoteText {
        key,
        path: &row.path,
        aliases: snapshot.facts(row).aliases.into(),
        text: String::from_utf8_lossy(snapshot.text(row)),
    })
}
