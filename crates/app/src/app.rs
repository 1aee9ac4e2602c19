//! The application as its hosts see it: one value, plain methods, sentences for errors.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use desktop::{Bus, Keyring};
use llm::Pace;
use protocol::request::{DecideReview, NoteText, SendMessage};
use protocol::shelf::ConversationPage;
use protocol::spent::{MonthSpent, TurnSpent};
use protocol::{
    AppEvent, ConversationId, ErrorCode, HubStatus, NotePath, ProviderKind, Snapshot, UserError,
    VaultId,
};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::announce::News;
use crate::aside::aside;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::describing::Writing;
use crate::feed::{Feed, Listener};
use crate::notice::Looking;
use crate::open_vault::{InUse, OpenVault, Surroundings};
use crate::ports::desk::{OpenNote, OpenedBy};
use crate::provider::{Answering, Choice, find_local, usual_local};
use crate::purpose::Purpose;
use crate::trouble::{not_opened, user_error};
use crate::works::Works;
use crate::{no_tools, review, sample, spending, verdict};

/// What to do when there is no folder to open: none was asked for, and none was open before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// Open none; the window asks for one.
    FirstRun,
    /// Open a writable copy of the sample vault.
    Sample,
}

/// The application. Clones are handles to the same one; [`App::shutdown`] ends it.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
    about: About,
}

/// Which vault the calls of a handle are about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum About {
    /// Whichever is open.
    Any,
    /// This one, or none where none was open.
    One(Option<VaultId>),
}

struct Inner {
    around: Surroundings,
    open: tokio::sync::RwLock<Option<Arc<OpenVault>>>,
    /// What is wrong with the vault that is open, or could not be opened, for windows that open later.
    problems: Mutex<Vec<UserError>>,
    /// Held while settings or the key change: one after the other, the last one wins everywhere.
    saving: tokio::sync::Mutex<()>,
    /// Whether the first vault is being opened: a snapshot waits for it.
    opening: watch::Sender<bool>,
    /// What the user has before them.
    looking: watch::Sender<Looking>,
    tasks: TaskTracker,
    cancel: CancellationToken,
}

impl App {
    /// Starts without a vault. Must be called inside a tokio runtime.
    #[must_use]
    pub fn start(data: DataDir) -> Self {
        Self::with(data, Purpose::Stay, Pace::REAL)
    }

    /// The same for a program that works without a window: who finds the vault held is told how to end
    /// it.
    #[must_use]
    pub fn serve(data: DataDir) -> Self {
        Self::with(data, Purpose::Serve, Pace::REAL)
    }

    /// As [`App::start`] with the clocks of models and of the hub at another pace: deadlines, waits before a
    /// retry, the link's times, and the distance between notifications.
    #[must_use]
    pub fn start_at(data: DataDir, pace: Pace) -> Self {
        Self::with(data, Purpose::Stay, pace)
    }

    /// As [`App::start_at`], with the keyring on the bus at this address in place of the session's.
    #[must_use]
    pub fn start_on(data: DataDir, pace: Pace, bus: &str) -> Self {
        Self::with_keyring(data, Purpose::Stay, pace, Keyring::on(Bus::at(bus)))
    }

    /// Starts for `purpose`, without a vault.
    pub(crate) fn with(data: DataDir, purpose: Purpose, pace: Pace) -> Self {
        Self::with_keyring(data, purpose, pace, Keyring::on(Bus::session()))
    }

    fn with_keyring(data: DataDir, purpose: Purpose, pace: Pace, keyring: Keyring) -> Self {
        let (config, outdated) = Config::load(&data);
        let (feed, answering) = (Feed::default(), Answering::new(no_tools::no_tools(&data)));
        let (desk, door, describing) = (OpenNote::default(), OnceLock::new(), Writing::default());
        let works = Works::new(feed.clone());
        let around = Surroundings {
            data,
            keyring,
            unlocking: Notify::new(),
            config,
            feed,
            desk,
            answering,
            purpose,
            pace,
            door,
            describing,
            works,
        };
        let inner = Inner {
            around,
            open: tokio::sync::RwLock::new(None),
            problems: Mutex::default(),
            saving: tokio::sync::Mutex::default(),
            opening: watch::Sender::new(false),
            looking: watch::Sender::default(),
            tasks: TaskTracker::new(),
            cancel: CancellationToken::new(),
        };
        let app = Self { inner: Arc::new(inner), about: About::Any };
        let feed = app.inner.around.feed.clone();
        app.run(async move { feed.deliver().await });
        let choosing = app.clone();
        app.run(async move {
            let _saving = choosing.saving().await;
            choosing.choose_again().await;
        });
        app.run(app.clone().tend_settings(outdated));
        if purpose.stays() {
            app.run(app.clone().tend_waking());
        }
        app
    }

