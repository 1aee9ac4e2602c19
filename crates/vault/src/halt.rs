//! A way to stop changes that are being carried out, between two notes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops an order between two of its notes, or units. Clones are the same; it stops once.
#[derive(Debug, Clone, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// From now on no further note is begun; the one under way is finished.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it was stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
