//! The full-text index of all notes on disk, in a directory that can be deleted at any time: which
//! notes may match a query best. The text of a match is read from the notes themselves.

pub(crate) mod blocks;
mod candidates;
mod error;
mod manifest;
pub(crate) mod note_matches;
mod postings;
mod rerank;
mod schema;
pub(crate) mod score;
pub(crate) mod state;
pub(crate) mod tokenizer;
mod top_k;
mod update;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tantivy::{Index, IndexReader, ReloadPolicy, Searcher, TantivyError};

pub use crate::fulltext::candidates::RankedCandidates;
pub use crate::fulltext::error::FulltextError;
pub use crate::fulltext::note_matches::SearchableNote;
pub use crate::query::ParsedQuery;
use error::FulltextErrorContext;
use manifest::FulltextManifest;
pub(crate) use manifest::remove_directory;
pub use rerank::rerank;
use schema::IndexFields;

/// The full-text index of all notes on disk. Several threads may query it, also during an update.
pub struct FulltextIndex {
    dir: PathBuf,
    manifest: FulltextManifest,
    index: Index,
    searcher: Searcher,
    fields: IndexFields,
}

impl FulltextIndex {
    /// Opens what `dir` holds under `rules`; `None` when it is torn, of another version or was built
    /// under others. Reads all its files once, to be sure.
    pub fn open(dir: &Path, rules: u64) -> Option<Self> {
        let seal = FulltextManifest::verify(dir, rules)?;
        Self::open_verified(dir, seal)
            .inspect_err(|why| tracing::warn!(%why, "a whole ranking does not open"))
            .ok()
    }

    /// Builds the index again from notes, in any order; `rules` is the hash of the rules that
    /// excluded others. The previous content of `dir` is deleted; until this returns the directory
    /// cannot be opened. Stops early when `cancelled`.
    pub fn build<'a>(
        dir: &Path,
        rules: u64,
        notes: impl Iterator<Item = SearchableNote<'a>>,
        cancelled: &AtomicBool,
    ) -> Result<Self, FulltextError> {
        let failed = FulltextErrorContext(dir);
        manifest::remove_directory(dir).map_err(|why| failed.to_error(&why))?;
        manifest::create_directory(dir).map_err(|why| failed.to_error(&why))?;
        let (schema, fields) = schema::schema();
        let index = Index::create_in_dir(dir, schema).map_err(|why| failed.to_error(&why))?;
        schema::register_tokenizer(&index);
        writer::write(&index, &fields, None, notes, cancelled, &failed)?;
        let seal =
            FulltextManifest::write(dir, rules, None).map_err(|why| failed.to_error(&why))?;
        Self::open_verified(dir, seal).map_err(|why| failed.to_error(&why))
    }

    /// Updates the directory: the notes `gone` are no longer found, `notes` are, each once, even if
    /// the directory holds it. The cost depends on these notes only, however many others there are. This index keeps answering as before,
    /// and when `cancelled` the directory is as it was. After any other failure it has to be built
    /// again.
    pub fn update<'a>(
        &self,
        gone: &[u64],
        notes: impl Iterator<Item = SearchableNote<'a>>,
        cancelled: &AtomicBool,
    ) -> Result<Self, FulltextError> {
        let failed = FulltextErrorContext(&self.dir);
        let written =
            writer::write(&self.index, &self.fields, Some(gone), notes, cancelled, &failed);
        if let Err(why @ FulltextError::Failed { .. }) = written {
            return Err(why);
        }
        let seal = FulltextManifest::write(&self.dir, self.manifest.rules(), Some(&self.manifest));
        let seal = seal.map_err(|why| failed.to_error(&why))?;
        written?;
        Self::open_verified(&self.dir, seal).map_err(|why| failed.to_error(&why))
    }

    /// The hash of the rules that kept notes out of it.
    pub(crate) const fn rules(&self) -> u64 {
        self.manifest.rules()
    }

    /// The keys of all notes that it finds.
    pub(crate) fn keys(&self) -> Result<Vec<u64>, FulltextError> {
        top_k::note_keys(&self.searcher)
            .map_err(|why| FulltextErrorContext(&self.dir).to_error(&why))
    }

    /// At most `most` notes that match the query, best first, each as the value of `place` for its
    /// key; notes without a value are omitted, and of equals the lower place is better. Adjacent
    /// words are not scored here; [`rerank()`] scores them in the text.
    pub fn candidates(
        &self,
        query: &ParsedQuery,
        most: usize,
        place: &(dyn Fn(u64) -> Option<u64> + Sync),
    ) -> Result<RankedCandidates, FulltextError> {
        top_k::find_top_k(&self.searcher, &self.fields, query, most, place)
            .map_err(|why| FulltextErrorContext(&self.dir).to_error(&why))
    }

    fn open_verified(dir: &Path, seal: FulltextManifest) -> Result<Self, TantivyError> {
        let index = Index::open_in_dir(dir)?;
        schema::register_tokenizer(&index);
        let fields = schema::from_schema(&index.schema())?;
        let reader: IndexReader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        Ok(Self { dir: dir.to_owned(), manifest: seal, index, searcher, fields })
    }
}