    /// A handle whose calls are about this vault alone, or about none: what is asked of it is refused
    /// while another vault is open. For windows, which may still show one that was closed.
    #[must_use]
    pub fn about(&self, vault: Option<VaultId>) -> Self {
        Self { inner: Arc::clone(&self.inner), about: About::One(vault) }
    }

    /// Begins to open `asked`, else the vault that was open last, else what `fallback` says; the
    /// next snapshot waits for it.
    /// A vault that cannot be opened is told in the snapshot's problems; the application goes on
    /// without one. Must be called inside a tokio runtime.
    pub fn open_first(&self, asked: Option<PathBuf>, fallback: Fallback) {
        let folder = asked.or_else(|| self.inner.around.data.last_vault());
        if folder.is_none() && fallback == Fallback::FirstRun {
            return;
        }
        self.inner.opening.send_replace(true);
        let app = self.clone();
        self.inner.tasks.spawn(async move {
            let opened = match folder {
                Some(folder) => app.open_vault(&folder).await,
                None => app.open_sample().await,
            };
            if let Err(error) = opened {
                app.remember(error);
            }
            app.inner.opening.send_replace(false);
        });
    }

    /// Closes the open vault and opens another. A folder that is not there or cannot be read changes
    /// nothing; when opening fails after that (another process holds it, its database is damaged),
    /// no vault is open.
    pub async fn open_vault(&self, folder: &Path) -> Result<(), UserError> {
        let mut slot = self.inner.open.write().await;
        if self.inner.cancel.is_cancelled() {
            return Err(UserError::other("Vaultmate is closing: start it again."));
        }
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let named = folder.clone();
        let probed = aside(move || vault::Vault::open(&named).map(drop)).await?;
        probed.map_err(|error| not_opened(&error))?;
        if let Some(old) = slot.take() {
            old.close().await;
        }
        self.problems().clear();
        let opened = OpenVault::open(&folder, &self.inner.around).await;
        match &opened {
            Ok((open, _)) => open.tell_opened().await,
            Err(_) => self.inner.around.feed.tell(AppEvent::VaultChanged { vault: None }),
        }
        let (open, problems) = opened?;
        *slot = Some(open);
        // It is open whether it will be found again at the next start or not.
        let remembered = self.inner.around.data.remember_vault(&folder);
        problems.into_iter().chain(remembered.err()).for_each(|problem| self.remember(problem));
        Ok(())
    }

    /// Opens a vault for one question: it is not remembered as the one that was open last.
    /// `listener` hears first what is wrong with the settings and the vault.
    pub(crate) async fn open_for_ask(
        &self,
        folder: &Path,
        listener: Listener,
    ) -> Result<Arc<OpenVault>, UserError> {
        let around = &self.inner.around;
        around.feed.subscribe(listener);
        if let Err(error) = around.config.counts() {
            around.feed.tell(AppEvent::Problem { error });
        }
        let problems = self.problems().clone();
        problems.into_iter().for_each(|error| around.feed.tell(AppEvent::Problem { error }));
        around.feed.flush();
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let (open, problems) = OpenVault::open(&folder, around).await?;
        problems.into_iter().for_each(|problem| self.remember(problem));
        *self.inner.open.write().await = Some(Arc::clone(&open));
        Ok(open)
    }

    /// Opens a writable copy of the sample vault.
    pub async fn open_sample(&self) -> Result<(), UserError> {
        let folder = sample::copy(&self.inner.around.data)?;
        self.open_vault(&folder).await
    }

