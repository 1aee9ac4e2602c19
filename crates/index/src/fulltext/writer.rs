//! Putting notes into the index with little memory: only a few wait to be taken apart.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::schema::document::CompactDocValue;
use tantivy::{Document, Index, IndexWriter, TantivyDocument, Term};

use super::error::{FulltextError, FulltextErrorContext};
use super::note_matches::SearchableNote;
use super::schema::{IndexFields, document};

/// The memory of the writer before it writes a part of the index. With half of it there are many
/// parts, and merging them costs as much as writing them.
const WRITER_MEMORY: usize = 30_000_000;

/// How many bytes of notes may wait for the writer's thread.
const MAX_QUEUED_BYTES: usize = 1_000_000;

/// After this long a note is given to a writer that does not come along, which then says why.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(1);

/// A part is rewritten without deleted notes when these are more than this share.
const MAX_DELETED_SHARE: f32 = 0.3;

/// Takes out the notes `gone` and puts `notes` in, each in the place of one with the same key. `gone`
/// is `None` for an index that is empty, where there is nothing to replace. When it returns everything
/// is on disk and no memory is held any more.
pub(super) fn write<'a>(
    index: &Index,
    fields: &IndexFields,
    gone: Option<&[u64]>,
    notes: impl Iterator<Item = SearchableNote<'a>>,
    cancelled: &AtomicBool,
    failed: &FulltextErrorContext<'_>,
) -> Result<(), FulltextError> {
    let options = IndexWriterOptions::builder()
        .memory_budget_per_thread(WRITER_MEMORY)
        .num_worker_threads(1)
        .num_merge_threads(1)
        .build();
    let mut writer: IndexWriter<QueuedDocument> =
        index.writer_with_options(options).map_err(|why| failed.to_error(&why))?;
    let mut policy = LogMergePolicy::default();
    policy.set_del_docs_ratio_before_merge(MAX_DELETED_SHARE);
    writer.set_merge_policy(Box::new(policy));
    for key in gone.unwrap_or_default() {
        writer.delete_term(Term::from_field_u64(fields.key, *key));
    }
    let queue = Arc::default();
    for note in notes {
        if cancelled.load(Ordering::Relaxed) {
            return Err(FulltextError::Cancelled);
        }
        if gone.is_some() {
            writer.delete_term(Term::from_field_u64(fields.key, note.key));
        }
        let place = ByteReservation::reserve(&queue, note.text.len());
        let waiting = QueuedDocument { document: document(fields, &note), _reservation: place };
        writer.add_document(waiting).map_err(|why| failed.to_error(&why))?;
    }
    writer.commit().map_err(|why| failed.to_error(&why))?;
    writer.wait_merging_threads().map_err(|why| failed.to_error(&why))
}

/// A note on its way to the writer's thread, which would take thousands at once.
struct QueuedDocument {
    document: TantivyDocument,
    _reservation: ByteReservation,
}

impl Document for QueuedDocument {
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
struct ByteQueue {
    queued_bytes: Mutex<usize>,
    shrunk: Condvar,
}

/// Bytes in the queue, until dropped.
struct ByteReservation {
    queue: Arc<ByteQueue>,
    bytes: usize,
}

impl ByteReservation {
    fn reserve(queue: &Arc<ByteQueue>, bytes: usize) -> Self {
        let waiting = queue.queued_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |waiting: &mut usize| *waiting > MAX_QUEUED_BYTES;
        let waited = queue.shrunk.wait_timeout_while(waiting, QUEUE_TIMEOUT, is_full);
        *waited.unwrap_or_else(PoisonError::into_inner).0 += bytes;
        Self { queue: Arc::clone(queue), bytes }
    }
}

impl Drop for ByteReservation {
    fn drop(&mut self) {
        *self.queue.queued_bytes.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.queue.shrunk.notify_one();
    }
}
