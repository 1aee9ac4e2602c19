//! The application as its hosts see it: one value, plain methods, sentences for errors.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use futures_util::StreamExt as _;
use llm::model::{Block, ModelEvent, ModelMessage, ModelRequest};
use protocol::conversation::ConversationView;
use protocol::request::{DecideReview, KeyPlace, NoteText, ProviderTest, SendMessage};
use protocol::{
    AppEvent, ConversationId, ErrorCode, HubState, HubStatus, NotePath, Role, Settings, Snapshot,
    UserError,
};
use secrecy::SecretString;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::desk::Source;

use crate::config::Config;
use crate::data_dir::DataDir;
use crate::feed::{Feed, Listener};
use crate::open_vault::{OpenVault, Surroundings};
use crate::ports::desk::OpenNote;
use crate::provider::choose;
use crate::submit::Words;
use crate::trouble::{of_note, user_error};
use crate::{link, review, sample, secrets};

/// How many conversations the list shows.
const LISTED: u32 = 500;

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
}

struct Inner {
    around: Surroundings,
    open: tokio::sync::RwLock<Option<Arc<OpenVault>>>,
    problems: Mutex<Vec<UserError>>,
    /// Whether the first vault is being opened: a snapshot waits for it.
    opening: watch::Sender<bool>,
    tasks: TaskTracker,
    cancel: CancellationToken,
}

impl App {
    /// Starts without a vault. Must be called inside a tokio runtime.
    #[must_use]
    pub fn start(data: DataDir) -> Self {
        Self::with(data, false)
    }

