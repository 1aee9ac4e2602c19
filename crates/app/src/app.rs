//! The application as its hosts see it: one value, plain methods, sentences for errors.

pub(crate) mod services;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use desktop::{Bus, Keyring};
use llm::TimeScale;
use protocol::chat::conversation_list::ConversationPage;
use protocol::{AppEvent, AppSnapshot, ErrorCode, HubStatus, ProviderKind, UserError, VaultId};
use tokio::sync::{Notify, watch};

use crate::adapters::active_note::ActiveNoteState;
use crate::events::feed::{Feed, FeedListener};
use crate::events::jobs::Jobs;
use crate::events::notifications::WindowFocus;
use crate::hub::DescriptionTask;
use crate::models::selection::{ModelSelector, SelectionInput, find_local, usual_local};
use crate::models::tool_support;
use crate::settings::config::Config;
use crate::settings::run_mode::RunMode;
use crate::support::blocking::run_blocking;
use crate::support::task_group::TaskGroup;
use crate::user_texts;
use crate::vault_session::{SessionGuard, VaultSession};
use crate::workspace::data_dir::DataDir;
use crate::workspace::sample;
use services::AppServices;

/// The fallback when no folder was asked for and none was open before.
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
    inner: Arc<AppInner>,
    scope: VaultScope,
}

/// Which vault the calls of a handle are about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum VaultScope {
    /// Whichever is open.
    Any,
    /// This one, or none where none was open.
    One(Option<VaultId>),
}

struct AppInner {
    services: AppServices,
    session: tokio::sync::RwLock<Option<Arc<VaultSession>>>,
    /// Problems of the open vault, or of one that could not be opened, for windows that open later.
    problems: Mutex<Vec<UserError>>,
    /// Held while settings or the key change: one after the other, the last one wins everywhere.
    settings_lock: tokio::sync::Mutex<()>,
    /// Whether the first vault is being opened: a snapshot waits for it.
    opening: watch::Sender<bool>,
    /// Whether the window has the focus, and the conversation that it shows.
    window_focus: watch::Sender<WindowFocus>,
    description_task: DescriptionTask,
    /// Notified when the user is not to be asked to unlock the keyring any more.
    unlocking: Notify,
    tasks: TaskGroup,
}

impl App {
    /// Starts without a vault. Must be called inside a tokio runtime.
    #[must_use]
    pub fn start(data: DataDir) -> Self {
        Self::start_with(data, RunMode::Stay, TimeScale::REAL_TIME)
    }

    /// The same for a program that works without a window: who finds the vault held is told how to end
    /// it.
    #[must_use]
    pub fn serve(data: DataDir) -> Self {
        Self::start_with(data, RunMode::Serve, TimeScale::REAL_TIME)
    }

    /// As [`App::start`] with the clocks of models and of the hub at another pace: deadlines, waits before a
    /// retry, the link's times, and the distance between notifications.
    #[must_use]
    pub fn start_at(data: DataDir, time_scale: TimeScale) -> Self {
        Self::start_with(data, RunMode::Stay, time_scale)
    }

    /// As [`App::start_at`], with the keyring on the bus at this address in place of the session's.
    #[must_use]
    pub fn start_on(data: DataDir, time_scale: TimeScale, bus: &str) -> Self {
        Self::with_keyring(data, RunMode::Stay, time_scale, Keyring::on(Bus::at(bus)))
    }

    /// Starts for `purpose`, without a vault.
    pub(crate) fn start_with(data: DataDir, run_mode: RunMode, time_scale: TimeScale) -> Self {
        Self::with_keyring(data, run_mode, time_scale, Keyring::on(Bus::session()))
    }

    fn with_keyring(
        data: DataDir,
        purpose: RunMode,
        time_scale: TimeScale,
        keyring: Keyring,
    ) -> Self {
        let (config, outdated) = Config::load(&data);
        let (feed, answering) = (Feed::default(), ModelSelector::new(tool_support::load(&data)));
        let (active_note, second_start) = (ActiveNoteState::default(), OnceLock::new());
        let jobs = Jobs::new(feed.clone());
        let services = AppServices {
            data,
            keyring,
            config,
            feed,
            active_note,
            model_selector: answering,
            run_mode: purpose,
            pace: time_scale,
            second_start,
            jobs,
        };
        let inner = AppInner {
            services,
            session: tokio::sync::RwLock::new(None),
            problems: Mutex::default(),
            settings_lock: tokio::sync::Mutex::default(),
            opening: watch::Sender::new(false),
            window_focus: watch::Sender::default(),
            description_task: DescriptionTask::default(),
            unlocking: Notify::new(),
            tasks: TaskGroup::new(),
        };
        let app = Self { inner: Arc::new(inner), scope: VaultScope::Any };
        let feed = app.inner.services.feed.clone();
        app.spawn(async move { feed.deliver().await });
        let choosing = app.clone();
        app.spawn(async move {
            let _saving = choosing.lock_settings().await;
            choosing.reselect_model().await;
        });
        app.spawn(app.clone().run_settings_loop(outdated));
        if purpose.is_long_running() {
            app.spawn(app.clone().run_reconnect_loop());
        }
        app
    }

