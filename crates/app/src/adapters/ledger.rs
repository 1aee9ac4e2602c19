//! Implements `vault::ledger::Ledger` over the store.

use async_trait::async_trait;
use protocol::{EffectId, FileId, FileReplacement, Intent, SettledIntent, UserError};
use store::{Store, StoreError};
use vault::ledger::{Ledger, LedgerError};

use crate::support::clock::now;

/// The ledger of one vault.
pub struct StoreLedger(
    /// The vault's database.
    pub Store,
);

#[async_trait]
impl Ledger for StoreLedger {
    async fn record_intents(&self, intents: &[Intent]) -> Result<(), LedgerError> {
        self.0.record_intents(intents, now()).await.map_err(ledger_error)
    }

    async fn record_staged_files(&self, files: &[(EffectId, FileId)]) -> Result<(), LedgerError> {
        self.0.record_staged_files(files).await.map_err(ledger_error)
    }

    async fn record_replacements(&self, replaced: &[FileReplacement]) -> Result<(), LedgerError> {
        self.0.add_successions(replaced).await.map_err(ledger_error)
    }

    async fn record_outcomes(&self, ended: &[SettledIntent]) -> Result<(), LedgerError> {
        self.0.record_outcomes(ended).await.map_err(ledger_error)
    }

    async fn open_intents(&self) -> Result<Vec<Intent>, LedgerError> {
        self.0.open_intents().await.map_err(ledger_error)
    }
}

fn ledger_error(error: StoreError) -> LedgerError {
    LedgerError(UserError::from(error).message)
}
