//! One open vault: its notes, its conversations, its turns, its link. Closing it joins them all.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use desktop::Keyring;
use hub::{HubEvent, HubHandle, Timing};
use llm::Pace;
use llm::registry::ToolRegistry;
use llm::service::{LlmService, ServiceParts};
use protocol::{
    AppEvent, ConversationId, Ending, HubState, HubStatus, OpenTurn, TurnStatus, UserError, VaultId,
};
use store::Store;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{TaskTracker, task_tracker::TaskTrackerToken};
use tools::catalog::{Shelf, catalog};
use vault::{Progress, Vault};

use crate::announce::{Announcer, News};
use crate::aside::aside;
use crate::config::Config;
use crate::context_use::ContextUses;
use crate::data_dir::DataDir;
use crate::describing::Writing;
use crate::enter::{Entered, entered};
use crate::feed::Feed;
use crate::home::{Home, copied};
use crate::indexing::Indexing;
use crate::link::Linking;
use crate::lock::VaultLock;
use crate::ports::archive::StoreArchive;
use crate::ports::changes::VaultChanges;
use crate::ports::desk::{OpenNote, TurnDesk};
use crate::ports::earlier::Recollection;
use crate::ports::host::AppHost;
use crate::ports::questions::StoreQuestions;
use crate::ports::transcript::StoreTranscript;
use crate::privacy::Keeper;
use crate::profile::Registered;
use crate::provider::Answering;
use crate::purpose::Purpose;
use crate::recent::Recent;
use crate::shown::Shown;
use crate::trouble::user_error;
use crate::watching::Noticed;
use crate::works::Works;
use crate::{config, door, emptied, history, hub_name, inbox, link, outbox, recover};

/// How long closing waits for tasks to come home.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a vault needs from the application around it.
pub(crate) struct Surroundings {
    pub(crate) data: DataDir,
    pub(crate) keyring: Keyring,
    /// Rung when the user is not to be asked to unlock it any more.
    pub(crate) unlocking: Notify,
    pub(crate) config: Config,
    pub(crate) feed: Feed,
    pub(crate) desk: OpenNote,
    pub(crate) answering: Answering,
    pub(crate) purpose: Purpose,
    /// Of the clocks of models, of the hub, and of what is noticed.
    pub(crate) pace: Pace,
    /// Rung when a second window is started on the vault; a host without a window has no door.
    pub(crate) door: OnceLock<Arc<Notify>>,
    pub(crate) describing: Writing,
    pub(crate) works: Works,
}

/// An open vault. Everything it spawned is joined by [`OpenVault::close`].
pub(crate) struct OpenVault {
    /// By which the window names it.
    pub(crate) id: VaultId,
    pub(crate) vault: Vault,
    /// What the notes hold, for searches.
    pub(crate) indexing: Indexing,
    /// Keeps private notes from models.
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) service: LlmService,
    /// Who answers from now on.
    pub(crate) answering: Answering,
    pub(crate) desk: OpenNote,
    pub(crate) feed: Feed,
    pub(crate) works: Works,
    pub(crate) hub: HubHandle,
    /// Rung when messages of the hub were stored.
    pub(crate) arrivals: Notify,
    /// Rung when notifications were queued.
    pub(crate) bell: Arc<Notify>,
    /// Rung when there may be a conversation to tell of.
    pub(crate) untold: Notify,
    /// How full the context window is with each conversation.
    pub(crate) context_uses: ContextUses,
    /// For the announcer.
    pub(crate) news: mpsc::UnboundedSender<News>,
    /// Held while a plan or a verdict is carried out: neither sees the other half-way.
    pub(crate) deciding: Arc<tokio::sync::Mutex<()>>,
    /// The verdict that is carried out, or was last, and the conversation it is about.
    applying: Mutex<Option<(ConversationId, Progress)>>,
    /// Held while earlier versions are being forgotten.
    pub(crate) forgetting: tokio::sync::Mutex<()>,
    /// Held while the window is told about the note that it shows.
    pub(crate) shown: tokio::sync::Mutex<Option<Shown>>,
    /// Which notes were shown lately.
    pub(crate) recent: Recent,
    /// What was noticed of the folder.
    pub(crate) noticed: Noticed,
    /// Of its clocks.
    pub(crate) pace: Pace,
    hub_status: Mutex<HubStatus>,
    /// Where its data is.
    pub(crate) home: PathBuf,
    pub(crate) sample: bool,
    tasks: TaskTracker,
    cancel: CancellationToken,
    _lock: Arc<VaultLock>,
    /// How far the token for the hub was looked for.
    pub(crate) linking: Mutex<Linking>,
}

