//! The base of headless end-to-end tests: notes and a data folder that outlive the application, and
//! the application itself, in this process or as the programs that were built.

use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use app::{App, DataDir, TimeScale};
use futures_util::FutureExt as _;
use protocol::chat::conversation::{ChatItem, ConversationView};
use protocol::request::SendMessageRequest;
use protocol::settings::HubSettings;
use protocol::{
    AppEvent, ConversationId, Mode, NoteOpener, NotePath, ProviderKind, QuestionId, Settings,
    TurnStatus, UserError,
};
use serde_json::Value;
use testkit::gui::desktop_app::cli_path;
use testkit::scripted_model::KEY;
use testkit::{ScriptedModel, TempVault};
use tokio::process::{Child, Command};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

/// Nothing in a test takes so long, unless it never comes.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Notes and a data folder. Opening them again is a restart.
pub(crate) struct TestHome {
    pub(crate) notes: TempVault,
    pub(crate) data: TempVault,
}

impl TestHome {
    /// These notes, and an empty data folder.
    pub(crate) fn new(notes: &[(&str, &str)]) -> Self {
        Self { notes: TempVault::new(notes), data: TempVault::new(&[]) }
    }

    /// The same home where the user keeps this key in a file.
    pub(crate) fn with_key(self, key: &str) -> Self {
        self.data.write("key", key);
        self
    }

    /// Opens the notes; panics when that is refused.
    pub(crate) async fn open(&self, settings: Settings) -> RunningApp {
        let running = self.start(settings).await;
        running.app.open_vault(self.notes.root()).await.expect("the vault opens");
        running
    }

    /// The same with other clocks.
    pub(crate) async fn open_with_time_scale(
        &self,
        settings: Settings,
        time_scale: TimeScale,
    ) -> RunningApp {
        let data = DataDir::at(self.data.root().to_owned()).expect("a data directory");
        let running = collect_events(App::start_at(data, time_scale)).await;
        running.replace_settings(settings).await;
        running.app.open_vault(self.notes.root()).await.expect("the vault opens");
        running
    }

    /// The same with the keyring on the bus at this address, without a vault.
    pub(crate) async fn start_on(&self, bus: &str) -> RunningApp {
        let data = DataDir::at(self.data.root().to_owned()).expect("a data directory");
        collect_events(App::start_on(data, TimeScale::REAL_TIME, bus)).await
    }

    /// Starts the application without a vault.
    pub(crate) async fn start(&self, settings: Settings) -> RunningApp {
        let running = self.start_with_stored_settings().await;
        running.replace_settings(settings).await;
        running
    }

