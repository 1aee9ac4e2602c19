//! The thread that owns the state of an index.
//!
//! Commands come through one bounded queue and are carried out in their order. The owner waits for nobody: it locks
//! nothing but the published view, and an answer goes into a channel with room for it. It looks at changed files
//! itself. Work that takes long, such as a new snapshot, is done by its caller from an immutable view, while files
//! are refreshed; the result comes back as a command.

use std::collections::{BTreeSet, VecDeque};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Weak};
use std::time::Instant;

use protocol::{NotePath, PrivateRules};
use vault::Vault;

use super::changed_files::changed_files;
use super::published::ViewPublisher;
use crate::fulltext::state::FulltextState;
use crate::fulltext::{FulltextError, FulltextIndex};
use crate::view::IndexView;

/// A rebuilt view is published together with at most this many files that were refreshed meanwhile: the owner
/// reads them, and other commands are queued until then.
const MAX_FILES_AT_PUBLISH: usize = 16;

/// A request to the owner. Each sender in it gets one answer, and none if the owner ended.
pub(super) enum IndexCommand {
    /// Look at these files again.
    Refresh { paths: Vec<NotePath>, done: SyncSender<()> },
    /// Index under other rules: the view is dropped.
    SetRules { rules: PrivateRules, done: SyncSender<()> },
    /// Answer when the index is ready.
    AwaitReady(ReadyWaiter),
    /// Answer when nobody else writes the snapshot.
    AcquireSnapshot { granted: SyncSender<SnapshotBase> },
    /// The permit of the snapshot is given back.
    ReleaseSnapshot,
    /// A rebuild has looked at this many files.
    ReportProgress { done: usize, all: usize },
    /// Hand out the files that were refreshed during a rebuild, if they are many.
    TakeRefreshed { taken: SyncSender<Vec<NotePath>> },
    /// Show searches what a rebuild made, with the files that were refreshed meanwhile.
    PublishRebuilt { rebuilt: Box<RebuiltView>, done: SyncSender<()> },
    /// This view is on disk.
    MarkSaved(Weak<IndexView>),
    /// Drop the view.
    Clear { done: SyncSender<()> },
    /// Answer when nobody writes the ranking; until the permit of the snapshot is given back nobody will.
    StopFulltext { stopped: SyncSender<()> },
    /// Answer when nobody else writes the ranking.
    AcquireFulltext { granted: SyncSender<FulltextBase> },
    /// The permit of the ranking is given back.
    ReleaseFulltext,
    /// Let searches use a ranking.
    PublishFulltext { fulltext: Arc<FulltextIndex>, done: SyncSender<Result<(), FulltextError>> },
}

/// A caller that waits for the index, and no longer than `until`.
pub(super) struct ReadyWaiter {
    pub(super) until: Instant,
    pub(super) ready: SyncSender<()>,
}

/// The state of the index when the permit of the snapshot was granted.
pub(super) struct SnapshotBase {
    /// `None` while nothing is indexed.
    pub(super) view: Option<Arc<IndexView>>,
    pub(super) rules: PrivateRules,
    /// The view that is on disk.
    pub(super) saved_view: Weak<IndexView>,
}

/// The state of the index when the permit of the ranking was granted.
pub(super) struct FulltextBase {
    /// `None` while nothing is indexed.
    pub(super) view: Option<Arc<IndexView>>,
    /// Set when the caller has to stop.
    pub(super) cancelled: Arc<AtomicBool>,
}

/// The caller that may write the ranking.
enum FulltextTurn {
    /// The next caller.
    Free,
    /// The caller that has the permit; it stops when the flag is set.
    Writing(Arc<AtomicBool>),
    /// The same caller, which was told to stop. A rebuild waits for that.
    Stopping(SyncSender<()>),
    /// Nobody until the rebuild ends.
    Blocked,
}

/// A view of all files of the vault.
pub(super) struct RebuiltView {
    pub(super) view: IndexView,
    /// The rules under which the files were read.
    pub(super) rules: PrivateRules,
    /// The number of files in the vault.
    pub(super) files: usize,
}

