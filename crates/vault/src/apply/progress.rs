//! How far work has come, and the way to stop it between two of its steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The progress of work that can be stopped once. Clones share the state. The steps are notes where
/// changes are applied; changes of one group are counted together. A note that could not be changed
/// is never counted, so fewer than the expected steps may be done at the end.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<ProgressState>);

#[derive(Debug, Default)]
struct ProgressState {
    stopped: AtomicBool,
    done: AtomicUsize,
    all: AtomicUsize,
}

impl Progress {
    /// From now on no further step is begun; the one under way is finished.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::SeqCst);
    }

    /// Whether it was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::SeqCst)
    }

    /// `steps` more steps are to come; replaces the number that was expected before.
    pub fn expect(&self, steps: usize) {
        self.0.all.store(self.done().saturating_add(steps), Ordering::SeqCst);
    }

    /// Counts `steps` more steps as taken.
    pub fn advance(&self, steps: usize) {
        self.0.done.fetch_add(steps, Ordering::SeqCst);
    }

    /// How many steps were taken.
    #[must_use]
    pub fn done(&self) -> usize {
        self.0.done.load(Ordering::SeqCst)
    }

    /// How many there are in all, as far as that is known; 0 if it is not.
    #[must_use]
    pub fn all(&self) -> usize {
        self.0.all.load(Ordering::SeqCst)
    }
}
