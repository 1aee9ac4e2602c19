//! The index of the product over a vault, as the application has it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use index::{GrepQuery, GrepResult, Index, NoteFilter, RankedPassages};
use protocol::{ChangeSet, Privacy, PrivateRules};
use vault::{PrivacyFilter, Vault};

/// Nothing that is measured is cut.
const NO_DEADLINE: Duration = Duration::from_secs(600);

static NOT_CANCELLED: AtomicBool = AtomicBool::new(false);

/// A vault as the tools see it, and its index.
pub(super) struct OpenIndex {
    pub(super) vault: Vault,
    pub(super) index: Index,
    no_changes: ChangeSet,
}

/// Where the index is among what is kept in `place`.
pub(super) fn index_dir(place: &Path) -> PathBuf {
    place.join("index")
}

impl OpenIndex {
    /// Opens the vault; nothing is read yet.
    pub(super) fn new(folder: &Path, place: &Path) -> Result<Self, Box<dyn Error>> {
        let rules = PrivateRules::default();
        let screen = Arc::new(PrivacyFilter::new(rules.clone(), Privacy::Open));
        let vault = Vault::open(folder)?.filtered(screen);
        let index = Index::new(&vault, rules, &index_dir(place));
        Ok(Self { vault, index, no_changes: ChangeSet::default() })
    }

    /// Until the list, the links and the tags of all notes are known, and lines are searched in the
    /// snapshot.
    pub(super) fn open_metadata(&self) -> Result<(), Box<dyn Error>> {
        self.index.catch_up(&NOT_CANCELLED)?;
        let listed = self.index.find_files(&self.vault, "", &[], 1, |_| true)?;
        let first = &listed.first().ok_or("the vault has no notes")?.path;
        let links = self.index.backlinks(&self.vault, &self.no_changes, first);
        let tags = self.index.tags(&self.vault, &self.no_changes);
        match (links, tags) {
            (Some(_), Some(_)) => Ok(()),
            _ => Err("the index does not stand after it was brought up".into()),
        }
    }

    /// Until everything answers.
    pub(super) fn build_all(&self) -> Result<(), Box<dyn Error>> {
        self.index.catch_up(&NOT_CANCELLED)?;
        self.index.update_fulltext(&NOT_CANCELLED)?;
        Ok(())
    }

    /// Lines that match.
    pub(super) fn search(&self, query: &GrepQuery) -> Result<GrepResult, Box<dyn Error>> {
        let found = self.index.search(&self.vault, &self.no_changes, query, NO_DEADLINE)?;
        Ok(found)
    }

    /// Ranked notes, as many as the tool shows.
    pub(super) fn find(&self, query: &str) -> Result<RankedPassages, Box<dyn Error>> {
        let narrow = NoteFilter::default();
        Ok(self.index.find(&self.vault, &self.no_changes, query, &narrow, 10, NO_DEADLINE)?)
    }
}
