//! Permits for work on the files of an index. The owner grants each to one caller at a time, and goes on meanwhile.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use protocol::{NotePath, PrivateRules};

use super::owner::{FulltextBase, IndexCommand, RebuiltView, SnapshotBase};
use super::owner_handle::OwnerHandle;
use crate::fulltext::{FulltextError, FulltextIndex};
use crate::view::IndexView;

/// The right to write the snapshot and its delta, until it is dropped.
pub(super) struct SnapshotPermit<'i> {
    owner: &'i OwnerHandle,
    base: SnapshotBase,
}

impl<'i> SnapshotPermit<'i> {
    /// Waits until nobody else has it; `None` if the owner ended.
    pub(super) fn acquire(owner: &'i OwnerHandle) -> Option<Self> {
        let base = owner.ask(|granted| IndexCommand::AcquireSnapshot { granted })?;
        Some(Self { owner, base })
    }

    /// The view when the permit was granted.
    pub(super) const fn view(&self) -> Option<&Arc<IndexView>> {
        self.base.view.as_ref()
    }

    /// The rules when the permit was granted.
    pub(super) const fn rules(&self) -> &PrivateRules {
        &self.base.rules
    }

    /// Whether this view is on disk.
    pub(super) fn is_saved(&self, view: &Arc<IndexView>) -> bool {
        Weak::ptr_eq(&self.base.saved_view, &Arc::downgrade(view))
    }

    /// Remembers that a view was saved.
    pub(super) fn mark_saved(&self, view: &Arc<IndexView>) {
        self.owner.send(IndexCommand::MarkSaved(Arc::downgrade(view)));
    }

    /// Says how many of all files were looked at.
    pub(super) fn report_progress(&self, done: usize, all: usize) {
        self.owner.send(IndexCommand::ReportProgress { done, all });
    }

    /// The files that were refreshed since the permit was granted and were not taken yet, if they are many. Others
    /// are added by [`publish`](Self::publish).
    pub(super) fn take_refreshed(&self) -> Vec<NotePath> {
        self.owner.ask(|taken| IndexCommand::TakeRefreshed { taken }).unwrap_or_default()
    }

    /// Publishes a view of all files of the vault, with those that were refreshed and the ranking that was published
    /// meanwhile; not if other rules were set since the permit was granted.
    pub(super) fn publish(&self, view: IndexView, files: usize) {
        let rebuilt = Box::new(RebuiltView { view, rules: self.base.rules.clone(), files });
        self.owner.ask(|done| IndexCommand::PublishRebuilt { rebuilt, done });
    }

    /// Has nothing indexed any more.
    pub(super) fn clear(&self) {
        self.owner.ask(|done| IndexCommand::Clear { done });
    }

    /// Has the one who writes the ranking stop, and waits for that. Nobody writes it again while this permit is held.
    pub(super) fn stop_fulltext(&self) {
        self.owner.ask(|stopped| IndexCommand::StopFulltext { stopped });
    }
}

impl Drop for SnapshotPermit<'_> {
    fn drop(&mut self) {
        self.owner.send(IndexCommand::ReleaseSnapshot);
    }
}

/// The right to write the ranking, until it is dropped.
pub(crate) struct FulltextPermit<'i> {
    owner: &'i OwnerHandle,
    base: FulltextBase,
}

impl<'i> FulltextPermit<'i> {
    /// Waits until nobody else has it; `None` if the owner ended.
    pub(super) fn acquire(owner: &'i OwnerHandle) -> Option<Self> {
        let base = owner.ask(|granted| IndexCommand::AcquireFulltext { granted })?;
        Some(Self { owner, base })
    }

    /// The view when the permit was granted.
    pub(crate) const fn view(&self) -> Option<&Arc<IndexView>> {
        self.base.view.as_ref()
    }

    /// Whether what is written is about to be deleted, so that it has to be left.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.base.cancelled.load(Ordering::Relaxed)
    }

    /// Lets searches use a ranking, if it is one of the notes as they may be seen now.
    pub(crate) fn publish(&self, fulltext: Arc<FulltextIndex>) -> Result<(), FulltextError> {
        let published = self.owner.ask(|done| IndexCommand::PublishFulltext { fulltext, done });
        published.unwrap_or(Ok(()))
    }
}

impl Drop for FulltextPermit<'_> {
    fn drop(&mut self) {
        self.owner.send(IndexCommand::ReleaseFulltext);
    }
}
