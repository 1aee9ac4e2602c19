//! Putting notes into the index with little memory: only a few wait to be taken apart.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::schema::document::CompactDocValue;
use tantivy::{Document, Index, IndexWriter, TantivyDocument, Term};

use super::fields::{Fields, document};
use super::{Failed, NoteText, RankingError};

/// What the writer holds before it writes a part of the index. With half of it the parts are many,
/// and putting them together costs as much as writing them.
const BUDGET: usize = 30_000_000;

/// How many bytes of notes may wait for the writer's thread.
const WAITING: usize = 1_000_000;

/// After this long a note is given to a writer that does not come along, which then says why.
const PATIENCE: Duration = Duration::from_secs(1);

/// A part is written anew without the notes that are gone when these are more than this share.
const GONE: f32 = 0.3;

/// Takes out what is gone and puts notes in. When it returns everything is on disk and no memory is
/// held any more.
pub(super) fn write<'a>(
    index: &Index,
    fields: &Fields,
    gone: &[u64],
    notes: impl Iterator<Item = NoteText<'a>>,
    cancelled: &AtomicBool,
    failed: &Failed<'_>,
) -> Result<(), RankingError> {
    let options = IndexWriterOptions::builder()
        .memory_budget_per_thread(BUDGET)
        .num_worker_threads(1)
        .num_merge_threads(1)
        .build();
    let mut writer: IndexWriter<Waiting> =
        index.writer_with_options(options).map_err(|why| failed.to(&why))?;
    let mut policy = LogMergePolicy::default();
    policy.set_del_docs_ratio_before_merge(GONE);
    writer.set_merge_policy(Box::new(policy));
    for key in gone {
        writer.delete_term(Term::from_field_u64(fields.key, *key));
    }
    let queue = Arc::default();
    for note in notes {
        if cancelled.load(Ordering::Relaxed) {
            return Err(RankingError::Cancelled);
        }
        let place = Place::take(&queue, note.text.len());
        let waiting = Waiting { document: document(fields, &note), _place: place };
        writer.add_document(waiting).map_err(|why| failed.to(&why))?;
    }
    writer.commit().map_err(|why| failed.to(&why))?;
    writer.wait_merging_threads().map_err(|why| failed.to(&why))
}

/// A note on its way to the writer's thread, which would take thousands at once.
struct Waiting {
    document: TantivyDocument,
    _place: Place,
}

impl Document for Waiting {
    type Value<'a> = CompactDocValue<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }

    fn into_tantivy_document(self) -> TantivyDocument {
        self.document
    }
}

/// How many bytes wait, and who wants to know when fewer do.
#[derive(Default)]
struct Queue {
    waiting: Mutex<usize>,
    fewer: Condvar,
}

/// Bytes in the queue, until dropped.
struct Place {
    queue: Arc<Queue>,
    bytes: usize,
}

impl Place {
    fn take(queue: &Arc<Queue>, bytes: usize) -> Self {
        let waiting = queue.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |waiting: &mut usize| *waiting > WAITING;
        let waited = queue.fewer.wait_timeout_while(waiting, PATIENCE, is_full);
        *waited.unwrap_or_else(PoisonError::into_inner).0 += bytes;
        Self { queue: Arc::clone(queue), bytes }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.queue.waiting.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.queue.fewer.notify_one();
    }
}
