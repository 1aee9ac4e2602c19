//! The process that takes back and is killed, and the one that looks afterwards: both are the whole
//! application over real files and its real database.

use std::path::{Path, PathBuf};

use app::{App, DataDir, StoreLedger};
use protocol::applied::{AppliedBy, AppliedSet, ListApplied, Standing, Undone};
use protocol::request::SendMessage;
use protocol::{
    CallId, ChangeSetId, FileId, NotePath, ProviderKind, Settings, Timestamp, UserError,
};
use serde::{Deserialize, Serialize};
use store::{OwnSet, Store};
use vault::undo::{Notes, Past, Standing as File, Wanted, take_back};
use vault::{Order, Planned, Vault};

use super::deed::{Deed, Way, deeds};
use crate::faults::tree::Tree;
use crate::plug;
use crate::scripted_model::{KEY, Reply, ScriptedModel};

/// What a process says on its last line.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Said {
    /// How many fault points it passed.
    pub(super) points: usize,
    /// What was there, one deed after the other.
    pub(super) moments: Vec<Moment>,
}

/// What was there after a deed, or after a start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Moment {
    /// Why the deed was refused, or what it could not do.
    pub(super) refused: Option<String>,
    /// The folder.
    pub(super) tree: Tree,
    /// What is listed as applied, newest first: whose doing, and how each change stands.
    pub(super) listed: Vec<(AppliedBy, Vec<(String, Standing)>)>,
}

/// `prepare`, `act`, `careless`, `look` or `settle`, in `folder` with its vault and data.
pub fn run(what: &str, folder: &Path, name: &str) {
    plug::hold();
    let deed = deeds().into_iter().find(|deed| deed.name == name).expect("a deed of this name");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let moments = runtime.block_on(play(what, folder, &deed));
    let said = Said { points: plug::passed(), moments };
    println!("{}", serde_json::to_string(&said).expect("plain text"));
}

async fn play(what: &str, folder: &Path, deed: &Deed) -> Vec<Moment> {
    match what {
        "prepare" => prepare(folder, deed).await,
        "careless" => {
            careless(folder, deed).await;
            Vec::new()
        }
        _ => {
            let app = opened(folder).await;
            let moments = match what {
                "act" => {
                    done(&app, deed, deed.way).await.expect("it is done");
                    Vec::new()
                }
                "look" => vec![moment(&app, folder, None).await],
                "settle" => settle(&app, folder, deed).await,
                other => panic!("`{other}` is not prepare, act, careless, look or settle"),
            };
            app.shutdown().await;
            moments
        }
    }
}

async fn opened(folder: &Path) -> App {
    let app = App::start(DataDir::at(folder.join("data")).expect("a data directory"));
    app.open_vault(&folder.join("vault")).await.expect("the vault opens");
    app
}

/// A model changes the notes, the user accepts that and changes some by hand.
async fn prepare(folder: &Path, deed: &Deed) -> Vec<Moment> {
    std::fs::write(folder.join("data/key"), KEY).expect("a key");
    let replies = vec![Reply::calls(deed.calls.clone()), Reply::text("All of it waits for you.")];
    let model = ScriptedModel::start(replies).await;
    let app = App::start(DataDir::at(folder.join("data")).expect("a data directory"));
    let (provider, base_url) = (ProviderKind::Anthropic, model.base_url());
    let settings = Settings { provider, base_url, ..Settings::default() };
    app.save_settings(settings).await.expect("saved");
    app.open_vault(&folder.join("vault")).await.expect("the vault opens");
    let request = SendMessage {
        conversation: None,
        text: "Please".to_owned(),
        answers: None,
        open_note: None,
    };
    let conversation = app.send(request).await.expect("sent");
    app.idle(&conversation).await.expect("idle");
    let view = app.conversation(&conversation).await.expect("a view");
    if let Some(review) = view.review {
        let accepted: Vec<_> = review.notes.iter().map(|note| note.path.clone()).collect();
        let request = review.verdict(&accepted, &[]);
        app.decide_review(&request).await.expect("applied");
    }
    app.shutdown().await;
    model.finish();
    deed.change_by_hand(&folder.join("vault"));
    if deed.way == Way::Redo {
        let app = opened(folder).await;
        done(&app, deed, Way::Undo).await.expect("taken back");
        app.shutdown().await;
    }
    Vec::new()
}

