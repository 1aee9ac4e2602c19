//! What was noticed and not fetched yet, joined so that it stays small.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::Changed;

/// So many files at once are "everything".
const MANY: usize = 1_000;

/// A queue with one reader.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Changed>,
    ended: bool,
}

impl Queue {
    /// Adds what was noticed.
    pub(super) fn add(&self, changed: Changed) {
        join(&mut self.lock().waiting, changed);
        self.news.notify_one();
    }

    /// Nothing more will come.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.news.notify_one();
    }

    /// The next of it, or `None` after the end.
    pub(super) async fn next(&self) -> Option<Changed> {
        loop {
            {
                let mut state = self.lock();
                if let Some(changed) = state.waiting.pop_front() {
                    return Some(changed);
                }
                if state.ended {
                    return None;
                }
            }
            self.news.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Later news make earlier ones needless, or join them.
fn join(waiting: &mut VecDeque<Changed>, changed: Changed) {
    match (waiting.back_mut(), changed) {
        (_, Changed::Gone) => {
            waiting.retain(|earlier| matches!(earlier, Changed::Late { .. }));
            waiting.push_back(Changed::Gone);
        }
        (Some(Changed::Everything), Changed::Everything | Changed::Notes(_)) => {}
        (Some(last @ Changed::Notes(_)), Changed::Everything) => *last = Changed::Everything,
        (Some(Changed::Notes(files)), Changed::Notes(more)) => {
            files.extend(more);
            files.sort_unstable();
            files.dedup();
            if files.len() > MANY {
                waiting.pop_back();
                waiting.push_back(Changed::Everything);
            }
        }
        (_, Changed::Notes(files)) if files.len() > MANY => waiting.push_back(Changed::Everything),
        (_, changed) => waiting.push_back(changed),
    }
}

#[cfg(test)]
mod tests {
    use protocol::NotePath;

    use super::*;

    fn notes(names: &[&str]) -> Changed {
        Changed::Notes(names.iter().map(|name| NotePath::parse(name).unwrap()).collect())
    }

    fn joined(all: impl IntoIterator<Item = Changed>) -> Vec<Changed> {
        let mut waiting = VecDeque::new();
        all.into_iter().for_each(|changed| join(&mut waiting, changed));
        waiting.into()
    }

    #[test]
    fn what_was_not_fetched_is_joined_and_the_order_of_gone_and_back_stays() {
        use Changed::{Back, Everything, Gone};
        let late = || Changed::Late { why: "short".to_owned() };
        assert_eq!(
            joined([notes(&["b.md"]), notes(&["a.md", "b.md"])]),
            [notes(&["a.md", "b.md"])]
        );
        assert_eq!(joined([notes(&["a.md"]), Everything, notes(&["b.md"])]), [Everything]);
        assert_eq!(joined([Everything, Gone, Back, Everything]), [Gone, Back, Everything]);
        assert_eq!(joined([Gone, Back, Everything, Gone]), [Gone]);
        assert_eq!(joined([late(), notes(&["a.md"]), Gone]), [late(), Gone]);
    }

    #[test]
    fn more_files_than_anybody_looks_at_one_by_one_are_everything() {
        let file = |n: usize| notes(&[&format!("{n}.md")]);
        assert!(
            matches!(&joined((0..MANY).map(file))[..], [Changed::Notes(files)] if files.len() == MANY)
        );
        assert_eq!(joined((0..=MANY).map(file)), [Changed::Everything]);
    }
}