    /// A handle whose calls are about this vault alone, or about none: what is asked of it is refused
    /// while another vault is open. For windows, which may still show one that was closed.
    #[must_use]
    pub fn for_vault(&self, vault: Option<VaultId>) -> Self {
        Self { inner: Arc::clone(&self.inner), scope: VaultScope::One(vault) }
    }

    /// Begins to open `asked`, else the vault that was open last, else what `fallback` says; the
    /// next snapshot waits for it.
    /// A vault that cannot be opened is told in the snapshot's problems; the application goes on
    /// without one. Must be called inside a tokio runtime.
    pub fn open_initial_vault(&self, asked: Option<PathBuf>, fallback: Fallback) {
        let folder = asked.or_else(|| self.inner.services.data.last_vault());
        if folder.is_none() && fallback == Fallback::FirstRun {
            return;
        }
        self.inner.opening.send_replace(true);
        let app = self.clone();
        self.inner.tasks.tracker().spawn(async move {
            let opened = match folder {
                Some(folder) => app.open_vault(&folder).await,
                None => app.open_sample().await,
            };
            if let Err(error) = opened {
                app.report_problem(error);
            }
            app.inner.opening.send_replace(false);
        });
    }

    /// Closes the open vault and opens another. A folder that is not there or cannot be read changes
    /// nothing; when opening fails after that (another process holds it, its database is damaged),
    /// no vault is open.
    pub async fn open_vault(&self, folder: &Path) -> Result<(), UserError> {
        let mut slot = self.inner.session.write().await;
        if self.inner.tasks.is_cancelled() {
            return Err(UserError::other(user_texts::vaultmate_closing()));
        }
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let named = folder.clone();
        run_blocking(move || vault::Vault::open(&named).map(drop)).await??;
        if let Some(old) = slot.take() {
            old.close().await;
        }
        self.problems().clear();
        let opened = VaultSession::open(&folder, &self.inner.services).await;
        match &opened {
            Ok((open, _)) => open.notes.folder.publish().await,
            Err(_) => self.inner.services.feed.publish(AppEvent::VaultChanged { vault: None }),
        }
        let (open, problems) = opened?;
        *slot = Some(open);
        // It is open whether it will be found again at the next start or not.
        let remembered = self.inner.services.data.remember_vault(&folder);
        problems
            .into_iter()
            .chain(remembered.err())
            .for_each(|problem| self.report_problem(problem));
        Ok(())
    }

    /// Opens a vault for one question: it is not remembered as the one that was open last.
    /// `listener` hears first what is wrong with the settings and the vault.
    pub(crate) async fn open_for_one_shot(
        &self,
        folder: &Path,
        listener: FeedListener,
    ) -> Result<Arc<VaultSession>, UserError> {
        let services = &self.inner.services;
        services.feed.subscribe(listener);
        if let Err(error) = services.config.ensure_valid() {
            services.feed.publish(AppEvent::Problem { error });
        }
        let problems = self.problems().clone();
        problems.into_iter().for_each(|error| services.feed.publish(AppEvent::Problem { error }));
        services.feed.flush();
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let (open, problems) = VaultSession::open(&folder, services).await?;
        problems.into_iter().for_each(|problem| self.report_problem(problem));
        *self.inner.session.write().await = Some(Arc::clone(&open));
        Ok(open)
    }

    /// Opens a writable copy of the sample vault.
    pub async fn open_sample(&self) -> Result<(), UserError> {
        let folder = sample::copy_sample(&self.inner.services.data)?;
        self.open_vault(&folder).await
    }

