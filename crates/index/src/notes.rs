//! All notes as they would be if the planned changes were applied, looked at in parallel.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use protocol::{ChangeSet, NotePath};
use vault::{EntryKind, NOTE_LIMIT, Vault, VaultError};

/// The notes to look at, sorted by path.
pub(crate) struct Notes<'a> {
    vault: &'a Vault,
    planned: BTreeMap<NotePath, &'a [u8]>,
    /// Where notes are on disk that are seen elsewhere.
    moved: BTreeMap<NotePath, NotePath>,
    paths: Vec<NotePath>,
}

/// What looking at the notes gave.
pub(crate) struct Looked<T> {
    /// In the order of the notes' paths.
    pub(crate) found: Vec<T>,
    /// Whether the deadline came before every note was looked at.
    pub(crate) timed_out: bool,
}

/// How many notes a thread takes at a time.
const BATCH: usize = 32;

/// More threads than this do not read one disk faster.
const THREADS: usize = 8;

impl<'a> Notes<'a> {
    /// The notes under the size limit whose path `wanted` accepts.
    pub(crate) fn list(
        vault: &'a Vault,
        overlay: &'a ChangeSet,
        wanted: impl Fn(&NotePath) -> bool,
    ) -> Result<Self, VaultError> {
        let planned: BTreeMap<_, _> = overlay.written().into_iter().collect();
        let on_disk = vault.list()?.entries.into_iter();
        let on_disk = on_disk
            .filter(|entry| entry.kind == EntryKind::Note && entry.size <= NOTE_LIMIT)
            .map(|entry| entry.path);
        let mut moved = BTreeMap::new();
        let mut paths: Vec<NotePath> = if overlay.is_empty() {
            on_disk.collect()
        } else {
            let seen = |path: NotePath| {
                let seen = overlay.seen_from(&path)?;
                if seen != path {
                    moved.insert(seen.clone(), path);
                }
                Some(seen)
            };
            on_disk.filter_map(seen).filter(|path| !planned.contains_key(path)).collect()
        };
        paths.extend(planned.keys().filter(|path| path.is_markdown()).cloned());
        paths.retain(|path| wanted(path));
        paths.sort_unstable();
        Ok(Self { vault, planned, moved, paths })
    }

    /// How many there are.
    pub(crate) const fn len(&self) -> usize {
        self.paths.len()
    }

    /// Looks at every note until `deadline`. A note that cannot be read is passed over: it may
    /// have gone since it was listed.
    pub(crate) fn look<T: Send>(
        &self,
        deadline: Instant,
        look: impl Fn(&NotePath, &[u8]) -> Option<T> + Sync,
    ) -> Looked<T> {
        let (next, timed_out) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            let mut found = Vec::new();
            loop {
                let start = next.fetch_add(BATCH, Ordering::Relaxed);
                let Some(rest) = self.paths.get(start..) else { return found };
                if rest.is_empty() {
                    return found;
                }
                if Instant::now() >= deadline {
                    timed_out.store(true, Ordering::Relaxed);
                    return found;
                }
                let batch = rest.iter().take(BATCH);
                found.push((start, batch.filter_map(|path| self.look_at(path, &look)).collect()));
            }
        };
        let mut batches: Vec<(usize, Vec<T>)> = thread::scope(|scope| {
            let others: Vec<_> = (1..threads()).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            // A thread that panicked has no result; the panic was reported when it happened.
            all.extend(others.into_iter().filter_map(|other| other.join().ok()).flatten());
            all
        });
        batches.sort_unstable_by_key(|(start, _)| *start);
        let found = batches.into_iter().flat_map(|(_, found)| found).collect();
        Looked { found, timed_out: timed_out.into_inner() }
    }

    /// Looks at one note.
    pub(crate) fn look_at<T>(
        &self,
        path: &NotePath,
        look: impl Fn(&NotePath, &[u8]) -> Option<T>,
    ) -> Option<T> {
        match self.planned.get(path) {
            Some(bytes) => look(path, bytes),
            None => {
                let on_disk = self.moved.get(path).unwrap_or(path);
                look(path, &self.vault.bytes(on_disk).ok()?)
            }
        }
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS)
}
