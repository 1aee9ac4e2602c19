//! The view that readers take from an index, and how much of the vault it covers.
//!
//! A view never changes. The owner of the index alone publishes another one, and nobody waits for a reader.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use crate::view::IndexView;

/// How much of the vault the index holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Files that were looked at.
    pub done: usize,
    /// Files there are, as far as is known.
    pub all: usize,
    /// Whether searches use it.
    pub is_ready: bool,
}

#[derive(Debug, Default)]
struct PublishedIndex {
    /// `None` until the index is ready.
    view: Option<Arc<IndexView>>,
    coverage: Coverage,
}

/// Replaces the view that readers take. There is one for each index; when it is dropped no view is left.
#[derive(Debug, Default)]
pub(super) struct ViewPublisher(Arc<RwLock<PublishedIndex>>);

/// Takes the newest view. The lock behind it is held for the copy of a pointer, never for work.
#[derive(Debug, Clone)]
pub(super) struct ViewReader(Arc<RwLock<PublishedIndex>>);

impl ViewReader {
    pub(super) fn view(&self) -> Option<Arc<IndexView>> {
        self.published().view.clone()
    }

    pub(super) fn coverage(&self) -> Coverage {
        self.published().coverage
    }

    fn published(&self) -> RwLockReadGuard<'_, PublishedIndex> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ViewPublisher {
    /// A reader of the same index.
    pub(super) fn reader(&self) -> ViewReader {
        ViewReader(Arc::clone(&self.0))
    }

    pub(super) fn view(&self) -> Option<Arc<IndexView>> {
        self.reader().view()
    }

    /// Puts a view in the place of the one before; the coverage stays.
    pub(super) fn set_view(&self, view: IndexView) {
        self.replace(Some(view), |coverage| coverage);
    }

    /// Publishes a view of all `files` files of the vault: from now on searches use it.
    pub(super) fn set_rebuilt_view(&self, view: IndexView, files: usize) {
        self.replace(Some(view), |_| Coverage { done: files, all: files, is_ready: true });
    }

    /// Nothing is indexed any more.
    pub(super) fn clear(&self) {
        self.replace(None, |_| Coverage::default());
    }

    /// Says how far a rebuild is; the view stays.
    pub(super) fn set_progress(&self, done: usize, all: usize) {
        let mut published = self.0.write().unwrap_or_else(PoisonError::into_inner);
        (published.coverage.done, published.coverage.all) = (done, all);
    }

    fn replace(&self, view: Option<IndexView>, coverage: impl FnOnce(Coverage) -> Coverage) {
        let view = view.map(Arc::new);
        let mut published = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut published.view, view);
        published.coverage = coverage(published.coverage);
        // Dropping it may take long, and no query waits for that.
        drop(published);
        drop(before);
    }
}

impl Drop for ViewPublisher {
    /// An owner that ended keeps no view up to date.
    fn drop(&mut self) {
        self.clear();
    }
}