/// An open vault in use by a request: closing it waits for that.
pub(crate) struct InUse {
    open: Arc<OpenVault>,
    _token: TaskTrackerToken,
}

impl std::ops::Deref for InUse {
    type Target = Arc<OpenVault>;

    fn deref(&self) -> &Self::Target {
        &self.open
    }
}

impl OpenVault {
    /// Opens the folder, puts right what was cut, and lets queued work go on. The problems are
    /// things the user should hear of; they do not keep the vault closed.
    pub(crate) async fn open(
        folder: &Path,
        around: &Surroundings,
    ) -> Result<(Arc<Self>, Vec<UserError>), UserError> {
        let Entered { vault, home, lock } = entered(folder, &around.data, around.purpose).await?;
        let dir = home.dir.clone();
        config::let_read(&vault, &around.config.get());
        let indexing =
            Indexing::new(&vault, around.config.private_rules(), &around.data.index_of(&dir));
        let recent = Recent::of(&dir);
        let (store, emptied) = emptied::opened(&vault, &dir).await?;
        let mut problems: Vec<UserError> =
            copied(folder, &home).into_iter().chain(emptied).collect();
        problems.extend(recover::recover(&vault, &store, &around.config.get()).await?);
        let link = match around.purpose {
            Purpose::Stay | Purpose::Serve => link::of_vault(&vault, &dir, around).await,
            Purpose::Ask | Purpose::AskAndWrite => Ok(None),
        };
        let link = link.unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        around.desk.clear();
        let home = (home, lock);
        let (open, ears) = Self::assemble(vault, indexing, recent, store, home, around)?;
        if around.purpose.stays() {
            // Before anybody listens to the hub: what comes in now must not be begun twice.
            problems.extend(open.go_on().await.err());
            open.spawn(Arc::clone(&open).tend_history(history::KEPT));
            open.spawn(Arc::clone(&open).tend_conversations());
            open.spawn(Arc::clone(&open).tell_gists(around.pace));
        }
        // For one question too: a note that becomes private meanwhile is not told from the index.
        open.spawn(Arc::clone(&open).watch());
        if let Some(knocked) = around.door.get() {
            open.spawn(door::answer(dir, Arc::clone(knocked)));
        }
        open.spawn(Arc::clone(&open).keep_index(around.door.get().is_some()));
        open.listen(ears);
        open.link_to(link, around);
        Ok((open, problems))
    }