    /// Opens the feed. The listener hears every event after the snapshot's number.
    pub async fn subscribe(&self, listener: Listener) -> Result<Snapshot, UserError> {
        let mut opening = self.inner.opening.subscribe();
        // The sender lives as long as this handle: the wait ends when the vault is open or not.
        let _ = opening.wait_for(|opening| !opening).await;
        let seq = self.inner.around.feed.subscribe(listener);
        let open = self.inner.open.read().await.clone();
        let (vault, hub, page) = match &open {
            Some(open) => (
                Some(open.info_as_told().await),
                open.hub_status(),
                open.first_conversations().await?,
            ),
            None => (
                None,
                HubStatus::off(),
                ConversationPage { conversations: Vec::new(), behind: None },
            ),
        };
        let unwatched = open.as_ref().and_then(|open| open.noticed.problem());
        Ok(Snapshot {
            seq,
            vault,
            settings: self.inner.around.config.get(),
            settings_trouble: self.inner.around.config.trouble(),
            provider: self.inner.around.answering.status().await,
            hub,
            conversations: page.conversations,
            behind: page.behind,
            problems: self.problems().clone().into_iter().chain(unwatched).collect(),
            works: self.inner.around.works.list(),
        })
    }

    /// Stores a message durably and returns the conversation it went to; the turn runs behind.
    pub async fn send(&self, request: SendMessage) -> Result<ConversationId, UserError> {
        self.open().await?.send(request).await
    }

    /// Stops what runs in a conversation, its turn or the verdict that is carried out there: the note
    /// that is being written is finished, the rest waits as it did.
    pub async fn stop(&self, conversation: &ConversationId) -> Result<(), UserError> {
        self.open().await?.stop(conversation);
        Ok(())
    }

    /// Stops work that is under way, between two of its steps; nothing happens where it is over.
    pub fn stop_work(&self, work: u32) {
        self.inner.around.works.stop(work);
    }

    /// Resolves when no turn of the conversation runs or is queued, and all that happened in it is
    /// in the feed.
    pub async fn idle(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let open = self.open().await?;
        open.service.idle(conversation).await;
        open.caught_up().await;
        Ok(())
    }

    /// Applies and rejects waiting changes. A note that cannot be changed keeps waiting and is
    /// told as the error; the others are done.
    pub async fn decide_review(&self, request: &DecideReview) -> Result<(), UserError> {
        let open = self.open().await?;
        let conversation = open.store.conversation_of_change_set(&request.review).await;
        let Some(conversation) = conversation.map_err(user_error)? else {
            return Err(UserError::other("These changes are already decided."));
        };
        let _alone = open.deciding.lock().await;
        if open.service.is_working(&conversation) {
            return Err(UserError::other(
                "These changes may still grow: wait until the answer is complete, or stop it.",
            ));
        }
        let decided = verdict::decide(&open, &conversation, request).await?;
        open.announce(News::Decided(conversation));
        open.announce(News::Applied(vec![request.review.clone()]));
        review::problem_of(&decided).map_or(Ok(()), Err)
    }

    /// Shows a note beside the chat: it is then the active note.
    pub async fn show_note(&self, asked: &str) -> Result<NoteText, UserError> {
        self.open().await?.show_note(asked).await
    }

    /// The text of a note, to look at beside what was found.
    pub async fn read_note(&self, path: NotePath) -> Result<NoteText, UserError> {
        self.open().await?.read_note(path).await
    }

    /// Where a note lies on the disk, for programs that the user opens it with. Only of a note that is
    /// there, and in the vault itself.
    pub async fn file_of(&self, path: NotePath) -> Result<PathBuf, UserError> {
        self.open().await?.file_of(path).await
    }

    /// No note is shown any more.
    pub async fn close_note(&self) -> Result<(), UserError> {
        self.open().await?.close_note().await;
        Ok(())
    }

    /// Tells what is selected in the note that is shown; empty for nothing.
    pub async fn select_in_note(
        &self,
        selected: &str,
        heading: Option<String>,
    ) -> Result<(), UserError> {
        self.open().await?.desk.select(selected, heading);
        Ok(())
    }

    /// Names the active note for a host without a window (`--note`).
    pub async fn name_note(&self, path: NotePath) -> Result<(), UserError> {
        self.open().await?.desk.show(path, OpenedBy::CommandLine);
        Ok(())
    }

    /// What each turn of a conversation that asked a model cost, in order.
    pub async fn spent_in(
        &self,
        conversation: &ConversationId,
    ) -> Result<Vec<TurnSpent>, UserError> {
        spending::of_conversation(&self.open().await?.store, conversation).await
    }

