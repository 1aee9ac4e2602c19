//! What a call shows its model: noted by the tool as it reads, so that the result can say where it
//! comes from.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::{NotePath, Source};

/// Where what one call tells comes from. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Shows(Arc<Mutex<BTreeSet<Source>>>);

impl Shows {
    /// Words of this note are in what the call tells, or may be in how it fails.
    pub fn note(&self, path: &NotePath) {
        self.add(Source::Note(path.clone()));
    }

    /// Something from there is.
    pub fn add(&self, source: Source) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(source);
    }

    /// All there is so far, in order.
    pub(crate) fn all(&self) -> Vec<Source> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
