//! What runs in the process that is killed, and in the one that puts things right afterwards.

use std::path::Path;

use app::StoreLedger;
use async_trait::async_trait;
use protocol::{CallId, Ended, Intent, IntentState, TurnId};
use serde::{Deserialize, Serialize};
use store::Store;
use vault::Vault;
use vault::ledger::{Ledger, LedgerError};

use super::scene::{ONE, Scene, scene};
use crate::plug;

/// Where the names of temporary files come from: a test must know them beforehand.
pub(super) const SEED: u64 = 7;

/// What a process said on its last line before it ended by itself.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Said {
    /// Paths that were told as done.
    pub(super) done: Vec<String>,
    /// Paths that were told as not done, and the sentence.
    pub(super) problems: Vec<(String, String)>,
    /// Why nothing was done at all.
    pub(super) refused: Option<String>,
    /// What the ledger holds about the scene's changes: path and state, in order.
    pub(super) ledger: Vec<(String, String)>,
    /// How many fault points were passed.
    pub(super) points: usize,
}

/// `act`, `recover` or `look`, in `folder` with its vault and database; prints what became of it.
pub fn run(what: &str, folder: &Path, name: &str) {
    plug::hold();
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
            "act" => act(&vault, &store, &scene(name)).await,
            "careless" => careless(&vault, &store, &scene(name)).await,
            "recover" => recover(&vault, &store).await,
            "look" => Ok(Said::default()),
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
        said = Ok(Said { refused: Some(refused.clone()), ..Said::default() });
    }
    let said = Said { points: plug::passed(), ..said.unwrap_or_default() };
    println!("{}", serde_json::to_string(&said).expect("plain text"));
}

async fn act(vault: &Vault, store: &Store, scene: &Scene) -> Result<Said, String> {
    let order = Scene::order(scene.changes(vault).await?);
    carry_out(vault, &StoreLedger(store.clone()), order).await
}

/// The control: a ledger that forgets.
async fn careless(vault: &Vault, store: &Store, scene: &Scene) -> Result<Said, String> {
    let order = Scene::order(scene.changes(vault).await?);
    carry_out(vault, &Forgetful(StoreLedger(store.clone())), order).await
}

async fn carry_out(
    vault: &Vault,
    ledger: &dyn Ledger,
    order: vault::Order,
) -> Result<Said, String> {
    let applied = vault.apply(order, ledger).await.map_err(|error| error.to_string())?;
    let problem = |(path, why): &(protocol::NotePath, vault::VaultError)| {
        (path.as_str().to_owned(), why.to_string())
    };
    Ok(Said {
        done: applied.done.iter().map(|path| path.as_str().to_owned()).collect(),
        problems: applied.problems.iter().map(problem).collect(),
        ..Said::default()
    })
}

async fn recover(vault: &Vault, store: &Store) -> Result<Said, String> {
    let recovery =
        vault.recover(&StoreLedger(store.clone())).await.map_err(|error| error.to_string())?;
    let path = |intent: &Intent| intent.change.path.as_str().to_owned();
    Ok(Said {
        done: recovery.done.iter().map(path).collect(),
        problems: recovery.problems.iter().map(|(on, why)| (path(on), why.to_string())).collect(),
        ..Said::default()
    })
}

async fn with_ledger(said: Said, store: &Store) -> Result<Said, String> {
    let rows = store.effects_of_call(&TurnId::from(ONE), &CallId::from(ONE)).await;
    let row = |(path, state): (protocol::NotePath, IntentState)| {
        (path.as_str().to_owned(), format!("{state:?}"))
    };
    let ledger = rows.map_err(|error| error.to_string())?.into_iter().map(row).collect();
    Ok(Said { ledger, ..said })
}

/// Stores what shall happen only after it has happened.
struct Forgetful(StoreLedger);

#[async_trait]
impl Ledger for Forgetful {
    async fn intend(&self, _: &[Intent]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn settle(&self, _: &[Ended]) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn open(&self) -> Result<Vec<Intent>, LedgerError> {
        self.0.open().await
    }
}