    fn assemble(
        vault: Vault,
        indexing: Indexing,
        recent: Recent,
        store: Store,
        (home, lock): (Home, Arc<VaultLock>),
        around: &Surroundings,
    ) -> Result<(Arc<Self>, Ears), UserError> {
        let (tasks, cancel) = (TaskTracker::new(), CancellationToken::new());
        let (bell, deciding, recollection) = (Arc::default(), Arc::default(), Arc::default());
        let keeper = Keeper::new(&vault, &indexing.index, around.config.private_rules());
        let (news, heard) = mpsc::unbounded_channel();
        let registry = Arc::new(registry(&store, &indexing, &keeper, &news)?);
        let service = LlmService::new(ServiceParts {
            registry: Arc::clone(&registry),
            transcript: transcript(&store, &bell, &keeper, &recollection, &around.config),
            changes: Arc::new(VaultChanges {
                vault: vault.clone(),
                indexing: indexing.clone(),
                store: store.clone(),
                config: around.config.clone(),
                purpose: around.purpose,
                news: news.clone(),
                recollection,
                deciding: Arc::clone(&deciding),
                keeper: Arc::clone(&keeper),
                _lock: Arc::clone(&lock),
            }),
            host: host(&store, &keeper, around, &registry, &news),
            tasks: tasks.clone(),
            cancel: cancel.clone(),
            pace: around.pace,
        });
        let (hub, hub_events) = linked(&tasks, &cancel, around.pace);
        let open = Self {
            sample: vault.folder() == around.data.sample(),
            vault,
            indexing,
            keeper,
            store,
            config: around.config.clone(),
            service,
            answering: around.answering.clone(),
            desk: around.desk.clone(),
            feed: around.feed.clone(),
            works: around.works.clone(),
            hub,
            arrivals: Notify::new(),
            bell,
            untold: Notify::new(),
            context_uses: ContextUses::default(),
            news,
            deciding,
            applying: Mutex::default(),
            forgetting: tokio::sync::Mutex::default(),
            shown: tokio::sync::Mutex::default(),
            recent,
            noticed: Noticed::default(),
            pace: around.pace,
            hub_status: Mutex::new(HubStatus::off()),
            id: home.id,
            home: home.dir,
            tasks,
            cancel,
            _lock: lock,
            linking: Mutex::default(),
        };
        Ok((Arc::new(open), Ears { news: heard, hub_events }))
    }

    fn listen(self: &Arc<Self>, ears: Ears) {
        let (ended, endings) = mpsc::unbounded_channel();
        let announcer =
            Announcer::new(self.store.clone(), self.feed.clone(), self.context_uses.clone());
        self.spawn(announcer.run(ears.news, ended));
        self.spawn(Arc::clone(self).after_turns(endings));
        let (state, watched) = watch::channel(HubState::Off);
        self.spawn(inbox::receive(Arc::clone(self), ears.hub_events, state));
        self.spawn(inbox::work(Arc::clone(self)));
        self.spawn(outbox::deliver(Arc::clone(self), watched, self.pace));
    }

    /// Keeps the vault from being closed while a request works on it.
    pub(crate) fn in_use(self: &Arc<Self>) -> InUse {
        InUse { open: Arc::clone(self), _token: self.tasks.token() }
    }

    /// Tells the announcer what happened.
    pub(crate) fn announce(&self, news: News) {
        // Nobody listens once the vault is being closed; then the news are of no use.
        let _ = self.news.send(news);
    }

    /// Resolves when all that happened so far is in the feed, or the vault is being closed.
    pub(crate) async fn caught_up(&self) {
        let (asked, told) = oneshot::channel();
        self.announce(News::CaughtUp(asked));
        let _ = told.await;
    }