    /// Opens the feed. The listener hears every event after the snapshot's number.
    pub async fn subscribe(&self, listener: FeedListener) -> Result<AppSnapshot, UserError> {
        let mut opening = self.inner.opening.subscribe();
        // The sender lives as long as this handle: the wait ends when the vault is open or not.
        let _ = opening.wait_for(|opening| !opening).await;
        let seq = self.inner.services.feed.subscribe(listener);
        let open = self.inner.session.read().await.clone();
        let (vault, hub, page) = match &open {
            Some(open) => {
                let vault = open.notes.folder.cached_info().await;
                (Some(vault), open.hub.link.status(), open.chats.first_page().await?)
            }
            None => (
                None,
                HubStatus::off(),
                ConversationPage { conversations: Vec::new(), behind: None },
            ),
        };
        let unwatched = open.as_ref().and_then(|open| open.notes.folder.problem());
        Ok(AppSnapshot {
            seq,
            vault,
            settings: self.inner.services.config.get(),
            settings_trouble: self.inner.services.config.problem(),
            provider: self.inner.services.model_selector.status().await,
            hub,
            conversations: page.conversations,
            behind: page.behind,
            problems: self.problems().clone().into_iter().chain(unwatched).collect(),
            jobs: self.inner.services.jobs.list(),
        })
    }

    /// Stops work that is under way, between two of its steps; nothing happens where it is over.
    pub fn stop_job(&self, work: u32) {
        self.inner.services.jobs.stop(work);
    }

    /// Stops intake, cancels, joins. Returns how many tasks did not come home in time.
    pub async fn shutdown(&self) -> usize {
        self.inner.tasks.cancel();
        let open = self.inner.session.write().await.take();
        let left = match open {
            Some(open) => open.close().await,
            None => 0,
        };
        self.inner.tasks.join().await;
        left
    }

    /// Runs until it is done or the application ends, whichever is first.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.inner.tasks.spawn(task);
    }

    pub(crate) fn window_focus(&self) -> &watch::Sender<WindowFocus> {
        &self.inner.window_focus
    }

    pub(crate) fn description_task(&self) -> &DescriptionTask {
        &self.inner.description_task
    }

    /// Notified when the user is not to be asked to unlock the keyring any more.
    pub(crate) fn unlocking(&self) -> &Notify {
        &self.inner.unlocking
    }

    /// The services that every vault shares.
    pub(crate) fn services(&self) -> &AppServices {
        &self.inner.services
    }

    pub(crate) async fn session(&self) -> Result<SessionGuard, UserError> {
        let open = self.inner.session.read().await;
        let open = open
            .as_ref()
            .ok_or_else(|| UserError::new(ErrorCode::Vault, user_texts::no_vault_open()))?;
        match &self.scope {
            VaultScope::One(id) if id.as_ref() != Some(&open.home.id) => {
                Err(UserError::new(ErrorCode::Vault, user_texts::another_vault_opened()))
            }
            VaultScope::Any | VaultScope::One(_) => Ok(open.guard()),
        }
    }

    /// Serializes changes of settings and keys: every change holds this lock.
    pub(crate) async fn lock_settings(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.inner.settings_lock.lock().await
    }

    /// The vault that is open, for something that is worth doing without one as well.
    pub(crate) async fn open_session(&self) -> Option<SessionGuard> {
        self.inner.session.read().await.as_ref().map(VaultSession::guard)
    }

    /// The settings, keys and clock from which the model is selected now.
    pub(crate) fn choice(&self) -> SelectionInput {
        let AppServices { config, data, keyring, pace, .. } = &self.inner.services;
        let (data, keyring) = (data.clone(), keyring.clone());
        SelectionInput { settings: config.get(), data, keyring, pace: *pace }
    }

    /// The caller holds [`App::lock_settings`].
    pub(crate) async fn reselect_model(&self) {
        let AppServices { config, model_selector: answering, feed, run_mode: purpose, .. } =
            &self.inner.services;
        let choice = self.choice();
        let settings = choice.settings.clone();
        let provider = answering.reselect(choice).await;
        let may_offer = purpose.is_long_running()
            && !provider.has_model
            && settings.provider == ProviderKind::Automatic
            && !settings.local_offer_answered
            && config.ensure_models_allowed().is_ok();
        feed.publish(AppEvent::ProviderChanged { provider });
        if let Some(open) = self.open_session().await {
            open.chats.meter.measure_again();
        }
        if may_offer {
            self.detect_local_servers();
        }
    }

    /// In the background: a server may let one wait.
    fn detect_local_servers(&self) {
        let (answering, feed) =
            (self.inner.services.model_selector.clone(), self.inner.services.feed.clone());
        let cancel = self.inner.tasks.cancellation().clone();
        self.inner.tasks.tracker().spawn(async move {
            let found = cancel.run_until_cancelled(find_local(&usual_local())).await.flatten();
            if let Some(provider) = found.and_then(|server| answering.offer_local_server(server)) {
                feed.publish(AppEvent::ProviderChanged { provider });
            }
        });
    }

    fn report_problem(&self, error: UserError) {
        self.problems().push(error.clone());
        self.inner.services.feed.publish(AppEvent::Problem { error });
    }

    fn problems(&self) -> std::sync::MutexGuard<'_, Vec<UserError>> {
        self.inner.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
