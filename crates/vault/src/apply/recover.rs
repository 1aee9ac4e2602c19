//! Finding out how interrupted changes ended, and finishing them.

pub(crate) mod finish_note;
mod staged_file_recorder;

use std::collections::HashSet;

use protocol::{ChangeKind, EffectId, Intent, SettledIntent};
use tokio::sync::OwnedMutexGuard;
use tokio::task::spawn_blocking;

use crate::apply::missing_folders::MissingFolders;
use crate::apply::outcome::{FileAfter, Outcomes};
use crate::apply::{
    LedgerRecord, atomic_group, record_outcomes, record_replacements, replaced_backup,
    settled_intents, track_changed_files,
};
use crate::ledger::Ledger;
use crate::vault::ChangeLockState;
use crate::{ApplyError, Vault, VaultError};

pub(crate) use staged_file_recorder::StagedFileRecorder;

/// The outcomes of the changes that were open, in the order they were intended. Each intent names
/// its turn and call, so a caller can say of every call whether its change happened.
#[derive(Debug, Default)]
pub struct Recovery {
    /// The note holds the bytes after: found so, or finished now.
    pub done: Vec<Intent>,
    /// The note does not hold the bytes after, and why.
    pub problems: Vec<(Intent, VaultError)>,
}

impl Vault {
    /// Resolves every open intent by what is on disk. To be called before the first
    /// [`Vault::apply`] after a start; doing it twice is harmless.
    pub async fn recover(&self, ledger: &dyn Ledger) -> Result<Recovery, ApplyError> {
        let mut held = self.change_lock().lock_owned().await;
        held.unsettled = true;
        self.settle_open_intents(held, ledger).await.map(|(_, recovery)| recovery)
    }

    /// Resolves intents that were left open because the ledger could not take their outcomes, as the next
    /// [`Vault::apply`] does. Afterwards the ledger knows what was done, as far as it takes it now.
    pub async fn settle(&self, ledger: &dyn Ledger) -> Result<(), ApplyError> {
        let held = self.change_lock().lock_owned().await;
        if held.unsettled {
            self.settle_open_intents(held, ledger).await?;
        }
        Ok(())
    }

    /// In recovery, returns once the ledger has stored what is ready for this change, or cannot. Blocks.
    pub(crate) fn record_staged_file(&self, intent: &Intent, staged: FileAfter) {
        if let Some((recorder, file)) = self.staged_file_recorder.as_ref().zip(staged) {
            recorder.record(&intent.effect, file);
        }
    }

    /// The same for a caller who changes notes already.
    pub(crate) async fn settle_open_intents(
        &self,
        mut held: OwnedMutexGuard<ChangeLockState>,
        ledger: &dyn Ledger,
    ) -> Result<(OwnedMutexGuard<ChangeLockState>, Recovery), ApplyError> {
        let intents = intents_without_outcome(&mut held, ledger).await?;
        // Since the interruption somebody may have put another note there. A move or deletion
        // applies to the planned file only. An edit also applies to another file with the text it
        // was made on: after a restore from a backup all files are new.
        let keeps_to_its_file = |intent: Intent| Intent {
            is_exact: intent.change.kind() != ChangeKind::Replace
                && intent.base.is_some_and(|base| base.born.is_some()),
            ..intent
        };
        let intents: Vec<_> = intents.into_iter().map(keeps_to_its_file).collect();
        let (recorder, mut requested) = StagedFileRecorder::channel();
        let mut vault = self.with_folder_names();
        vault.staged_file_recorder = Some(recorder);
        let work = move || {
            let is_other = vault.has_unwritten_id();
            let (mut missing, mut outcomes) = (MissingFolders::of_order(&intents), Outcomes::new());
            for group in atomic_group::groups(intents) {
                let ended = match is_other {
                    true => atomic_group::park_foreign(group),
                    false => atomic_group::finish(&vault, group, &missing),
                };
                missing.record(&ended);
                outcomes.extend(ended);
            }
            track_changed_files(&vault, &outcomes);
            // A folder that may be another one than the ledger is about is left as it is.
            if !is_other {
                replaced_backup::remove_expired(&vault);
            }
            vault.release_replaced_files();
            held.unrecorded.extend(settled_intents(&outcomes));
            (held, outcomes)
        };
        let mut working = spawn_blocking(work);
        let worked = loop {
            tokio::select! {
                biased;
                Some(request) = requested.recv() => request.store_in(ledger).await,
                worked = &mut working => break worked,
            }
        };
        let (mut held, outcomes) = worked.map_err(|_| ApplyError::Interrupted)?;
        let mut recovery = Recovery::default();
        record_replacements(ledger, self).await;
        held.unsettled = record_outcomes(ledger, &mut held, &outcomes).await != LedgerRecord::All;
        for (intent, outcome) in outcomes {
            match outcome {
                Ok(_) => recovery.done.push(intent),
                Err(refusal) => recovery.problems.push((intent, refusal.why)),
            }
        }
        Ok((held, recovery))
    }
}

/// The open intents of which only the notes tell how they ended. The ledger has the outcomes of all others
/// when this returns.
async fn intents_without_outcome(
    held: &mut ChangeLockState,
    ledger: &dyn Ledger,
) -> Result<Vec<Intent>, ApplyError> {
    let mut open = ledger.open_intents().await?;
    let is_open = |ended: &SettledIntent| open.iter().any(|intent| intent.effect == ended.effect);
    // The ledger may have an outcome although it failed to say so, and may have forgotten the change.
    held.unrecorded.retain(is_open);
    if !held.unrecorded.is_empty() {
        ledger.record_outcomes(&held.unrecorded).await?;
        let recorded: HashSet<EffectId> =
            held.unrecorded.drain(..).map(|ended| ended.effect).collect();
        open.retain(|intent| !recorded.contains(&intent.effect));
    }
    Ok(open)
}
