//! How recovery, which blocks, has the ledger store the files that it makes ready.

use protocol::{EffectId, FileId};
use tokio::sync::{mpsc, oneshot};

use crate::filesystem::fault_point::with_fault_points;
use crate::ledger::Ledger;

/// Lets the ledger store which file recovery makes ready for a change, before it gets the note's name: a
/// recovery that is interrupted as well is then finished like the change itself.
#[derive(Debug, Clone)]
pub(crate) struct StagedFileRecorder(mpsc::UnboundedSender<StagedFile>);

impl StagedFileRecorder {
    /// With the end at which the files arrive.
    pub(super) fn channel() -> (Self, mpsc::UnboundedReceiver<StagedFile>) {
        let (requests, requested) = mpsc::unbounded_channel();
        (Self(requests), requested)
    }

    /// Returns when the ledger has stored it, or cannot. Blocks.
    pub(super) fn record(&self, effect: &EffectId, file: FileId) {
        let (stored, answer) = oneshot::channel();
        // Nobody answers once recovery is given up; the file is then as unknown as without a ledger.
        if self.0.send(StagedFile { effect: effect.clone(), file, stored }).is_ok() {
            let _ = answer.blocking_recv();
        }
    }
}

/// A file that is ready, and whom to tell that it is stored.
#[derive(Debug)]
pub(super) struct StagedFile {
    effect: EffectId,
    file: FileId,
    stored: oneshot::Sender<()>,
}

impl StagedFile {
    pub(super) async fn store_in(self, ledger: &dyn Ledger) {
        let files = [(self.effect, self.file)];
        if let Err(error) = with_fault_points!("staged", ledger.record_staged_files(&files).await) {
            tracing::warn!(%error, "a file that was made ready could not be stored");
        }
        // The work may have been given up meanwhile.
        let _ = self.stored.send(());
    }
}
