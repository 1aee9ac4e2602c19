//! Looking at many things on all cores.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// The results of a parallel scan.
pub(crate) struct ParallelResult<T> {
    /// In the order of the things looked at.
    pub(crate) found: Vec<T>,
    /// Whether the deadline came before everything was looked at.
    pub(crate) timed_out: bool,
}

/// How many things a thread takes at a time.
const BATCH: usize = 32;

/// More threads than this do not read one disk faster.
const MAX_THREADS: usize = 8;

/// Looks at all of `things`, until `deadline` if there is one.
pub(crate) fn map_parallel<I: Sync, T: Send>(
    things: &[I],
    deadline: Option<Instant>,
    look: impl Fn(&I) -> Option<T> + Sync,
) -> ParallelResult<T> {
    map_parallel_in_batches(BATCH, things, deadline, look)
}

/// The same with `batch` things a time: one at a time when each is much work.
pub(crate) fn map_parallel_in_batches<I: Sync, T: Send>(
    batch: usize,
    things: &[I],
    deadline: Option<Instant>,
    look: impl Fn(&I) -> Option<T> + Sync,
) -> ParallelResult<T> {
    let (next, timed_out) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        let mut found = Vec::new();
        loop {
            let start = next.fetch_add(batch, Ordering::Relaxed);
            let Some(rest) = things.get(start..) else { return found };
            if rest.is_empty() {
                return found;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                timed_out.store(true, Ordering::Relaxed);
                return found;
            }
            let some: Vec<T> = rest.iter().take(batch).filter_map(&look).collect();
            found.push((start, some));
        }
    };
    let mut batches: Vec<(usize, Vec<T>)> = thread::scope(|scope| {
        // A thread that would find nothing left is not begun.
        let threads = threads().min(things.len().div_ceil(batch));
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        // A thread that panicked has no result; the panic was reported when it happened.
        all.extend(others.into_iter().filter_map(|other| other.join().ok()).flatten());
        all
    });
    batches.sort_unstable_by_key(|(start, _)| *start);
    let found = batches.into_iter().flat_map(|(_, found)| found).collect();
    ParallelResult { found, timed_out: timed_out.into_inner() }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS)
}