    /// Runs until it is done or the vault is closed, whichever is first.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let cancel = self.cancel.clone();
        self.tasks.spawn(async move { cancel.run_until_cancelled(task).await });
    }

    /// What `work` comes to; `None` if the vault is closed before.
    pub(crate) async fn while_open<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.cancel.run_until_cancelled(work).await
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
            self.untold.notify_one();
            if ending.status == TurnStatus::Failed && turn.origin.is_hub() {
                let why = ending.error.unwrap_or_else(|| UserError::other("It failed."));
                if let Err(error) = inbox::failed(&self, &turn, &why).await {
                    self.feed.tell(AppEvent::Problem { error });
                }
            }
        }
    }

    /// Takes note that a verdict about a conversation is carried out until it is stopped.
    pub(crate) fn applying(&self, conversation: &ConversationId) -> Progress {
        let progress = Progress::default();
        let now = Some((conversation.clone(), progress.clone()));
        *self.applying.lock().unwrap_or_else(PoisonError::into_inner) = now;
        progress
    }

    /// Stops what runs in a conversation: its turn, and the verdict that is carried out there. The
    /// note that is being written is finished.
    pub(crate) fn stop(&self, conversation: &ConversationId) {
        self.service.stop(conversation);
        let applying = self.applying.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, progress)) = applying.as_ref().filter(|(about, _)| about == conversation) {
            progress.stop();
        }
    }

    /// Makes a hub name this vault's, or says whose it is. The sample takes none.
    pub(crate) async fn claim_hub_name(&self, data: &DataDir, name: &str) -> Result<(), UserError> {
        if self.sample {
            return Ok(());
        }
        let (data, home, name) = (data.clone(), self.home.clone(), name.to_owned());
        aside(move || hub_name::claim(&data, &home, &name)).await?
    }

    /// How the link stands.
    pub(crate) fn hub_status(&self) -> HubStatus {
        self.hub_status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes how the link stands, and tells the window.
    pub(crate) fn set_hub_status(&self, status: HubStatus) {
        let status = self.with_keyring(status);
        *self.hub_status.lock().unwrap_or_else(PoisonError::into_inner) = status.clone();
        self.feed.tell(AppEvent::HubChanged { hub: status });
    }

    /// Stops intake, cancels, joins. Returns how many tasks and requests did not come home in time.
    pub(crate) async fn close(&self) -> usize {
        self.cancel.cancel();
        self.indexing.stop();
        self.tasks.close();
        let left = match tokio::time::timeout(PATIENCE, self.tasks.wait()).await {
            Ok(()) => 0,
            Err(_) => self.tasks.len(),
        };
        self.store.clone().close().await;
        self.feed.nothing_is_written();
        self.feed.tell(AppEvent::HubChanged { hub: HubStatus::off() });
        left
    }
}

/// The link to no hub yet, with its clocks at this pace.
fn linked(
    tasks: &TaskTracker,
    cancel: &CancellationToken,
    pace: Pace,
) -> (HubHandle, mpsc::Receiver<HubEvent>) {
    hub::start_timed(tasks, cancel.clone(), None, Timing::default().faster(pace.times()))
}

fn host(
    store: &Store,
    keeper: &Arc<Keeper>,
    around: &Surroundings,
    registry: &ToolRegistry,
    news: &mpsc::UnboundedSender<News>,
) -> Arc<AppHost> {
    Arc::new(AppHost {
        keeper: Arc::clone(keeper),
        store: store.clone(),
        config: around.config.clone(),
        answering: around.answering.clone(),
        tools: registered(registry),
        news: news.clone(),
    })
}

fn transcript(
    store: &Store,
    bell: &Arc<Notify>,
    keeper: &Arc<Keeper>,
    recollection: &Arc<Recollection>,
    config: &Config,
) -> Arc<StoreTranscript> {
    keeper.know_past(store.clone());
    let (bell, keeper) = (Arc::clone(bell), Arc::clone(keeper));
    Arc::new(StoreTranscript {
        store: store.clone(),
        bell,
        keeper,
        config: config.clone(),
        recollection: Arc::clone(recollection),
    })
}

/// All tools, over the notes as a model may see them.
fn registry(
    store: &Store,
    indexing: &Indexing,
    keeper: &Arc<Keeper>,
    news: &mpsc::UnboundedSender<News>,
) -> Result<ToolRegistry, UserError> {
    let archive = StoreArchive { store: store.clone(), keeper: Arc::clone(keeper) };
    let (archive, desk) = (Arc::new(archive), Arc::new(TurnDesk(store.clone())));
    let index = indexing.index.clone();
    let questions = Arc::new(StoreQuestions { store: store.clone(), news: news.clone() });
    catalog(Shelf { vault: keeper.seen(), index, archive, desk, questions })
        .map_err(|error| UserError::other(error.to_string()))
}

/// All tools there are.
fn registered(registry: &ToolRegistry) -> Vec<Registered> {
    let one = |name: &str| Registered {
        name: name.to_owned(),
        changes_notes: registry.changes_notes(name),
    };
    registry.names().into_iter().map(one).collect()
}

/// What an open vault listens to.
struct Ears {
    news: mpsc::UnboundedReceiver<News>,
    hub_events: mpsc::Receiver<HubEvent>,
}
