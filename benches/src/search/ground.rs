//! A vault to measure over, with what all figures of it share.

use std::cell::OnceCell;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::apart::{self, Numbers};
use super::standing::Standing;
use crate::ranking::{minisearch, notes, queries};

/// From so many notes on the bars are those of a hundred thousand.
const LARGE: usize = 50_000;

/// A vault, queries for it, and an index that stands.
pub(super) struct Ground {
    pub(super) folder: PathBuf,
    pub(super) notes: usize,
    /// How many bytes of text the notes have.
    pub(super) bytes: u64,
    pub(super) queries: Vec<queries::Asked>,
    place: TempDir,
    modules: PathBuf,
    built: OnceCell<Numbers>,
    minisearch: OnceCell<Numbers>,
}

impl Ground {
    /// Draws the queries; rivals from npm are installed in `modules` when they are needed.
    pub(super) fn over(folder: &Path, modules: &Path) -> Result<Self, Box<dyn Error>> {
        let folder = folder.canonicalize()?;
        let (paths, place) = (notes::paths(&folder)?, tempfile::tempdir()?);
        let mut bytes = 0;
        for path in &paths {
            bytes += fs::metadata(path)?.len();
        }
        let queries = queries::of(&folder)?;
        fs::write(asked_in(place.path()), serde_json::to_vec(&queries)?)?;
        let (modules, notes) = (modules.join("modules"), paths.len());
        let (built, minisearch) = (OnceCell::new(), OnceCell::new());
        Ok(Self { folder, notes, bytes, queries, place, modules, built, minisearch })
    }

    /// One of two: for a vault of about ten thousand notes, or for a large one.
    pub(super) fn either<T>(&self, small: T, large: T) -> T {
        if self.notes < LARGE { small } else { large }
    }

    /// Where the queries and an index that stands are; it is built at the first call.
    pub(super) fn place(&self) -> Result<&Path, Box<dyn Error>> {
        self.built()?;
        Ok(self.place.path())
    }

    /// What building that index has cost.
    pub(super) fn built(&self) -> Result<&Numbers, Box<dyn Error>> {
        once(&self.built, || apart::work("build", &self.folder, self.place.path()))
    }

    /// The index, open in this process.
    pub(super) fn standing(&self) -> Result<Standing, Box<dyn Error>> {
        let standing = Standing::begin(&self.folder, self.place()?)?;
        standing.build()?;
        Ok(standing)
    }

    /// What MiniSearch needs to build, and to answer the queries.
    pub(super) fn minisearch(&self) -> Result<&Numbers, Box<dyn Error>> {
        once(&self.minisearch, || self.with_minisearch(&asked_in(self.place.path())))
    }

    /// What MiniSearch needs to build once more.
    pub(super) fn minisearch_again(&self) -> Result<Numbers, Box<dyn Error>> {
        let none = self.place.path().join("none.json");
        fs::write(&none, "[]")?;
        self.with_minisearch(&none)
    }

    fn with_minisearch(&self, asked: &Path) -> Result<Numbers, Box<dyn Error>> {
        let place = tempfile::tempdir()?;
        let files = [self.folder.as_path(), asked, place.path()];
        Ok(Numbers::of(&minisearch::measure(&self.modules, files)?))
    }
}

/// Where the queries are among what is kept in `place`.
pub(super) fn asked_in(place: &Path) -> PathBuf {
    place.join("queries.json")
}

fn once<T>(
    cell: &OnceCell<T>,
    make: impl FnOnce() -> Result<T, Box<dyn Error>>,
) -> Result<&T, Box<dyn Error>> {
    if cell.get().is_none() {
        let _ = cell.set(make()?);
    }
    cell.get().ok_or_else(|| "what was measured is not there".into())
}
