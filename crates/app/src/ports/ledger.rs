//! `vault`'s ledger, kept in the store.

use async_trait::async_trait;
use protocol::{EffectId, Ended, FileId, Intent};
use store::Store;
use vault::ledger::{Ledger, LedgerError};

use crate::clock::now;
use crate::trouble::user_error;

/// The ledger of one vault.
pub struct StoreLedger(
    /// The vault's database.
    pub Store,
);

#[async_trait]
impl Ledger for StoreLedger {
    async fn intend(&self, intents: &[Intent]) -> Result<(), LedgerError> {
        self.0.intend(intents, now()).await.map_err(told)
    }

    async fn staged(&self, files: &[(EffectId, FileId)]) -> Result<(), LedgerError> {
        self.0.stage(files).await.map_err(told)
    }

    async fn settle(&self, ended: &[Ended]) -> Result<(), LedgerError> {
        self.0.settle(ended).await.map_err(told)
    }

    async fn open(&self) -> Result<Vec<Intent>, LedgerError> {
        self.0.open_intents().await.map_err(told)
    }
}

fn told(error: store::StoreError) -> LedgerError {
    LedgerError(user_error(error).message)
}
