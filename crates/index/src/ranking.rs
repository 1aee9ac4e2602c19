//! The ranking of the index's notes: brought up behind it, and asked as far as it goes.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::facts::Facts;
use crate::live::View;
use crate::ranked::{Ranking, RankingError, clear};
use crate::reading::NoteText;
use crate::snapshot::{Row, Snapshot};
use crate::{Index, IndexError};

/// A ranking, and which of the notes it holds stand in one snapshot.
pub(crate) struct Fitting {
    ranking: Arc<Ranking>,
    /// The rows of the snapshot by their keys, those that the ranking holds.
    rows: HashMap<u64, u32, BuildHasherDefault<AsIs>>,
    /// The rows that it does not hold.
    unranked: Vec<usize>,
    /// The keys that it holds and no row has.
    gone: Vec<u64>,
}

impl fmt::Debug for Fitting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fitting").field("unranked", &self.unranked).finish_non_exhaustive()
    }
}

impl Fitting {
    /// Compares what `ranking` holds with the notes of `snapshot`.
    pub(crate) fn of(ranking: Arc<Ranking>, snapshot: &Snapshot) -> Result<Self, RankingError> {
        let mut held: HashSet<u64, BuildHasherDefault<AsIs>> =
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
        Ok(Self { ranking, rows, unranked, gone: held.into_iter().collect() })
    }

    pub(crate) fn ranking(&self) -> &Ranking {
        &self.ranking
    }

    /// Where the note with this key stands in the snapshot.
    pub(crate) fn row(&self, key: u64) -> Option<u32> {
        self.rows.get(&key).copied()
    }

    /// The rows of notes that the ranking does not find.
    pub(crate) fn unranked(&self) -> &[usize] {
        &self.unranked
    }

    /// The same for another snapshot; `None` when the ranking may not be used for it: it was kept
    /// from other notes, or it was put away.
    pub(crate) fn for_snapshot(&self, snapshot: &Snapshot, dir: &Path) -> Option<Self> {
        let may_be = self.ranking.rules() == snapshot.rules() && ranking_dir(dir).exists();
        let fitted = may_be.then(|| Self::of(Arc::clone(&self.ranking), snapshot))?;
        fitted.inspect_err(|why| tracing::warn!(%why, "the ranking is built anew")).ok()
    }

    /// Whether the snapshot's notes are those of the ranking.
    fn is_whole(&self) -> bool {
        self.unranked.is_empty() && self.gone.is_empty()
    }

    /// Whether the ranking holds most of the notes: then asking it is less work than reading them
    /// all, and bringing it up less than building it anew.
    pub(crate) fn covers_most(&self) -> bool {
        self.unranked.len().max(self.gone.len()) <= self.rows.len()
    }
}

/// Keys are hashes already: they are not hashed again.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
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
    /// Brings the ranking to the notes that the index keeps on disk: writes those that are new to
    /// it and tells how many they were. Building it anew takes long for a large vault. What it does
    /// not hold yet, finding reads. Does nothing more when `stop` is set.
    pub fn rank(&self, stop: &AtomicBool) -> Result<usize, IndexError> {
        let _alone = self.alone_with_ranking();
        let Some(view) = self.base() else { return Ok(0) };
        if view.betrays() {
            // Its snapshot is about to be made anew.
            return Ok(0);
        }
        let fitting = match view.ranking() {
            Some(shown) if shown.is_whole() => return Ok(0),
            Some(shown) => Some(Arc::clone(shown)),
            None => self.kept_ranking(&view).map(Arc::new),
        };
        if let Some(whole) = fitting.as_ref().filter(|fitting| fitting.is_whole()) {
            return self.show_ranked(Arc::clone(&whole.ranking)).map(|()| 0);
        }
        match self.brought_up(&view, fitting.as_deref(), stop) {
            // What was written is about to be put away.
            Ok(_) if self.is_waited_for() => Ok(0),
            Ok((ranking, written)) => self.show_ranked(Arc::new(ranking)).map(|()| written),
            Err(RankingError::Cancelled) => Ok(0),
            Err(why) => Err(IndexError::Unranked { why }),
        }
    }

    /// The ranking that is on disk.
    fn kept_ranking(&self, view: &View) -> Option<Fitting> {
        let snapshot = view.snapshot();
        let kept = Ranking::open(&ranking_dir(self.dir()), snapshot.rules())?;
        Fitting::of(Arc::new(kept), snapshot).ok()
    }

    /// A ranking of the view's snapshot, and how many notes were written for it.
    fn brought_up(
        &self,
        view: &View,
        fitting: Option<&Fitting>,
        stop: &AtomicBool,
    ) -> Result<(Ranking, usize), RankingError> {
        let snapshot = view.snapshot();
        if let Some(fitting) = fitting.filter(|fitting| fitting.covers_most()) {
            let new = fitting.unranked.iter().filter_map(|at| snapshot.rows().get(*at));
            let new = new.map(|row| text(snapshot, row)).take_while(|_| !self.is_waited_for());
            match fitting.ranking.update(&fitting.gone, new, stop) {
                Err(why @ RankingError::Failed { .. }) => {
                    tracing::warn!(%why, "the ranking is built anew");
                }
                updated => return Ok((updated?, fitting.unranked.len())),
            }
        }
        let dir = ranking_dir(self.dir());
        let all = texts(snapshot).take_while(|_| !self.is_waited_for());
        let ranking = Ranking::build(&dir, snapshot.rules(), all, stop)?;
        Ok((ranking, texts(snapshot).count()))
    }

    /// Lets searches use a ranking, if it is one of the notes as they may be seen now.
    fn show_ranked(&self, ranking: Arc<Ranking>) -> Result<(), IndexError> {
        let shown = self.show_instead(|view| {
            let fits = view.snapshot().rules() == ranking.rules();
            let fitting = fits.then(|| Fitting::of(ranking, view.snapshot())).transpose()?;
            Ok(fitting.map(|fitting| view.ranked_by(fitting)))
        });
        shown.map_err(|why| IndexError::Unranked { why })
    }
}

/// Puts away what is on disk of the ranking of the index in `dir`: it has words that no file may hold
/// any more. One that is open keeps answering, and nobody may be writing it.
pub(crate) fn put_away(dir: &Path) -> io::Result<()> {
    clear(&ranking_dir(dir))
}

/// Where the ranking of the index in `dir` is.
fn ranking_dir(dir: &Path) -> PathBuf {
    dir.join("ranked")
}

/// All notes of the snapshot, those that count no more among them: they are refused when found.
fn texts(snapshot: &Snapshot) -> impl Iterator<Item = NoteText<'_>> {
    snapshot.rows().iter().filter(|row| row.is_note()).map(|row| text(snapshot, row))
}

fn text<'a>(snapshot: &'a Snapshot, row: &'a Row) -> NoteText<'a> {
    NoteText {
        key: row.key,
        path: &row.path,
        aliases: Facts::decode_aliases(snapshot.encoded_facts(row)).into(),
        text: String::from_utf8_lossy(snapshot.text(row)),
    }
}