    /// Starts for a command line that may (`--write`) or may not change notes.
    pub(crate) fn with(data: DataDir, cli_may_write: bool) -> Self {
        let (config, problem) = Config::load(&data);
        let desk = OpenNote::default();
        let chosen = Arc::new(RwLock::new(choose(&config.get(), &data, &desk)));
        let feed = Feed::default();
        let around = Surroundings { data, config, feed, desk, chosen, cli_may_write };
        let inner = Inner {
            around,
            open: tokio::sync::RwLock::new(None),
            problems: Mutex::new(problem.into_iter().collect()),
            opening: watch::Sender::new(false),
            tasks: TaskTracker::new(),
            cancel: CancellationToken::new(),
        };
        let app = Self { inner: Arc::new(inner) };
        let (feed, cancel) = (app.inner.around.feed.clone(), app.inner.cancel.clone());
        app.inner.tasks.spawn(async move { cancel.run_until_cancelled(feed.deliver()).await });
        app
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
                app.remember_problem(error);
            }
            app.inner.opening.send_replace(false);
        });
    }

    /// Closes the open vault and opens another. When that fails, no vault is open.
    pub async fn open_vault(&self, folder: &Path) -> Result<(), UserError> {
        let mut slot = self.inner.open.write().await;
        if let Some(old) = slot.take() {
            old.close().await;
        }
        self.lock_problems().retain(|problem| problem.code != ErrorCode::Vault);
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let opened = OpenVault::open(&folder, &self.inner.around).await;
        let vault = match &opened {
            Ok((open, _)) => Some(open.info().await),
            Err(_) => None,
        };
        self.inner.around.feed.tell(AppEvent::VaultChanged { vault });
        let (open, problems) = opened?;
        *slot = Some(open);
        problems.into_iter().for_each(|problem| self.remember_problem(problem));
        self.inner.around.data.remember_vault(&folder)
    }

    /// Opens a vault for one question: it is not remembered as the one that was open last.
    pub(crate) async fn open_for_ask(&self, folder: &Path) -> Result<(), UserError> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let (open, _problems) = OpenVault::open(&folder, &self.inner.around).await?;
        *self.inner.open.write().await = Some(open);
        Ok(())
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
        let (vault, hub, conversations) = match &open {
            Some(open) => (
                Some(open.info().await),
                open.hub_status(),
                open.store.conversations(LISTED).await.map_err(user_error)?,
            ),
            None => (None, HubStatus { state: HubState::Off, trouble: None }, Vec::new()),
        };
        Ok(Snapshot {
            seq,
            vault,
            settings: self.inner.around.config.get(),
            provider: self.provider_status(),
            hub,
            conversations,
            problems: self.lock_problems().clone(),
        })
    }

    /// Everything the chat shows of one conversation.
    pub async fn conversation(&self, id: &ConversationId) -> Result<ConversationView, UserError> {
        self.open().await?.view(id).await
    }

    /// Stores a message durably and returns the conversation it went to; the turn runs behind.
    pub async fn send(&self, request: SendMessage) -> Result<ConversationId, UserError> {
        self.open().await?.send(request).await
    }

    /// Stops the running turn of a conversation.
    pub async fn stop(&self, conversation: &ConversationId) -> Result<(), UserError> {
        self.open().await?.service.stop(conversation);
        Ok(())
    }

    /// Goes on after a limit, a failure or an interruption.
    pub async fn continue_turn(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let open = self.open().await?;
        let words = Words {
            text: "Continue.".to_owned(),
            origin: protocol::Origin::Window,
            answers: None,
        };
        let new = open.new_turn(conversation, &words).await?;
        open.submit(new).await
    }

    /// Resolves when no turn of the conversation runs or is queued.
    pub async fn idle(&self, conversation: &ConversationId) -> Result<(), UserError> {
        self.open().await?.service.idle(conversation).await;
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
        let decided = review::decide(&open.vault, &open.store, &conversation, request).await?;
        let standing = review::standing(&open.store, &conversation).await?;
        let feed = &open.feed;
        feed.tell(AppEvent::ReviewChanged { conversation: conversation.clone(), review: standing });
        if let Some(verdict) = open.store.verdicts(&conversation).await.map_err(user_error)?.pop() {
            let item = protocol::conversation::Item::Verdict {
                id: verdict.id,
                applied: verdict.applied,
                rejected: verdict.rejected,
                at: verdict.at,
            };
            feed.tell(AppEvent::ItemChanged { conversation: conversation.clone(), item });
        }
        open.announce_row(&conversation).await?;
        review::problem_of(&decided).map_or(Ok(()), Err)
    }

    /// Shows a note beside the chat: it is then the active note.
    pub async fn show_note(&self, asked: &str) -> Result<NoteText, UserError> {
        let open = self.open().await?;
        let path = open.vault.resolve(asked).map_err(|error| of_note(&error))?;
        let note = open.vault.read(&path).map_err(|error| of_note(&error))?;
        open.desk.show(note.path.clone(), Source::Window);
        Ok(NoteText { path: note.path, text: String::from_utf8_lossy(&note.bytes).into_owned() })
    }

    /// No note is shown any more.
    pub async fn close_note(&self) -> Result<(), UserError> {
        self.open().await?.desk.clear();
        Ok(())
    }

    /// Names the active note for a host without a window (`--note`).
    pub async fn name_note(&self, path: NotePath) -> Result<(), UserError> {
        self.open().await?.desk.show(path, Source::CommandLine);
        Ok(())
    }

    /// Saves settings; each takes effect at once.
    pub async fn save_settings(&self, settings: Settings) -> Result<(), UserError> {
        let link = link::config(&settings.hub).map_err(|error| UserError::other(error.to_string()))?;
        let around = &self.inner.around;
        let before = around.config.get();
        around.config.save(settings.clone())?;
        self.lock_problems().retain(|problem| problem.code != ErrorCode::Other);
        if before.hub != settings.hub
            && let Some(open) = self.inner.open.read().await.as_ref()
        {
            open.hub.configure(link);
        }
        around.feed.tell(AppEvent::SettingsChanged { settings });
        self.choose_again();
        Ok(())
    }

    /// Stores a key, or with an empty one removes it.
    pub fn set_key(&self, key: &SecretString, place: KeyPlace) -> Result<(), UserError> {
        secrets::keep(&self.inner.around.data, key, place)?;
        self.choose_again();
        Ok(())
    }

    /// Asks the provider for one word.
    pub async fn test_provider(&self) -> ProviderTest {
        let provider = {
            let chosen = self.inner.around.chosen.read().unwrap_or_else(PoisonError::into_inner);
            if !chosen.status.has_model {
                let message = "Commands answer without a model: nothing to test.".to_owned();
                return ProviderTest { ok: true, message };
            }
            chosen.provider.clone()
        };
        let answered = match provider {
            Ok(provider) => one_word(&*provider, self.inner.around.config.get().model).await,
            Err(error) => Err(error.message),
        };
        match answered {
            Ok(()) => ProviderTest { ok: true, message: "It answers.".to_owned() },
            Err(message) => ProviderTest { ok: false, message },
        }
    }

    /// Tries the hub again at once.
    pub async fn retry_hub(&self) -> Result<(), UserError> {
        self.open().await?.hub.retry();
        Ok(())
    }

    /// Stops intake, cancels, joins. Returns how many tasks did not come home in time.
    pub async fn shutdown(&self) -> usize {
        let open = self.inner.open.write().await.take();
        let left = match open {
            Some(open) => open.close().await,
            None => 0,
        };
        self.inner.cancel.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
        left
    }

    pub(crate) async fn open(&self) -> Result<Arc<OpenVault>, UserError> {
        self.inner.open.read().await.clone().ok_or_else(|| {
            UserError::new(ErrorCode::Vault, "No folder of notes is open: pick one first.")
        })
    }

    fn choose_again(&self) {
        let around = &self.inner.around;
        let chosen = choose(&around.config.get(), &around.data, &around.desk);
        let provider = chosen.status.clone();
        *around.chosen.write().unwrap_or_else(PoisonError::into_inner) = chosen;
        around.feed.tell(AppEvent::ProviderChanged { provider });
    }

    fn provider_status(&self) -> protocol::event::ProviderStatus {
        let chosen = self.inner.around.chosen.read().unwrap_or_else(PoisonError::into_inner);
        chosen.status.clone()
    }

    fn remember_problem(&self, error: UserError) {
        self.lock_problems().push(error.clone());
        self.inner.around.feed.tell(AppEvent::Problem { error });
    }

    fn lock_problems(&self) -> std::sync::MutexGuard<'_, Vec<UserError>> {
        self.inner.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn one_word(provider: &dyn llm::provider::Provider, model: String) -> Result<(), String> {
    let request = ModelRequest {
        model,
        system: "Answer with the one word: ready".to_owned(),
        tools: Vec::new(),
        messages: vec![ModelMessage {
            role: Role::User,
            blocks: vec![Block::Text("Are you there?".to_owned())],
        }],
        max_tokens: 16,
    };
    let mut stream = provider.stream(request).await.map_err(|error| error.to_string())?;
    while let Some(event) = stream.next().await {
        if let ModelEvent::Stopped { .. } = event.map_err(|error| error.to_string())? {
            return Ok(());
        }
    }
    Err("The answer broke off: try again.".to_owned())
}