/// All state of an index. Its thread ends when no handle is left.
pub(super) struct IndexOwner {
    vault: Vault,
    rules: PrivateRules,
    publisher: ViewPublisher,
    ready_waiters: Vec<ReadyWaiter>,
    snapshot_queue: VecDeque<SyncSender<SnapshotBase>>,
    /// The files that were refreshed since the permit of the snapshot was granted; `None` while nobody has it.
    refreshed: Option<BTreeSet<NotePath>>,
    /// The ranking that was published since then, and not discarded: the one that is on disk.
    published_fulltext: Option<Arc<FulltextIndex>>,
    saved_view: Weak<IndexView>,
    fulltext_queue: VecDeque<SyncSender<FulltextBase>>,
    fulltext_turn: FulltextTurn,
}

impl IndexOwner {
    /// An owner of an empty index.
    pub(super) fn new(vault: Vault, rules: PrivateRules, publisher: ViewPublisher) -> Self {
        Self {
            vault,
            rules,
            publisher,
            ready_waiters: Vec::new(),
            snapshot_queue: VecDeque::new(),
            refreshed: None,
            published_fulltext: None,
            saved_view: Weak::new(),
            fulltext_queue: VecDeque::new(),
            fulltext_turn: FulltextTurn::Free,
        }
    }

    /// Carries out commands until nobody can send one.
    pub(super) fn run(mut self, commands: &Receiver<IndexCommand>) {
        for command in commands {
            self.handle(command);
        }
    }

    fn handle(&mut self, command: IndexCommand) {
        match command {
            IndexCommand::Refresh { paths, done } => {
                self.refresh(paths);
                answer(&done, ());
            }
            IndexCommand::SetRules { rules, done } => {
                self.set_rules(rules);
                answer(&done, ());
            }
            IndexCommand::AwaitReady(waiter) => self.await_ready(waiter),
            IndexCommand::AcquireSnapshot { granted } => {
                self.snapshot_queue.push_back(granted);
                self.grant_snapshot();
            }
            IndexCommand::ReleaseSnapshot => self.release_snapshot(),
            IndexCommand::ReportProgress { done, all } => self.publisher.set_progress(done, all),
            IndexCommand::TakeRefreshed { taken } => answer(&taken, self.take_refreshed()),
            IndexCommand::PublishRebuilt { rebuilt, done } => {
                self.publish_rebuilt(*rebuilt);
                answer(&done, ());
            }
            IndexCommand::MarkSaved(view) => self.saved_view = view,
            IndexCommand::Clear { done } => {
                self.publisher.clear();
                answer(&done, ());
            }
            IndexCommand::StopFulltext { stopped } => self.stop_fulltext(stopped),
            IndexCommand::AcquireFulltext { granted } => {
                self.fulltext_queue.push_back(granted);
                self.grant_fulltext();
            }
            IndexCommand::ReleaseFulltext => self.release_fulltext(),
            IndexCommand::PublishFulltext { fulltext, done } => {
                answer(&done, self.publish_fulltext(fulltext));
            }
        }
    }

    fn refresh(&mut self, paths: Vec<NotePath>) {
        if let Some(view) = self.publisher.view() {
            self.publish_changes(&view, &paths);
        }
        if let Some(refreshed) = &mut self.refreshed {
            refreshed.extend(paths);
        }
    }

    /// Only what changed is new in the published view; it shares the rest with the view before.
    fn publish_changes(&self, view: &IndexView, paths: &[NotePath]) {
        let changes = changed_files(&self.vault, &self.rules, view, paths);
        if !changes.is_empty() {
            self.publisher.set_view(view.with_changes(changes));
        }
    }

    fn set_rules(&mut self, rules: PrivateRules) {
        if self.rules != rules {
            self.rules = rules;
            self.publisher.clear();
        }
    }

    fn await_ready(&mut self, waiter: ReadyWaiter) {
        if self.publisher.view().is_some() {
            return answer(&waiter.ready, ());
        }
        let now = Instant::now();
        self.ready_waiters.retain(|other| other.until > now);
        self.ready_waiters.push(waiter);
    }

    /// Gives the permit of the snapshot to the next caller, if nobody has it.
    fn grant_snapshot(&mut self) {
        while self.refreshed.is_none() {
            let Some(granted) = self.snapshot_queue.pop_front() else { return };
            let base = SnapshotBase {
                view: self.publisher.view(),
                rules: self.rules.clone(),
                saved_view: Weak::clone(&self.saved_view),
            };
            if granted.send(base).is_ok() {
                self.refreshed = Some(BTreeSet::new());
            }
        }
    }

