//! The sources of a call's result: recorded while the tool reads, so that the result can name them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::{NotePath, Source};

/// How far a search looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupScope {
    /// At what stands in the folder itself, in none below it.
    Folder(NotePath),
    /// At all that is below the folder, however deep.
    Below(NotePath),
    /// At the whole vault.
    Vault,
}

/// Where what one call tells comes from. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct SourceLog(Arc<Mutex<LoggedSources>>);

#[derive(Debug, Default)]
struct LoggedSources {
    all: BTreeSet<Source>,
    /// Those of `all` that a plan's summary may tell of.
    names: BTreeSet<Source>,
}

impl SourceLog {
    /// Text of this note is in the result of the call, or may be in its error: its name, which is
    /// text of the vault as much as its body is.
    pub fn record_note(&self, path: &NotePath) {
        self.record(Source::Note(path.clone()));
    }

    /// The call is about this note or folder, whose path it did not spell itself: a plan's summary
    /// says it too.
    pub fn record_name(&self, path: &NotePath) {
        self.record_named_source(Source::Note(path.clone()));
    }

    /// Something from there is in what the call tells, and in a plan's summary too.
    pub fn record_named_source(&self, source: Source) {
        self.with_log(|noted| {
            noted.names.insert(source.clone());
            noted.all.insert(source);
        });
    }

    /// The call searches this scope: its result depends on every note there, also if it finds
    /// nothing and names none. A folder itself is a source only if nothing below it is read: a
    /// reader who may see a folder may not see everything below it.
    pub fn record_search(&self, scope: &LookupScope) {
        match scope {
            LookupScope::Folder(folder) => self.record_note(folder),
            LookupScope::Below(folder) => {
                self.record_note(folder);
                self.record(Source::Vault);
            }
            LookupScope::Vault => self.record(Source::Vault),
        }
    }

    /// Something from there is.
    pub fn record(&self, source: Source) {
        self.with_log(|noted| _ = noted.all.insert(source));
    }

    /// All there is so far, in order.
    #[must_use]
    pub fn all(&self) -> Vec<Source> {
        self.with_log(|noted| noted.all.iter().cloned().collect())
    }

    /// The sources of the text about a plan: it names what the plan is about, and holds nothing
    /// that was read for it.
    #[must_use]
    pub fn of_plan(&self) -> Self {
        let names = self.with_log(|noted| noted.names.clone());
        Self(Arc::new(Mutex::new(LoggedSources { all: names.clone(), names })))
    }

    fn with_log<T>(&self, act: impl FnOnce(&mut LoggedSources) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
