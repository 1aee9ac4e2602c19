//! The process that undoes changes and is killed, and the one that looks afterwards: both are the
//! whole application over real files and its real database.

use std::path::{Path, PathBuf};

use app::{App, DataDir, StoreLedger};
use protocol::changes::history::{AppliedBy, AppliedSet, ChangeStatus, ListApplied, UndoResult};
use protocol::request::SendMessageRequest;
use protocol::{
    CallId, ChangeSetId, FileId, NotePath, ProviderKind, Settings, Timestamp, UserError,
};
use serde::{Deserialize, Serialize};
use store::{Store, UserChangeSet};
use vault::undo::{LedgerView, UndoRequest, VaultFile as File, VaultReader, plan_undo};
use vault::{ChangeBatch, PlannedChange, Vault};

use super::scenarios::{UndoOrRedo, UndoScenario, all_scenarios};
use crate::fault_injection::fault_points;
use crate::fault_injection::folder_tree::FolderTree;
use crate::scripted_model::{KEY, Reply, ScriptedModel};

/// The last line of a process.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct UndoChildReport {
    /// How many fault points it passed.
    pub(super) points: usize,
    /// The states, one action after the other.
    pub(super) moments: Vec<UndoSnapshot>,
}

/// The state after an action, or after a start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UndoSnapshot {
    /// Why the deed was refused, or what it could not do.
    pub(super) refused: Option<String>,
    /// All files of the vault.
    pub(super) tree: FolderTree,
    /// The list of applied changes, newest first: who made each set, and the status of each change.
    pub(super) listed: Vec<(AppliedBy, Vec<(String, ChangeStatus)>)>,
}

/// `prepare`, `act`, `careless`, `look` or `settle`, in `folder` with its vault and data.
pub fn run(what: &str, folder: &Path, name: &str) {
    fault_points::install_from_env();
    let deed =
        all_scenarios().into_iter().find(|deed| deed.name == name).expect("a deed of this name");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let moments = runtime.block_on(run_role(what, folder, &deed));
    let said = UndoChildReport { points: fault_points::passed_count(), moments };
    println!("{}", serde_json::to_string(&said).expect("plain text"));
}

async fn run_role(what: &str, folder: &Path, scenario: &UndoScenario) -> Vec<UndoSnapshot> {
    match what {
        "prepare" => prepare(folder, scenario).await,
        "careless" => {
            undo_without_intent(folder, scenario).await;
            Vec::new()
        }
        _ => {
            let app = open_app(folder).await;
            let moments = match what {
                "act" => {
                    undo_or_redo(&app, scenario, scenario.way).await.expect("it is done");
                    Vec::new()
                }
                "look" => vec![take_snapshot(&app, folder, None).await],
                "settle" => settle(&app, folder, scenario).await,
                other => panic!("`{other}` is not prepare, act, careless, look or settle"),
            };
            app.shutdown().await;
            moments
        }
    }
}

async fn open_app(folder: &Path) -> App {
    let app = App::start(DataDir::at(folder.join("data")).expect("a data directory"));
    app.open_vault(&folder.join("vault")).await.expect("the vault opens");
    app
}

/// A model changes the notes, the user accepts that and changes some by hand.
async fn prepare(folder: &Path, scenario: &UndoScenario) -> Vec<UndoSnapshot> {
    std::fs::write(folder.join("data/key"), KEY).expect("a key");
    let replies =
        vec![Reply::calls(scenario.calls.clone()), Reply::text("All of it needs your review.")];
    let model = ScriptedModel::start(replies).await;
    let app = App::start(DataDir::at(folder.join("data")).expect("a data directory"));
    let (provider, base_url) = (ProviderKind::Anthropic, model.base_url());
    let settings = Settings { provider, base_url, ..Settings::default() };
    app.save_settings(settings).await.expect("saved");
    app.open_vault(&folder.join("vault")).await.expect("the vault opens");
    let request = SendMessageRequest {
        conversation: None,
        text: "Please".to_owned(),
        answers: None,
        open_note: None,
    };
    let conversation = app.send(request).await.expect("sent");
    app.wait_until_idle(&conversation).await.expect("idle");
    let view = app.conversation(&conversation).await.expect("a view");
    if let Some(review) = view.review {
        let accepted: Vec<_> = review.notes.iter().map(|note| note.path.clone()).collect();
        let request = review.decide_request(&accepted, &[]);
        app.decide_review(&request).await.expect("applied");
    }
    app.shutdown().await;
    model.finish();
    scenario.apply_user_edits(&folder.join("vault"));
    if scenario.way == UndoOrRedo::Redo {
        let app = open_app(folder).await;
        undo_or_redo(&app, scenario, UndoOrRedo::Undo).await.expect("undone");
        app.shutdown().await;
    }
    Vec::new()
}