    /// Starts the application on the settings that the data folder holds.
    pub(crate) async fn start_with_stored_settings(&self) -> RunningApp {
        for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "VAULTMATE_HUB_URL"] {
            let set = std::env::var(name).is_ok_and(|value| !value.is_empty());
            assert!(!set, "{name} is set: a test must not reach what it names, so unset it");
        }
        let data = DataDir::at(self.data.root().to_owned()).expect("a data directory");
        collect_events(App::start(data)).await
    }

    /// The database of the notes.
    pub(crate) fn database_path(&self) -> PathBuf {
        let folders = fs::read_dir(self.data.root().join("vaults")).expect("a folder of vaults");
        let folder = folders.map(|folder| folder.expect("an entry").path()).next();
        folder.expect("a vault was opened").join("vaultmate.db")
    }

    /// `vaultmate-cli` on this data folder, with nothing of the tester's own settings.
    pub(crate) fn cli_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cli_path());
        command.args(arguments);
        self.set_environment(&mut command);
        command
    }

    /// `vaultmate-cli ask`, run to its end.
    pub(crate) async fn ask(&self, words: &[&str]) -> CliOutput {
        let vault = self.notes.root().to_str().expect("a path in UTF-8");
        run_command(&mut self.cli_command(&[&["ask", "--vault", vault], words].concat())).await
    }

    /// Plays a story of the testkit in a process of its own, until it kills itself at the first
    /// fault point of that name.
    pub(crate) async fn run_story_killed_at(
        &self,
        point: &str,
        story: &str,
        env: &[(&str, String)],
    ) {
        let mut child = self.spawn_story_killed_at(point, story, env);
        let ended = tokio::time::timeout(TEST_TIMEOUT, child.wait()).await;
        let ended = ended.expect("the story gets so far").expect("it ran");
        let signal = std::os::unix::process::ExitStatusExt::signal(&ended);
        assert_eq!(signal, Some(9), "{story} did not come to {point}");
    }

    /// The same while the test goes on.
    pub(crate) fn spawn_story_killed_at(
        &self,
        point: &str,
        story: &str,
        env: &[(&str, String)],
    ) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_story"));
        command.args([self.data.root(), self.notes.root(), story.as_ref()]);
        self.set_environment(&mut command);
        command.env("KILL_ON", point).envs(env.iter().map(|(name, value)| (name, value)));
        command.stderr(Stdio::null()).stdout(Stdio::null());
        command.spawn().expect("the story starts")
    }

    pub(crate) fn set_environment(&self, command: &mut Command) {
        let own = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"];
        for name in own.into_iter().chain(["VAULTMATE_HUB_URL", "VAULTMATE_LOG"]) {
            command.env_remove(name);
        }
        command
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .env("VAULTMATE_DATA_DIR", self.data.root())
            .env("HOME", self.data.root())
            .kill_on_drop(true);
    }
}

async fn collect_events(app: App) -> RunningApp {
    let heard = watch::Sender::new(Vec::new());
    let ears = heard.clone();
    app.subscribe(Box::new(move |batch| {
        ears.send_modify(|all| all.extend(batch.into_iter().map(|numbered| numbered.event)));
        true
    }))
    .await
    .expect("a snapshot");
    RunningApp { app, events: heard, chip: Mutex::default() }
}

/// The output of a program, and how it ended.
#[derive(Debug)]
pub(crate) struct CliOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program to its end.
pub(crate) async fn run_command(command: &mut Command) -> CliOutput {
    let output = tokio::time::timeout(TEST_TIMEOUT, command.output()).await;
    cli_output(output.expect("it ends").expect("it starts"))
}