/// After a start; after the same deed again; after its opposite.
async fn settle(app: &App, folder: &Path, deed: &Deed) -> Vec<Moment> {
    let opposite = match deed.way {
        Way::Undo => Way::Redo,
        Way::Redo => Way::Undo,
    };
    let mut moments = vec![moment(app, folder, None).await];
    for way in [deed.way, opposite] {
        let refused = match done(app, deed, way).await {
            Ok(undone) if undone.conflicts.is_empty() => None,
            Ok(undone) => Some(format!("{:?}", undone.conflicts)),
            Err(error) => Some(error.message),
        };
        moments.push(moment(app, folder, refused).await);
    }
    moments
}

async fn done(app: &App, deed: &Deed, way: Way) -> Result<Undone, UserError> {
    let scope = deed.scope(&applied(app).await);
    match way {
        Way::Undo => app.undo(&scope).await,
        Way::Redo => app.redo(&scope).await,
    }
}

async fn applied(app: &App) -> Vec<AppliedSet> {
    let all = ListApplied { conversation: None, before: None };
    app.list_applied(&all).await.expect("a list").sets
}

async fn moment(app: &App, folder: &Path, refused: Option<String>) -> Moment {
    let standing = |set: AppliedSet| {
        let notes = set.notes.into_iter();
        (set.by, notes.map(|note| (note.path.as_str().to_owned(), note.standing)).collect())
    };
    let listed = applied(app).await.into_iter().map(standing).collect();
    Moment { refused, tree: Tree::at(&folder.join("vault")), listed }
}

/// Where the application keeps what it knows of the vault.
pub(super) fn database(folder: &Path) -> PathBuf {
    let homes = std::fs::read_dir(folder.join("data/vaults")).expect("a folder of vaults");
    let home = homes.map(|home| home.expect("an entry").path()).next().expect("a vault");
    home.join("vaultmate.db")
}

/// The control: what is taken back is noted only after it has happened.
async fn careless(folder: &Path, deed: &Deed) {
    let app = opened(folder).await;
    let scope = deed.scope(&applied(&app).await);
    app.shutdown().await;
    let store = Store::open(&database(folder)).await.expect("a database");
    let notes = Here(Vault::open(&folder.join("vault")).expect("a vault"));
    let effects = store.effects_in(&scope).await.expect("effects");
    let first = effects.first().expect("an effect").clone();
    let wanted = Wanted::back(effects.into_iter().map(|effect| effect.id));
    let mut past = Past::new(store.past(&first.id).await.expect("a past"));
    let needs: Vec<_> = past.needs(&wanted).into_iter().collect();
    for (hash, content) in store.contents(&needs).await.expect("contents") {
        past.know(hash, content);
    }
    let taken = take_back(&past, &wanted, &notes);
    let (id, call) = (ChangeSetId::from("careless"), CallId::from("careless"));
    let unit = taken.changes.is_unit().then(|| call.clone());
    let plan = |change: &protocol::Change| Planned {
        change: change.clone(),
        turn: first.turn.clone(),
        call: call.clone(),
        unit: unit.clone(),
        file: None,
    };
    let order =
        Order { change_set: id.clone(), changes: taken.changes.changes().map(plan).collect() };
    notes.0.apply(order, &StoreLedger(store.clone())).await.expect("applied");
    let undoings = taken.undoings.iter();
    let undoings: Vec<_> =
        undoings.map(|undoing| (undoing.path.clone(), undoing.effect.clone(), None)).collect();
    let own = OwnSet {
        id: &id,
        by: AppliedBy::Undo,
        undoings: &undoings,
        moved: &taken.moved,
        turn: &first.turn,
        at: Timestamp(0),
    };
    store.begin_own_set(&own).await.expect("noted");
    store.close().await;
}

struct Here(Vault);

impl Notes for Here {
    fn bytes(&self, path: &NotePath) -> Option<Vec<u8>> {
        self.0.bytes(path).ok()
    }

    fn file(&self, path: &NotePath) -> Option<FileId> {
        self.0.file_id(path)
    }

    fn files(&self) -> Vec<File> {
        let entries = self.0.list().expect("a listing").entries.into_iter();
        let standing = |entry: vault::Entry| {
            let file = self.0.file_id(&entry.path)?;
            let is_folder = entry.kind == vault::EntryKind::Folder;
            Some(File { path: entry.path, size: entry.size, file, is_folder })
        };
        entries.filter_map(standing).collect()
    }
}
