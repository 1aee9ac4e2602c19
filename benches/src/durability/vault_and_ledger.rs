//! The product's side: a vault, its store, and the ledger between them, as the application has it.

use std::error::Error;
use std::path::Path;

use app::StoreLedger;
use protocol::{CallId, Change, ChangeSetId, NotePath, TurnId};
use store::Store;
use vault::{ChangeBatch, PlannedChange, Vault};

pub(crate) struct VaultAndLedger {
    vault: Vault,
    ledger: StoreLedger,
}

impl VaultAndLedger {
    /// Over the notes in `folder`, with a new database at `database`.
    pub(crate) async fn open(folder: &Path, database: &Path) -> Result<Self, Box<dyn Error>> {
        let store = Store::open(database).await?;
        Ok(Self { vault: Vault::open(folder)?, ledger: StoreLedger(store) })
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
            Ok(PlannedChange { change, turn, call, unit: None, file: None })
        };
        let changes = notes.into_iter().map(planned).collect::<Result<_, protocol::PathError>>()?;
        let change_set = ChangeSetId::from(uuid::Uuid::now_v7());
        let applied = self.vault.apply(ChangeBatch { change_set, changes }, &self.ledger).await?;
        match applied.problems.into_iter().next() {
            Some((_, problem)) => Err(problem.into()),
            None => Ok(()),
        }
    }
}