pub(crate) fn cli_output(output: Output) -> CliOutput {
    let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
    CliOutput {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// The application, open in this process.
pub(crate) struct RunningApp {
    pub(crate) app: App,
    events: watch::Sender<Vec<AppEvent>>,
    /// The open note that the composer shows.
    chip: Mutex<Option<NotePath>>,
}

impl RunningApp {
    /// Puts these settings in place of all others, as one who writes the file does.
    pub(crate) async fn replace_settings(&self, settings: Settings) {
        let is_local = settings.private.endpoint_is_local;
        let set = self.app.change_settings(|held| *held = settings).await;
        set.expect("the settings are saved");
        // Another server loses the mark of the one before it.
        let mark = |held: &mut Settings| held.private.endpoint_is_local = is_local;
        self.app.change_settings(mark).await.expect("the settings are saved");
    }

    /// Begins `work` while a change of the settings is being saved, which is made once the work waits. Returns
    /// the outcome of the work.
    pub(crate) async fn while_settings_change<T>(
        &self,
        change: impl FnOnce(&mut Settings) + Send + 'static,
        work: impl Future<Output = T>,
    ) -> T {
        let (entered, is_entered) = oneshot::channel();
        let (release, is_released) = std::sync::mpsc::channel();
        let app = self.app.clone();
        let mut changing = JoinSet::new();
        changing.spawn(async move {
            app.change_settings(move |settings| {
                entered.send(()).expect("the test waits for it");
                is_released.recv().expect("the test goes on");
                change(settings);
            })
            .await
        });
        is_entered.await.expect("the change begins");
        let mut work = std::pin::pin!(work);
        assert!(work.as_mut().now_or_never().is_none(), "it waits for the change");
        release.send(()).expect("the change waits");
        let outcome = work.await;
        let changed = changing.join_next().await.expect("a task").expect("it does not panic");
        changed.expect("the settings are saved");
        outcome
    }

    /// Sends a message and waits until nothing runs any more.
    pub(crate) async fn send_and_wait(
        &self,
        to: Option<&ConversationId>,
        text: &str,
    ) -> ConversationId {
        let conversation = self.send(to, text, None).await.expect("the message is taken");
        self.app.wait_until_idle(&conversation).await.expect("a vault is open");
        conversation
    }

    /// Sends a message; `answers` names the question it answers.
    pub(crate) async fn send(
        &self,
        to: Option<&ConversationId>,
        text: &str,
        answers: Option<&QuestionId>,
    ) -> Result<ConversationId, UserError> {
        let (conversation, answers) = (to.cloned(), answers.cloned());
        let open_note = self.chip.lock().expect("nobody panicked").clone();
        self.app
            .send(SendMessageRequest { conversation, text: text.into(), answers, open_note })
            .await
    }

    /// Shows a note beside the chat, as the user does; from then on the composer sends it with each message.
    pub(crate) async fn show(&self, note: &str) {
        self.show_by(note, NoteOpener::User).await;
    }

    /// The same for a note that this one chose.
    pub(crate) async fn show_by(&self, note: &str, by: NoteOpener) {
        let shown = self.app.show_note(note, by).await.expect("it is shown");
        *self.chip.lock().expect("nobody panicked") = Some(shown.path);
    }

    /// Selects text in a note, as the window tells it.
    pub(crate) async fn select(&self, note: &str, text: &str, heading: Option<&str>) {
        let path = NotePath::parse(note).expect("a path");
        let heading = heading.map(str::to_owned);
        self.app.select_in_note(&path, text, heading).await.expect("selected");
    }

    /// Removes the chip of the open note from the composer; the note stays open.
    pub(crate) fn exclude_note(&self) {
        *self.chip.lock().expect("nobody panicked") = None;
    }

    /// The chat as the window shows it.
    pub(crate) async fn view(&self, conversation: &ConversationId) -> ConversationView {
        self.app.conversation(conversation).await.expect("a view")
    }

    /// The settings in force.
    pub(crate) async fn settings(&self) -> Settings {
        self.app.subscribe(Box::new(|_| true)).await.expect("a snapshot").settings
    }

    /// The only conversation there is.
    pub(crate) async fn only_conversation(&self) -> ConversationId {
        let snapshot = self.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
        let [one] = snapshot.conversations.as_slice() else {
            panic!("not one: {:?}", snapshot.conversations)
        };
        one.id.clone()
    }

    /// Decides about pending changes by path.
    pub(crate) async fn decide(
        &self,
        conversation: &ConversationId,
        accepted: &[&str],
        rejected: &[&str],
    ) -> Result<(), UserError> {
        let review = self.view(conversation).await.review.expect("something is pending");
        let decision = review.decide_request(&note_paths(accepted), &note_paths(rejected));
        self.app.decide_review(&decision).await
    }

    /// The paths of pending changes.
    pub(crate) async fn pending_paths(&self, conversation: &ConversationId) -> Vec<String> {
        let review = self.view(conversation).await.review;
        let notes = review.map(|review| review.notes).unwrap_or_default();
        notes.iter().map(|note| note.path.to_string()).collect()
    }

    /// Resolves with the first event, since the start, that `select` takes.
    pub(crate) async fn wait_for_event<T>(
        &self,
        what: &str,
        select: impl Fn(&AppEvent) -> Option<T>,
    ) -> T {
        let mut heard = self.events.subscribe();
        let found = heard.wait_for(|all| all.iter().any(|event| select(event).is_some()));
        let found = tokio::time::timeout(TEST_TIMEOUT, found).await;
        let found =
            found.unwrap_or_else(|_| panic!("{what} did not come: {:#?}", self.events.borrow()));
        let all = found.expect("the list is held by `self`");
        all.iter().find_map(select).expect("it was found a moment ago")
    }

    /// Asks `probe` until it has an answer: at once, and again after each event.
    pub(crate) async fn until<T>(
        &self,
        what: &str,
        mut probe: impl AsyncFnMut() -> Option<T>,
    ) -> T {
        let mut heard = self.events.subscribe();
        let asked = async {
            loop {
                if let Some(found) = probe().await {
                    return found;
                }
                heard.changed().await.expect("the list is held by `self`");
            }
        };
        let found = tokio::time::timeout(TEST_TIMEOUT, asked).await;
        found.unwrap_or_else(|_| panic!("{what} did not come: {:#?}", self.events.borrow()))
    }

    /// All that `select` takes of the events since the start, in order.
    pub(crate) fn heard_so_far<T>(&self, select: impl Fn(&AppEvent) -> Option<T>) -> Vec<T> {
        self.events.borrow().iter().filter_map(select).collect()
    }

    /// Messages of which the last thing that was told is that they are queued.
    pub(crate) fn still_queued(&self) -> Vec<String> {
        let mut stands = std::collections::BTreeMap::new();
        for event in self.events.borrow().iter() {
            if let AppEvent::ItemChanged { item: ChatItem::User { id, queued, .. }, .. } = event {
                stands.insert(id.to_string(), *queued);
            }
        }
        stands.into_iter().filter(|(_, queued)| *queued).map(|(id, _)| id).collect()
    }

    /// Ends it as its user would.
    pub(crate) async fn quit(self) {
        assert_eq!(self.app.shutdown().await, 0, "every task comes home");
    }
}

/// How a turn failed, as it stands in the chat.
pub(crate) fn turn_failure(view: &ConversationView) -> Option<UserError> {
    view.items.iter().rev().find_map(|item| match item {
        ChatItem::Ended { status: TurnStatus::Failed, error, .. } => error.clone(),
        _ => None,
    })
}

/// The user's messages in the chat.
pub(crate) fn user_messages(view: &ConversationView) -> Vec<&str> {
    let words = view.items.iter().filter_map(|item| match item {
        ChatItem::User { text, .. } => Some(text.as_str()),
        _ => None,
    });
    words.collect()
}

/// Settings with this model to ask; the key is the home's.
pub(crate) fn settings_with_model(model: &ScriptedModel) -> Settings {
    let (provider, base_url) = (ProviderKind::Anthropic, model.base_url());
    Settings { provider, base_url, ..Settings::default() }
}

/// Settings with nobody to ask but the commands.
pub(crate) fn settings_without_model() -> Settings {
    Settings { provider: ProviderKind::Commands, ..Settings::default() }
}

/// The same with the link to this hub switched on.
pub(crate) fn with_hub(settings: Settings, url: &str) -> Settings {
    let hub = HubSettings { enabled: true, address: url.into(), ..HubSettings::default() };
    Settings { hub, ..settings }
}

/// The same in another mode.
pub(crate) fn with_mode(settings: Settings, mode: Mode) -> Settings {
    Settings { mode, ..settings }
}

/// A home whose key the scripted model takes.
pub(crate) fn home_with_key(notes: &[(&str, &str)]) -> TestHome {
    TestHome::new(notes).with_key(KEY)
}

pub(crate) fn note_paths(texts: &[&str]) -> Vec<NotePath> {
    texts.iter().map(|text| NotePath::parse(text).expect("a path")).collect()
}

/// The blocks of one kind in a message of a request.
pub(crate) fn content_blocks(message: &Value, kind: &str) -> Vec<Value> {
    let blocks = message["content"].as_array().expect("a list of blocks");
    blocks.iter().filter(|block| block["type"] == kind).cloned().collect()
}

/// The last two messages of a request.
pub(crate) fn last_two_messages(request: &Value) -> (&Value, &Value) {
    let messages = request["messages"].as_array().expect("messages");
    let [.., before, last] = messages.as_slice() else { panic!("too short: {messages:?}") };
    (before, last)
}