    fn release_snapshot(&mut self) {
        self.refreshed = None;
        self.published_fulltext = None;
        self.grant_snapshot();
        if matches!(self.fulltext_turn, FulltextTurn::Blocked) {
            self.fulltext_turn = FulltextTurn::Free;
            self.grant_fulltext();
        }
    }

    /// The files that were refreshed during a rebuild; none if they are so few that the owner reads them itself.
    fn take_refreshed(&mut self) -> Vec<NotePath> {
        let are_many = |refreshed: &&mut BTreeSet<NotePath>| refreshed.len() > MAX_FILES_AT_PUBLISH;
        let many = self.refreshed.as_mut().filter(are_many).map(mem::take);
        many.unwrap_or_default().into_iter().collect()
    }

    /// Publishes a view with the files that were refreshed and the ranking that was published while it was made. A
    /// view that was made under other rules is not used.
    fn publish_rebuilt(&mut self, rebuilt: RebuiltView) {
        let RebuiltView { view, rules, files } = rebuilt;
        if self.rules != rules {
            return;
        }
        let refreshed = self.refreshed.as_mut().map(mem::take).unwrap_or_default();
        let refreshed: Vec<NotePath> = refreshed.into_iter().collect();
        let changes = changed_files(&self.vault, &self.rules, &view, &refreshed);
        let view = self.with_published_fulltext(view.with_changes(changes));
        self.publisher.set_rebuilt_view(view, files);
        self.ready_waiters.drain(..).for_each(|waiter| answer(&waiter.ready, ()));
    }

    /// A rebuilt view has the ranking of the view before it, but an update must begin from the one that is on disk.
    fn with_published_fulltext(&mut self, view: IndexView) -> IndexView {
        let rules = view.snapshot().rules();
        let fulltext = self.published_fulltext.take().filter(|it| it.rules() == rules);
        match fulltext.map(|fulltext| FulltextState::compare(fulltext, view.snapshot())) {
            Some(Ok(compared)) => view.with_fulltext(compared),
            Some(Err(why)) => {
                tracing::warn!(%why, "a ranking is not in the rebuilt view");
                view
            }
            None => view,
        }
    }

    fn stop_fulltext(&mut self, stopped: SyncSender<()>) {
        self.published_fulltext = None;
        if let FulltextTurn::Writing(cancelled) = &self.fulltext_turn {
            cancelled.store(true, Ordering::Relaxed);
            self.fulltext_turn = FulltextTurn::Stopping(stopped);
        } else {
            self.fulltext_turn = FulltextTurn::Blocked;
            answer(&stopped, ());
        }
    }

    /// Gives the permit of the ranking to the next caller, if nobody has it and none is blocked.
    fn grant_fulltext(&mut self) {
        while matches!(self.fulltext_turn, FulltextTurn::Free) {
            let Some(granted) = self.fulltext_queue.pop_front() else { return };
            let cancelled = Arc::<AtomicBool>::default();
            let flag = Arc::clone(&cancelled);
            let base = FulltextBase { view: self.publisher.view(), cancelled };
            if granted.send(base).is_ok() {
                self.fulltext_turn = FulltextTurn::Writing(flag);
            }
        }
    }

    fn release_fulltext(&mut self) {
        self.fulltext_turn = match mem::replace(&mut self.fulltext_turn, FulltextTurn::Free) {
            FulltextTurn::Stopping(stopped) => {
                answer(&stopped, ());
                FulltextTurn::Blocked
            }
            FulltextTurn::Free | FulltextTurn::Writing(_) | FulltextTurn::Blocked => {
                FulltextTurn::Free
            }
        };
        self.grant_fulltext();
    }

    /// A ranking that is about to be deleted, or of notes that may not be seen now, is not used.
    fn publish_fulltext(&mut self, fulltext: Arc<FulltextIndex>) -> Result<(), FulltextError> {
        if !matches!(self.fulltext_turn, FulltextTurn::Writing(_)) {
            return Ok(());
        }
        if self.refreshed.is_some() {
            self.published_fulltext = Some(Arc::clone(&fulltext));
        }
        let Some(view) = self.publisher.view() else { return Ok(()) };
        if view.snapshot().rules() == fulltext.rules() {
            let compared = FulltextState::compare(fulltext, view.snapshot())?;
            self.publisher.set_view(view.with_fulltext(compared));
        }
        Ok(())
    }
}

/// Answers a caller. The channel has room for it, and a caller that left needs no answer.
fn answer<T>(caller: &SyncSender<T>, value: T) {
    drop(caller.send(value));
}