/// After a start; after the same deed again; after its opposite.
async fn settle(app: &App, folder: &Path, scenario: &UndoScenario) -> Vec<UndoSnapshot> {
    let opposite = match scenario.way {
        UndoOrRedo::Undo => UndoOrRedo::Redo,
        UndoOrRedo::Redo => UndoOrRedo::Undo,
    };
    let mut moments = vec![take_snapshot(app, folder, None).await];
    for way in [scenario.way, opposite] {
        let refused = match undo_or_redo(app, scenario, way).await {
            Ok(undone) if undone.conflicts.is_empty() => None,
            Ok(undone) => Some(format!("{:?}", undone.conflicts)),
            Err(error) => Some(error.message),
        };
        moments.push(take_snapshot(app, folder, refused).await);
    }
    moments
}

async fn undo_or_redo(
    app: &App,
    scenario: &UndoScenario,
    direction: UndoOrRedo,
) -> Result<UndoResult, UserError> {
    let scope = scenario.undo_scope(&applied_sets(app).await);
    match direction {
        UndoOrRedo::Undo => app.undo(&scope).await,
        UndoOrRedo::Redo => app.redo(&scope).await,
    }
}

async fn applied_sets(app: &App) -> Vec<AppliedSet> {
    let all = ListApplied { conversation: None, before: None };
    app.list_applied(&all).await.expect("a list").sets
}

async fn take_snapshot(app: &App, folder: &Path, refused: Option<String>) -> UndoSnapshot {
    let standing = |set: AppliedSet| {
        let notes = set.notes.into_iter();
        (set.by, notes.map(|note| (note.path.as_str().to_owned(), note.standing)).collect())
    };
    let listed = applied_sets(app).await.into_iter().map(standing).collect();
    UndoSnapshot { refused, tree: FolderTree::read_from(&folder.join("vault")), listed }
}

/// Where the application keeps what it knows of the vault.
pub(super) fn database_path(folder: &Path) -> PathBuf {
    let homes = std::fs::read_dir(folder.join("data/vaults")).expect("a folder of vaults");
    let home = homes.map(|home| home.expect("an entry").path()).next().expect("a vault");
    home.join("vaultmate.db")
}

/// The control: an undo is recorded only after it has happened.
async fn undo_without_intent(folder: &Path, scenario: &UndoScenario) {
    let app = open_app(folder).await;
    let scope = scenario.undo_scope(&applied_sets(&app).await);
    app.shutdown().await;
    let store = Store::open(&database_path(folder)).await.expect("a database");
    let notes = FolderReader(Vault::open(&folder.join("vault")).expect("a vault"));
    let effects = store.effects_in_scope(&scope).await.expect("effects");
    let first = effects.first().expect("an effect").clone();
    let wanted = UndoRequest::undo(effects.into_iter().map(|effect| effect.id));
    let mut past = LedgerView::new(store.effects_since(&first.id).await.expect("a past"));
    let needs: Vec<_> = past.missing_contents(&wanted).into_iter().collect();
    for (hash, content) in store.contents(&needs).await.expect("contents") {
        past.add_content(hash, content);
    }
    let taken = plan_undo(&past, &wanted, &notes);
    let (id, call) = (ChangeSetId::from("careless"), CallId::from("careless"));
    let unit = taken.changes.is_unit().then(|| call.clone());
    let plan = |change: &protocol::Change| PlannedChange {
        change: change.clone(),
        turn: first.turn.clone(),
        call: call.clone(),
        unit: unit.clone(),
        file: None,
    };
    let order = ChangeBatch {
        change_set: id.clone(),
        changes: taken.changes.changes().map(plan).collect(),
    };
    notes.0.apply(order, &StoreLedger(store.clone())).await.expect("applied");
    let undoings = taken.undone.iter();
    let undoings: Vec<_> =
        undoings.map(|undoing| (undoing.path.clone(), undoing.effect.clone(), None)).collect();
    let own = UserChangeSet {
        id: &id,
        call: &call,
        by: AppliedBy::Undo,
        reverts: &undoings,
        moved: &taken.moved,
        turn: &first.turn,
        at: Timestamp(0),
    };
    store.begin_user_change_set(&own).await.expect("noted");
    store.close().await;
}

struct FolderReader(Vault);

impl VaultReader for FolderReader {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        self.0.read_bytes(path).ok()
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.0.file_id(path)
    }

    fn files(&self) -> Vec<File> {
        let entries = self.0.list().expect("a listing").entries.into_iter();
        let standing = |entry: vault::VaultEntry| {
            let file = self.0.file_id(&entry.path)?;
            let is_folder = entry.kind == vault::EntryKind::Folder;
            Some(File { path: entry.path, size: entry.size, file, is_folder })
        };
        entries.filter_map(standing).collect()
    }
}
