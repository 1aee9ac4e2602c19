//! The index of the product over a vault, as the application has it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use index::{Found, Index, Narrow, Query, Ranked};
use protocol::{ChangeSet, Privacy, PrivateRules};
use vault::{Screen, Vault};

/// Nothing that is measured is cut.
const AMPLE: Duration = Duration::from_secs(600);

static GO: AtomicBool = AtomicBool::new(false);

/// A vault as the tools see it, and its index.
pub(super) struct Standing {
    pub(super) vault: Vault,
    pub(super) index: Index,
    nothing: ChangeSet,
}

/// Where the index is among what is kept in `place`.
pub(super) fn dir(place: &Path) -> PathBuf {
    place.join("index")
}

impl Standing {
    /// Opens the vault; nothing is read yet.
    pub(super) fn begin(folder: &Path, place: &Path) -> Result<Self, Box<dyn Error>> {
        let rules = PrivateRules::default();
        let screen = Arc::new(Screen::new(rules.clone(), Privacy::Open));
        let vault = Vault::open(folder)?.behind(screen);
        let index = Index::new(&vault, rules, &dir(place));
        Ok(Self { vault, index, nothing: ChangeSet::default() })
    }

    /// Until the list, the links and the tags of all notes are known, and lines are searched in the
    /// snapshot.
    pub(super) fn open(&self) -> Result<(), Box<dyn Error>> {
        self.index.catch_up(&GO)?;
        let listed = self.index.names(&self.vault, "", &[], 1)?;
        let first = &listed.first().ok_or("the vault has no notes")?.path;
        let links = self.index.backlinks(&self.vault, &self.nothing, first);
        let tags = self.index.tags(&self.vault, &self.nothing);
        match (links, tags) {
            (Some(_), Some(_)) => Ok(()),
            _ => Err("the index does not stand after it was brought up".into()),
        }
    }

    /// Until everything answers.
    pub(super) fn build(&self) -> Result<(), Box<dyn Error>> {
        self.index.catch_up(&GO)?;
        self.index.rank(&GO)?;
        Ok(())
    }

    /// Lines that match.
    pub(super) fn search(&self, query: &Query) -> Result<Found, Box<dyn Error>> {
        let found = self.index.search(&self.vault, &self.nothing, query, AMPLE)?;
        Ok(found)
    }

    /// Ranked notes, as many as the tool shows.
    pub(super) fn find(&self, query: &str) -> Result<Ranked, Box<dyn Error>> {
        let narrow = Narrow::default();
        Ok(self.index.find(&self.vault, &self.nothing, query, &narrow, 10, AMPLE)?)
    }
}
