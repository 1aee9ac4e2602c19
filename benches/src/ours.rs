//! The product's side: a vault, its store, and the ledger between them, as the application has it.

use std::error::Error;
use std::path::Path;

use async_trait::async_trait;
use protocol::{CallId, Change, ChangeSetId, Ended, Intent, NotePath, Timestamp, TurnId};
use store::{Store, StoreError};
use vault::ledger::{Ledger, LedgerError};
use vault::{Order, Planned, Vault};

/// A vault and its ledger.
pub(crate) struct Ours {
    vault: Vault,
    ledger: InStore,
}

impl Ours {
    /// Over the notes in `folder`, with a new database at `database`.
    pub(crate) async fn over(folder: &Path, database: &Path) -> Result<Self, Box<dyn Error>> {
        let store = Store::open(database).await?;
        Ok(Self { vault: Vault::open(folder)?, ledger: InStore(store) })
    }

    /// Gives each of these notes new bytes, or makes it when it has none before, as one change set.
    pub(crate) async fn edit(
        &self,
        notes: impl IntoIterator<Item = (&str, Option<&[u8]>, &[u8])>,
    ) -> Result<(), Box<dyn Error>> {
        let planned = |(path, before, after): (&str, Option<&[u8]>, &[u8])| {
            let path = NotePath::parse(path)?;
            let change = match before {
                Some(before) => Change::replace(path, before, after),
                None => Change::create(path, after),
            };
            let (turn, call) = (TurnId::from("turn"), CallId::from("call"));
            Ok(Planned { change, turn, call, unit: None })
        };
        let changes = notes.into_iter().map(planned).collect::<Result<_, protocol::PathError>>()?;
        let change_set = ChangeSetId::from(uuid::Uuid::now_v7());
        let applied = self.vault.apply(Order { change_set, changes }, &self.ledger).await?;
        match applied.problems.into_iter().next() {
            Some((_, problem)) => Err(problem.into()),
            None => Ok(()),
        }
    }
}

struct InStore(Store);

#[async_trait]
impl Ledger for InStore {
    async fn intend(&self, intents: &[Intent]) -> Result<(), LedgerError> {
        self.0.intend(intents, Timestamp(0)).await.map_err(told)
    }

    async fn settle(&self, ended: &[Ended]) -> Result<(), LedgerError> {
        self.0.settle(ended).await.map_err(told)
    }

    async fn open(&self) -> Result<Vec<Intent>, LedgerError> {
        self.0.open_intents().await.map_err(told)
    }
}

fn told(error: StoreError) -> LedgerError {
    LedgerError(error.to_string())
}
