//! Where intents are kept before a file is touched, and how they ended.

use async_trait::async_trait;
use protocol::{EffectId, FileId, FileReplacement, Intent, SettledIntent};
use thiserror::Error;

/// The ledger could not be written or read; the sentence says what and why.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct LedgerError(pub String);

/// Implemented over SQLite by the application and in memory by the tests.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Stores all intents, with the text before and after, in one commit that is durable when it
    /// returns.
    async fn record_intents(&self, intents: &[Intent]) -> Result<(), LedgerError>;

    /// Stores the staged file of each of these intents, all in one commit, before any of them gets
    /// the note's name: by it recovery tells the changed note from a copy that somebody put in its
    /// place. Those of several changes are durable when it returns. That of a single one may be lost in a power
    /// cut; recovery then goes by what else it finds, and an undo asks which note it is.
    async fn record_staged_files(&self, files: &[(EffectId, FileId)]) -> Result<(), LedgerError> {
        let _ = files;
        Ok(())
    }

    /// Stores, in order, that notes are in other files now, which changes of ours put in their places without an effect of
    /// their own: earlier changes of these notes can be undone all the same.
    async fn record_replacements(&self, replaced: &[FileReplacement]) -> Result<(), LedgerError> {
        let _ = replaced;
        Ok(())
    }

    /// Notes how intents ended, all in one commit. May be lost with the power; recovery finds out
    /// again.
    async fn record_outcomes(&self, ended: &[SettledIntent]) -> Result<(), LedgerError>;

    /// Intents that are still open, in the order they were stored.
    async fn open_intents(&self) -> Result<Vec<Intent>, LedgerError>;
}
