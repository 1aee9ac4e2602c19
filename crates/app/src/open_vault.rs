//! One open vault: its notes, its conversations, its turns, its link. Closing it joins them all.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use hub::{HubEvent, HubHandle};
use llm::service::{LlmService, ServiceParts};
use protocol::conversation::ConversationView;
use protocol::event::VaultInfo;
use protocol::{
    AppEvent, ConversationId, Ending, HubState, HubStatus, OpenTurn, TurnStatus, UserError,
};
use store::Store;
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::catalog::{Shelf, catalog};
use vault::{EntryKind, Vault};

use crate::announce::Announcer;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::feed::Feed;
use crate::lock::VaultLock;
use crate::ports::archive::StoreArchive;
use crate::ports::changes::VaultChanges;
use crate::ports::desk::OpenNote;
use crate::ports::host::AppHost;
use crate::ports::transcript::StoreTranscript;
use crate::provider::Chosen;
use crate::trouble::{not_opened, user_error};
use crate::{inbox, link, outbox, recover, review};

/// How long closing waits for tasks to come home.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a vault needs from the application around it.
pub(crate) struct Surroundings {
    pub(crate) data: DataDir,
    pub(crate) config: Config,
    pub(crate) feed: Feed,
    pub(crate) desk: OpenNote,
    pub(crate) chosen: Arc<RwLock<Chosen>>,
    /// `ask --write`.
    pub(crate) cli_may_write: bool,
}

/// An open vault. Everything it spawned is joined by [`OpenVault::close`].
pub(crate) struct OpenVault {
    pub(crate) vault: Vault,
    pub(crate) store: Store,
    pub(crate) service: LlmService,
    pub(crate) desk: OpenNote,
    pub(crate) feed: Feed,
    pub(crate) hub: HubHandle,
    /// Rung when notifications were queued.
    pub(crate) bell: Arc<Notify>,
    hub_status: Mutex<HubStatus>,
    sample: bool,
    tasks: TaskTracker,
    cancel: CancellationToken,
    _lock: VaultLock,
}

impl OpenVault {
    /// Opens the folder, puts right what was cut, and lets queued work go on. The problems are
    /// things the user should hear of; they do not keep the vault closed.
    pub(crate) async fn open(
        folder: &Path,
        around: &Surroundings,
    ) -> Result<(Arc<Self>, Vec<UserError>), UserError> {
        let vault = Vault::open(folder).map_err(|error| not_opened(&error))?;
        let dir = around.data.of_vault(vault.folder())?;
        let lock = VaultLock::take(&dir, folder)?;
        let store = Store::open(&dir.join("vaultmate.db")).await.map_err(user_error)?;
        let problems = recover::recover(&vault, &store).await?;
        let sample = vault.folder() == around.data.sample();
        let (open, ears) = Self::assemble(vault, store, lock, sample, around)?;
        open.listen(ears);
        open.go_on().await?;
        Ok((open, problems))
    }

    fn assemble(
        vault: Vault,
        store: Store,
        lock: VaultLock,
        sample: bool,
        around: &Surroundings,
    ) -> Result<(Arc<Self>, Ears), UserError> {
        let (tasks, cancel) = (TaskTracker::new(), CancellationToken::new());
        let (desk, bell) = (around.desk.clone(), Arc::new(Notify::new()));
        desk.clear();
        let registry = catalog(Shelf {
            vault: vault.clone(),
            archive: Arc::new(StoreArchive(store.clone())),
            desk: Arc::new(desk.clone()),
        })
        .map_err(|error| UserError::other(error.to_string()))?;
        let tools = registry.names().into_iter().map(|name| (name.to_owned(), registry.changes_notes(name)));
        let tools: Vec<(String, bool)> = tools.collect();
        let (news, turn_events) = mpsc::unbounded_channel();
        let service = LlmService::new(ServiceParts {
            registry: Arc::new(registry),
            transcript: Arc::new(StoreTranscript { store: store.clone(), bell: Arc::clone(&bell) }),
            changes: Arc::new(VaultChanges {
                vault: vault.clone(),
                store: store.clone(),
                config: around.config.clone(),
                active: desk.clone(),
                feed: around.feed.clone(),
                cli_may_write: around.cli_may_write,
            }),
            host: Arc::new(AppHost {
                vault: vault.clone(),
                store: store.clone(),
                config: around.config.clone(),
                chosen: Arc::clone(&around.chosen),
                tools,
                news,
            }),
            tasks: tasks.clone(),
            cancel: cancel.clone(),
            pace: llm::Pace::REAL,
        });
        let config = link::config(&around.config.get().hub);
        let (hub, hub_events) = hub::start(&tasks, cancel.clone(), config.ok().flatten());
        let hub_status = Mutex::new(HubStatus { state: HubState::Off, trouble: None });
        let feed = around.feed.clone();
        let open = Self {
            vault, store, service, desk, feed, hub, bell, hub_status, sample, tasks, cancel,
            _lock: lock,
        };
        Ok((Arc::new(open), Ears { turn_events, hub_events }))
    }

