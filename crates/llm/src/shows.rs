//! Where the words of a call's result come from: noted while the tool reads, so that the result can
//! say it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::{NotePath, Source};

/// How far a search looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// At what stands in the folder itself, in none below it.
    Folder(NotePath),
    /// At all that is below the folder, however deep.
    Below(NotePath),
    /// At the whole vault.
    Vault,
}

/// Where what one call tells comes from. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Shows(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    all: BTreeSet<Source>,
    /// Those of `all` that a plan's summary may tell of.
    names: BTreeSet<Source>,
}

impl Shows {
    /// Words of this note are in what the call tells, or may be in how it fails: its name, which is
    /// text of the vault as much as its body is.
    pub fn note(&self, path: &NotePath) {
        self.add(Source::Note(path.clone()));
    }

    /// The call is about this note or folder, whose path it did not spell itself: a plan's summary
    /// says it too.
    pub fn name(&self, path: &NotePath) {
        self.tell(Source::Note(path.clone()));
    }

    /// Something from there is in what the call tells, and in a plan's summary too.
    pub fn tell(&self, source: Source) {
        self.with(|noted| {
            noted.names.insert(source.clone());
            noted.all.insert(source);
        });
    }

    /// The call looks so far: what it tells is told of every note there, also where it finds nothing
    /// and names none. A folder is a source by itself only where nothing below it is looked at: who may
    /// hear of a folder may not hear of all that is deeper down.
    pub fn searched(&self, scope: &Scope) {
        match scope {
            Scope::Folder(folder) => self.note(folder),
            Scope::Below(folder) => {
                self.note(folder);
                self.add(Source::Vault);
            }
            Scope::Vault => self.add(Source::Vault),
        }
    }

    /// Something from there is.
    pub fn add(&self, source: Source) {
        self.with(|noted| _ = noted.all.insert(source));
    }

    /// All there is so far, in order.
    #[must_use]
    pub fn all(&self) -> Vec<Source> {
        self.with(|noted| noted.all.iter().cloned().collect())
    }

    /// What the words about a plan come from: they name what it is about, and hold nothing that was
    /// read for it.
    #[must_use]
    pub fn of_plan(&self) -> Self {
        let names = self.with(|noted| noted.names.clone());
        Self(Arc::new(Mutex::new(Noted { all: names.clone(), names })))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Noted) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
