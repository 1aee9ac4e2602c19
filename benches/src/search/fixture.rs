//! A vault to measure, with the data that all its figures share.

use std::cell::OnceCell;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::open_index::OpenIndex;
use super::subprocess::{self, NamedNumbers};
use crate::ranking::{minisearch, notes, queries};

/// From so many notes on the bars are those of a hundred thousand.
const LARGE_VAULT_NOTES: usize = 50_000;

/// A vault, queries for it, and an index that stands.
pub(super) struct SearchFixture {
    pub(super) folder: PathBuf,
    pub(super) notes: usize,
    /// How many bytes of text the notes have.
    pub(super) bytes: u64,
    pub(super) queries: Vec<queries::BenchQuery>,
    index_folder: TempDir,
    modules: PathBuf,
    built: OnceCell<NamedNumbers>,
    minisearch: OnceCell<NamedNumbers>,
}

impl SearchFixture {
    /// Draws the queries; rivals from npm are installed in `modules` when they are needed.
    pub(super) fn new(folder: &Path, modules: &Path) -> Result<Self, Box<dyn Error>> {
        let folder = folder.canonicalize()?;
        let (paths, place) = (notes::note_paths(&folder)?, tempfile::tempdir()?);
        let mut bytes = 0;
        for path in &paths {
            bytes += fs::metadata(path)?.len();
        }
        let queries = queries::draw_queries(&folder)?;
        fs::write(queries_file(place.path()), serde_json::to_vec(&queries)?)?;
        let (modules, notes) = (modules.join("modules"), paths.len());
        let (built, minisearch) = (OnceCell::new(), OnceCell::new());
        Ok(Self { folder, notes, bytes, queries, index_folder: place, modules, built, minisearch })
    }

    /// One of two: for a vault of about ten thousand notes, or for a large one.
    pub(super) fn by_size<T>(&self, small: T, large: T) -> T {
        if self.notes < LARGE_VAULT_NOTES { small } else { large }
    }

    /// Where the queries and an index that stands are; it is built at the first call.
    pub(super) fn built_index_folder(&self) -> Result<&Path, Box<dyn Error>> {
        self.build_cost()?;
        Ok(self.index_folder.path())
    }

    /// The cost of building that index.
    pub(super) fn build_cost(&self) -> Result<&NamedNumbers, Box<dyn Error>> {
        get_or_try_init(&self.built, || {
            subprocess::run_kind("build", &self.folder, self.index_folder.path())
        })
    }

    /// The index, open in this process.
    pub(super) fn open_index(&self) -> Result<OpenIndex, Box<dyn Error>> {
        let standing = OpenIndex::new(&self.folder, self.built_index_folder()?)?;
        standing.build_all()?;
        Ok(standing)
    }

    /// The cost of MiniSearch to build, and to answer the queries.
    pub(super) fn minisearch_cost(&self) -> Result<&NamedNumbers, Box<dyn Error>> {
        get_or_try_init(&self.minisearch, || {
            self.run_minisearch(&queries_file(self.index_folder.path()))
        })
    }

    /// The cost of MiniSearch to build once more.
    pub(super) fn rerun_minisearch(&self) -> Result<NamedNumbers, Box<dyn Error>> {
        let none = self.index_folder.path().join("none.json");
        fs::write(&none, "[]")?;
        self.run_minisearch(&none)
    }

    fn run_minisearch(&self, asked: &Path) -> Result<NamedNumbers, Box<dyn Error>> {
        let place = tempfile::tempdir()?;
        let files = [self.folder.as_path(), asked, place.path()];
        Ok(NamedNumbers::parse(&minisearch::measure(&self.modules, files)?))
    }
}

/// Where the queries are among what is kept in `place`.
pub(super) fn queries_file(place: &Path) -> PathBuf {
    place.join("queries.json")
}

fn get_or_try_init<T>(
    cell: &OnceCell<T>,
    make: impl FnOnce() -> Result<T, Box<dyn Error>>,
) -> Result<&T, Box<dyn Error>> {
    if cell.get().is_none() {
        let _ = cell.set(make()?);
    }
    cell.get().ok_or_else(|| "what was measured is not there".into())
}