    fn listen(self: &Arc<Self>, ears: Ears) {
        let (ended, endings) = mpsc::unbounded_channel();
        let announcer =
            Announcer { store: self.store.clone(), feed: self.feed.clone(), open: HashMap::new() };
        self.spawn(announcer.run(ears.turn_events, ended));
        self.spawn(Arc::clone(self).after_turns(endings));
        let (state, watched) = watch::channel(HubState::Off);
        self.spawn(inbox::receive(Arc::clone(self), ears.hub_events, state));
        let (store, hub, bell) = (self.store.clone(), self.hub.clone(), Arc::clone(&self.bell));
        self.spawn(outbox::deliver(store, hub, bell, watched));
    }

    /// Runs until it is done or the vault is closed, whichever is first.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let cancel = self.cancel.clone();
        self.tasks.spawn(async move { cancel.run_until_cancelled(task).await });
    }

    async fn go_on(self: &Arc<Self>) -> Result<(), UserError> {
        inbox::resume(self).await?;
        for turn in self.store.open_turns().await.map_err(user_error)? {
            self.service.wake(&turn.conversation);
        }
        Ok(())
    }

    async fn after_turns(
        self: Arc<Self>,
        mut endings: mpsc::UnboundedReceiver<(OpenTurn, Ending)>,
    ) {
        while let Some((turn, ending)) = endings.recv().await {
            if ending.status == TurnStatus::Failed && turn.origin.is_hub() {
                let why = ending.error.map(|error| error.message).unwrap_or_default();
                if let Err(error) = inbox::failed(&self, &turn, &why).await {
                    self.feed.tell(AppEvent::Problem { error });
                }
            }
        }
    }

    /// Everything the chat shows of one conversation.
    pub(crate) async fn view(&self, id: &ConversationId) -> Result<ConversationView, UserError> {
        let (seq, live) = self.feed.live(id);
        let conversation = self.store.conversation(id).await.map_err(user_error)?;
        let conversation =
            conversation.ok_or_else(|| UserError::other("This conversation is not there any more."))?;
        let mut items = self.store.items(id).await.map_err(user_error)?;
        items.extend(live);
        let question = self.store.question(id).await.map_err(user_error)?;
        let review = review::standing(&self.store, id).await?;
        Ok(ConversationView { seq, conversation, items, question, review })
    }

    /// How the vault stands, for the window.
    pub(crate) async fn info(&self) -> VaultInfo {
        let vault = self.vault.clone();
        let listing = tokio::task::spawn_blocking(move || vault.list()).await;
        let notes = match listing {
            Ok(Ok(listing)) => listing.entries.iter().filter(|entry| entry.kind == EntryKind::Note).count(),
            _ => 0,
        };
        VaultInfo {
            name: self.vault.name().to_owned(),
            folder: self.vault.folder().display().to_string(),
            notes: u32::try_from(notes).unwrap_or(u32::MAX),
            writable: self.vault.is_writable(),
            sample: self.sample,
        }
    }

    /// How the link stands.
    pub(crate) fn hub_status(&self) -> HubStatus {
        self.hub_status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes how the link stands.
    pub(crate) fn set_hub_status(&self, status: HubStatus) {
        *self.hub_status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    /// Stops intake, cancels, joins. Returns how many tasks did not come home in time.
    pub(crate) async fn close(&self) -> usize {
        self.hub.configure(None);
        self.cancel.cancel();
        self.tasks.close();
        let left = match tokio::time::timeout(PATIENCE, self.tasks.wait()).await {
            Ok(()) => 0,
            Err(_) => self.tasks.len(),
        };
        self.store.clone().close().await;
        left
    }
}

/// What an open vault listens to.
struct Ears {
    turn_events: mpsc::UnboundedReceiver<(OpenTurn, llm::host::TurnEvent)>,
    hub_events: mpsc::Receiver<HubEvent>,
}
