//! The work of the process that is killed, and of the one that recovers afterwards.

use std::path::Path;

use app::StoreLedger;
use async_trait::async_trait;
use protocol::{CallId, Intent, SettledIntent, TurnId};
use serde::{Deserialize, Serialize};
use store::{CallEffect, Store};
use vault::Vault;
use vault::ledger::{Ledger, LedgerError};

use super::scenarios::{CALL_ID, FaultScenario, scenario_named};
use crate::fault_injection::fault_points;

/// Where the names of temporary files come from: a test must know them beforehand.
pub(super) const SEED: u64 = 7;

/// The last line of a process before it ended normally.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ChildReport {
    /// Paths that were told as done.
    pub(super) done: Vec<String>,
    /// Paths that were told as not done, and the sentence.
    pub(super) problems: Vec<(String, String)>,
    /// Why nothing was done at all.
    pub(super) refused: Option<String>,
    /// The record of the ledger about the scene's changes: path and state, in order.
    pub(super) ledger: Vec<(String, String)>,
    /// How many fault points were passed.
    pub(super) points: usize,
}

/// `act`, `recover` or `look`, in `folder` with its vault and database; prints what became of it.
pub fn run(what: &str, folder: &Path, name: &str) {
    fault_points::install_from_env();
    fastrand::seed(SEED);
    // Two threads do all the work, as ever; one more for SQLite.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .expect("a runtime");
    let mut said = runtime.block_on(async {
        let vault = Vault::open(&folder.join("vault")).map_err(|error| error.to_string())?;
        let opened = Store::open(&folder.join("data/vault.db")).await;
        let store = opened.map_err(|error| format!("{error}."))?;
        let said = match what {
            "act" => apply_changes(&vault, &store, &scenario_named(name)).await,
            "careless" => apply_without_ledger(&vault, &store, &scenario_named(name)).await,
            "recover" => recover(&vault, &store).await,
            "look" => Ok(ChildReport::default()),
            other => panic!("`{other}` is not act, recover or look"),
        };
        let said = match said {
            Ok(said) if what != "act" => with_ledger(said, &store).await,
            said => said,
        };
        store.close().await;
        said
    });
    if let Err(refused) = &said {
        said = Ok(ChildReport { refused: Some(refused.clone()), ..ChildReport::default() });
    }
    let said = ChildReport { points: fault_points::passed_count(), ..said.unwrap_or_default() };
    println!("{}", serde_json::to_string(&said).expect("plain text"));
}

async fn apply_changes(
    vault: &Vault,
    store: &Store,
    scene: &FaultScenario,
) -> Result<ChildReport, String> {
    let order = FaultScenario::change_batch(scene.changes(vault).await?);
    apply_batch(vault, &StoreLedger(store.clone()), order).await
}

/// The control: a ledger that keeps nothing.
async fn apply_without_ledger(
    vault: &Vault,
    store: &Store,
    scene: &FaultScenario,
) -> Result<ChildReport, String> {
    let order = FaultScenario::change_batch(scene.changes(vault).await?);
    apply_batch(vault, &LossyLedger(StoreLedger(store.clone())), order).await
}

async fn apply_batch(
    vault: &Vault,
    ledger: &dyn Ledger,
    batch: vault::ChangeBatch,
) -> Result<ChildReport, String> {
    let applied = vault.apply(batch, ledger).await.map_err(|error| error.to_string())?;
    let problem = |(path, why): &(protocol::NotePath, vault::VaultError)| {
        (path.as_str().to_owned(), why.to_string())
    };
    Ok(ChildReport {
        done: applied.done.iter().map(|path| path.as_str().to_owned()).collect(),
        problems: applied.problems.iter().map(problem).collect(),
        ..ChildReport::default()
    })
}

async fn recover(vault: &Vault, store: &Store) -> Result<ChildReport, String> {
    let recovery =
        vault.recover(&StoreLedger(store.clone())).await.map_err(|error| error.to_string())?;
    let path = |intent: &Intent| intent.change.path.as_str().to_owned();
    Ok(ChildReport {
        done: recovery.done.iter().map(path).collect(),
        problems: recovery.problems.iter().map(|(on, why)| (path(on), why.to_string())).collect(),
        ..ChildReport::default()
    })
}

async fn with_ledger(said: ChildReport, store: &Store) -> Result<ChildReport, String> {
    let rows = store.effects_of_call(&TurnId::from(CALL_ID), &CallId::from(CALL_ID)).await;
    let row = |effect: CallEffect| (effect.path.as_str().to_owned(), format!("{:?}", effect.state));
    let ledger = rows.map_err(|error| error.to_string())?.into_iter().map(row).collect();
    Ok(ChildReport { ledger, ..said })
}

/// Stores what shall happen only after it has happened.
struct LossyLedger(StoreLedger);

#[async_trait]
impl Ledger for LossyLedger {
    async fn record_intents(&self, _: &[Intent]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn record_outcomes(&self, _: &[SettledIntent]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn open_intents(&self) -> Result<Vec<Intent>, LedgerError> {
        self.0.open_intents().await
    }
}