    /// What the latest months cost in the open vault, newest first.
    pub async fn spent_by_month(&self) -> Result<Vec<MonthSpent>, UserError> {
        spending::months(&self.open().await?.store).await
    }

    /// Tries the hub again at once; where the link waits for the keyring, that is looked into again.
    pub async fn retry_hub(&self) -> Result<(), UserError> {
        let open = self.open().await?;
        if open.is_token_closed() {
            return self.link_with_token().await;
        }
        open.hub.retry();
        Ok(())
    }

    /// Stops intake, cancels, joins. Returns how many tasks did not come home in time.
    pub async fn shutdown(&self) -> usize {
        self.inner.cancel.cancel();
        let open = self.inner.open.write().await.take();
        let left = match open {
            Some(open) => open.close().await,
            None => 0,
        };
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
        left
    }

    /// Runs until it is done or the application ends, whichever is first.
    pub fn run(&self, task: impl Future<Output = ()> + Send + 'static) {
        let cancel = self.inner.cancel.clone();
        self.inner.tasks.spawn(async move { cancel.run_until_cancelled(task).await });
    }

    /// What the user has before them.
    pub(crate) fn looking(&self) -> &watch::Sender<Looking> {
        &self.inner.looking
    }

    /// What every vault gets around it.
    pub(crate) fn around(&self) -> &Surroundings {
        &self.inner.around
    }

    pub(crate) async fn open(&self) -> Result<InUse, UserError> {
        let open = self.inner.open.read().await;
        let open = open.as_ref().ok_or_else(|| {
            UserError::new(ErrorCode::Vault, "No folder of notes is open: pick one first.")
        })?;
        match &self.about {
            About::One(id) if id.as_ref() != Some(&open.id) => Err(UserError::new(
                ErrorCode::Vault,
                "Another vault was opened meanwhile, so nothing was done. Look at what is shown now, \
                 then try again.",
            )),
            About::Any | About::One(_) => Ok(open.in_use()),
        }
    }

    /// Settings and keys change one after the other: whoever changes them holds this.
    pub(crate) async fn saving(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.inner.saving.lock().await
    }

    /// The vault that is open, for something that is worth doing without one as well.
    pub(crate) async fn opened(&self) -> Option<InUse> {
        self.inner.open.read().await.as_ref().map(OpenVault::in_use)
    }

    /// The settings, keys and clock from which the model is selected now.
    pub(crate) fn choice(&self) -> Choice {
        let Surroundings { config, data, keyring, pace, .. } = &self.inner.around;
        let (data, keyring) = (data.clone(), keyring.clone());
        Choice { settings: config.get(), data, keyring, pace: *pace }
    }

    /// The caller holds [`App::saving`].
    pub(crate) async fn choose_again(&self) {
        let Surroundings { config, answering, feed, purpose, .. } = &self.inner.around;
        let choice = self.choice();
        let settings = choice.settings.clone();
        let provider = answering.choose(choice).await;
        let may_offer = purpose.stays()
            && !provider.has_model
            && settings.provider == ProviderKind::Automatic
            && !settings.local_offer_answered
            && config.may_ask().is_ok();
        feed.tell(AppEvent::ProviderChanged { provider });
        if let Some(open) = self.opened().await {
            open.measure_again();
        }
        if may_offer {
            self.look_for_local_servers();
        }
    }

    /// In the background: a server may let one wait.
    fn look_for_local_servers(&self) {
        let (answering, feed) =
            (self.inner.around.answering.clone(), self.inner.around.feed.clone());
        let cancel = self.inner.cancel.clone();
        self.inner.tasks.spawn(async move {
            let found = cancel.run_until_cancelled(find_local(&usual_local())).await.flatten();
            if let Some(provider) = found.and_then(|server| answering.offer(server)) {
                feed.tell(AppEvent::ProviderChanged { provider });
            }
        });
    }

    fn remember(&self, error: UserError) {
        self.problems().push(error.clone());
        self.inner.around.feed.tell(AppEvent::Problem { error });
    }

    fn problems(&self) -> std::sync::MutexGuard<'_, Vec<UserError>> {
        self.inner.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
