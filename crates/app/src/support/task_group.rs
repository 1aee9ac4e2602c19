//! Tasks that are cancelled and joined together.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Tasks that end together. Clones are handles to the same tasks.
#[derive(Clone)]
pub(crate) struct TaskGroup {
    tasks: TaskTracker,
    cancel: CancellationToken,
    /// Each task that [`TaskGroup::spawn`] began has a clone of it until it has ended.
    held: Option<Arc<dyn Any + Send + Sync>>,
}

impl TaskGroup {
    /// A group without tasks.
    pub(crate) fn new() -> Self {
        Self { tasks: TaskTracker::new(), cancel: CancellationToken::new(), held: None }
    }

    /// A group that keeps a value alive until its last handle is gone and its last task has ended, also one that
    /// did not end in time when the group was joined.
    pub(crate) fn keeping(held: Arc<impl Any + Send + Sync>) -> Self {
        Self { held: Some(held), ..Self::new() }
    }

    /// Runs until it is done or the group is cancelled, whichever is first.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let (cancel, held) = (self.cancel.clone(), self.held.clone());
        self.tasks.spawn(async move {
            cancel.run_until_cancelled(task).await;
            drop(held);
        });
    }

    /// The result of `work`; `None` if the group is cancelled before.
    pub(crate) async fn until_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.cancel.run_until_cancelled(work).await
    }

    /// Counts as a task of the group until it is dropped.
    pub(crate) fn token(&self) -> TaskTrackerToken {
        self.tasks.token()
    }

    /// For tasks that the group joins and that end by themselves once it is cancelled.
    pub(crate) fn tracker(&self) -> &TaskTracker {
        &self.tasks
    }

    /// Cancelled with the group.
    pub(crate) fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Ends the tasks at their next wait; nothing is joined yet.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Resolves when no task is left. The caller cancels them.
    pub(crate) async fn join(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// The same for at most this time. Returns how many tasks are left.
    pub(crate) async fn join_within(&self, timeout: Duration) -> usize {
        match tokio::time::timeout(timeout, self.join()).await {
            Ok(()) => 0,
            Err(_) => self.tasks.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_task_that_goes_on_keeps_the_value_of_its_group() {
        let lock = Arc::new(());
        let held = Arc::downgrade(&lock);
        let group = TaskGroup::keeping(lock);
        let tracker = group.tracker().clone();
        let (end, ended) = oneshot::channel::<()>();
        group.spawn(async move {
            let _ = ended.await;
        });
        assert_eq!(group.join_within(Duration::ZERO).await, 1);
        drop(group);
        assert!(held.upgrade().is_some());
        end.send(()).expect("it waits");
        tracker.wait().await;
        assert!(held.upgrade().is_none());
    }

    #[tokio::test]
    async fn a_group_that_is_cancelled_ends_its_tasks() {
        let group = TaskGroup::new();
        group.spawn(pending());
        group.cancel();
        assert_eq!(group.join_within(Duration::from_secs(5)).await, 0);
        assert!(group.is_cancelled());
        assert_eq!(group.until_cancelled(pending::<()>()).await, None);
    }
}
