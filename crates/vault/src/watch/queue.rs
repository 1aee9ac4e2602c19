//! Changes that were noticed and not fetched yet, joined so that the queue stays small.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::{FileReplacement, NotePath};
use tokio::sync::Notify;

use super::VaultChange;

/// The number of files at once from which they are "everything": looking at all of them together is
/// less work.
const MAX_FILES: usize = 10_000;

/// The number of files that are fetched at a time, those that changed last …
const NEWEST_PER_BATCH: usize = 24;

/// … and some that have waited longest. While somebody writes thousands of files, the one that
/// another program saves does not stand behind all of them, and none waits forever.
const OLDEST_PER_BATCH: usize = 8;

/// A queue with one reader.
#[derive(Debug, Default)]
pub(super) struct ChangeQueue {
    state: Mutex<ChangeQueueState>,
    ready: Notify,
}

#[derive(Debug, Default)]
struct ChangeQueueState {
    waiting: VecDeque<VaultChange>,
    /// Other changes since then.
    files: ChangedFiles,
    replaced: Vec<FileReplacement>,
    ended: bool,
}

impl ChangeQueue {
    /// Adds what was noticed.
    pub(super) fn add(&self, changed: VaultChange) {
        self.lock().join(changed);
        self.ready.notify_one();
    }

    /// Nothing more will come.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.ready.notify_one();
    }

    /// The next of it, or `None` after the end.
    pub(super) async fn next(&self) -> Option<VaultChange> {
        loop {
            {
                let mut state = self.lock();
                if let Some(changed) = state.fetch() {
                    return Some(changed);
                }
                if state.ended {
                    return None;
                }
            }
            self.ready.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, ChangeQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangeQueueState {
    /// Later news make earlier ones needless, or join them.
    fn join(&mut self, changed: VaultChange) {
        match changed {
            VaultChange::Gone => {
                self.files = ChangedFiles::default();
                self.waiting.retain(|earlier| matches!(earlier, VaultChange::Late { .. }));
                self.waiting.push_back(VaultChange::Gone);
            }
            VaultChange::Everything => self.join_rescan(),
            VaultChange::Notes(_) if self.waiting.back() == Some(&VaultChange::Everything) => {}
            VaultChange::Notes(files) => {
                files.into_iter().for_each(|file| self.files.add(file));
                if self.files.by_age.len() > MAX_FILES {
                    self.join_rescan();
                }
            }
            VaultChange::Replaced(more) => self.replaced.extend(more),
            VaultChange::Back | VaultChange::Late { .. } => self.waiting.push_back(changed),
        }
    }

    fn join_rescan(&mut self) {
        self.files = ChangedFiles::default();
        if self.waiting.back() != Some(&VaultChange::Everything) {
            self.waiting.push_back(VaultChange::Everything);
        }
    }

    fn fetch(&mut self) -> Option<VaultChange> {
        if !self.replaced.is_empty() {
            return Some(VaultChange::Replaced(std::mem::take(&mut self.replaced)));
        }
        self.waiting.pop_front().or_else(|| {
            let files = self.files.take_batch();
            (!files.is_empty()).then_some(VaultChange::Notes(files))
        })
    }
}

/// Files, each once, by when they changed last.
#[derive(Debug, Default)]
struct ChangedFiles {
    by_age: BTreeMap<u64, NotePath>,
    ages: HashMap<NotePath, u64>,
    changes: u64,
}

impl ChangedFiles {
    fn add(&mut self, file: NotePath) {
        self.changes += 1;
        if let Some(before) = self.ages.insert(file.clone(), self.changes) {
            self.by_age.remove(&before);
        }
        self.by_age.insert(self.changes, file);
    }

    /// Takes some of them out, sorted.
    fn take_batch(&mut self) -> Vec<NotePath> {
        let newest = (0..NEWEST_PER_BATCH).map_while(|_| self.by_age.pop_last());
        let mut files: Vec<NotePath> = newest.map(|(_, file)| file).collect();
        let oldest = (0..OLDEST_PER_BATCH).map_while(|_| self.by_age.pop_first());
        files.extend(oldest.map(|(_, file)| file));
        for file in &files {
            self.ages.remove(file);
        }
        files.sort_unstable();
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(names: &[&str]) -> VaultChange {
        VaultChange::Notes(names.iter().map(|name| NotePath::parse(name).unwrap()).collect())
    }

    fn joined(all: impl IntoIterator<Item = VaultChange>) -> Vec<VaultChange> {
        let mut state = ChangeQueueState::default();
        all.into_iter().for_each(|changed| state.join(changed));
        std::iter::from_fn(|| state.fetch()).collect()
    }

    #[test]
    fn what_was_not_fetched_is_joined_and_the_order_of_gone_and_back_stays() {
        use VaultChange::{Back, Everything, Gone};
        let late = || VaultChange::Late { why: "short".to_owned() };
        assert_eq!(
            joined([notes(&["b.md"]), notes(&["a.md", "b.md"])]),
            [notes(&["a.md", "b.md"])]
        );
        assert_eq!(joined([notes(&["a.md"]), Everything, notes(&["b.md"])]), [Everything]);
        assert_eq!(joined([Everything, Gone, Back, Everything]), [Gone, Back, Everything]);
        assert_eq!(joined([Gone, Back, Everything, Gone]), [Gone]);
        assert_eq!(joined([late(), notes(&["a.md"]), Gone]), [late(), Gone]);
    }

    fn file(number: usize) -> VaultChange {
        notes(&[&format!("{number:05}.md")])
    }

    #[test]
    fn newest_change_comes_first_and_oldest_is_not_starved() {
        let all = joined((0..500).chain([250]).map(file));
        let [VaultChange::Notes(first), rest @ ..] = &all[..] else { panic!("{all:?}") };
        let place = |number: usize| {
            first
                .iter()
                .position(|path| *path == NotePath::parse(&format!("{number:05}.md")).unwrap())
        };
        assert!(
            first.is_sorted() && first.len() == NEWEST_PER_BATCH + OLDEST_PER_BATCH,
            "{first:?}"
        );
        assert!(
            [250, 499, 478, 0, 7].into_iter().all(|number| place(number).is_some()),
            "{first:?}"
        );
        assert_eq!(place(251), None);
        let fetched = |changed: &VaultChange| match changed {
            VaultChange::Notes(files) => files.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(first.len() + rest.iter().map(fetched).sum::<usize>(), 500, "each comes once");
    }

    #[test]
    fn more_files_than_anybody_looks_at_one_by_one_are_everything() {
        let all = joined((0..MAX_FILES).map(file));
        assert!(all.iter().all(|changed| matches!(changed, VaultChange::Notes(_))));
        assert_eq!(joined((0..=MAX_FILES).map(file)), [VaultChange::Everything]);
    }
}
