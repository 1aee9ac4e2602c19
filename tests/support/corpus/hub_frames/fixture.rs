//! The application with its link to a hub of bytes, and a model that always tries too much.

use std::time::Duration;

use app::{App, DataDir, TimeScale};
use protocol::chat::conversation::ChatItem;
use protocol::settings::HubSettings;
use protocol::{
    AppEvent, Conversation, HubState, HubStatus, Mode, NumberedEvent, ProviderKind, Settings,
    UserError,
};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use super::byte_hub::{ByteHub, ByteHubConnection, ReceivedFrames};
use crate::scripted_model::{KEY, tool_results};
use crate::{Reply, ScriptedModel, TempVault};

/// Where messages may add at once.
const INBOX: &str = "inbox/Inbox.md";

/// The line that the model adds for each message; once other notes were read, it waits for a review.
const KEPT_LINE: &str = "- kept";

/// No message may change it without the user's decision.
const PROTECTED_NOTE: &str = "Outside.md";
const PROTECTED_TEXT: &str = "# Outside\n\nThe first line.\n";

/// Nothing takes so long, unless it never comes.
pub(super) const CASE_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) struct FrameFixture {
    pub(super) app: App,
    pub(super) hub: ByteHub,
    model: ScriptedModel,
    notes: TempVault,
    window: watch::Receiver<WindowState>,
    _data: TempVault,
}

/// The events that the window got.
#[derive(Debug, Default)]
struct WindowState {
    statuses: Vec<HubStatus>,
    /// The rows of the list, as they stand.
    conversations: Vec<Conversation>,
}

impl WindowState {
    fn apply(&mut self, batch: Vec<NumberedEvent>) {
        for numbered in batch {
            match numbered.event {
                AppEvent::HubChanged { hub } => self.statuses.push(hub),
                AppEvent::ConversationChanged { conversation } => {
                    self.conversations.retain(|one| one.id != conversation.id);
                    self.conversations.push(conversation);
                }
                _ => {}
            }
        }
    }

    fn is_busy(&self) -> bool {
        self.conversations.iter().any(|one| one.working)
    }
}

impl FrameFixture {
    /// Opens a vault whose link has clocks that are divided by `clock`.
    pub(super) async fn open(clock: u32) -> Result<Self, String> {
        let notes = TempVault::new(&[(PROTECTED_NOTE, PROTECTED_TEXT)]);
        let data = TempVault::new(&[("key", KEY)]);
        let port = ByteHub::bind().await.map_err(|error| error.to_string())?;
        let address = port.address().map_err(|error| error.to_string())?;
        let model = ScriptedModel::responder(reply).await;
        let folder = DataDir::at(data.root().to_owned()).map_err(|error| error.to_string())?;
        let app = App::start_at(folder, TimeScale::divided_by(clock));
        let (told, window) = watch::channel(WindowState::default());
        let ears = Box::new(move |batch: Vec<NumberedEvent>| {
            told.send_modify(|window| window.apply(batch));
            true
        });
        app.subscribe(ears).await.map_err(error_text)?;
        let address = format!("ws://{address}");
        let settings = Settings {
            mode: Mode::Auto,
            provider: ProviderKind::Anthropic,
            base_url: model.base_url(),
            hub: HubSettings { enabled: true, address, ..HubSettings::default() },
            ..Settings::default()
        };
        app.save_settings(settings).await.map_err(error_text)?;
        app.open_vault(notes.root()).await.map_err(error_text)?;
        Ok(Self { app, hub: port, model, notes, window, _data: data })
    }

    /// The next link, before its registration is answered.
    pub(super) async fn accept_link(&self, limit: Duration) -> Result<ByteHubConnection, String> {
        let mut line = self.hub.accept(limit).await.ok_or("no link came")?;
        if !line.wait_until(CASE_TIMEOUT, |heard| !heard.frames.is_empty()).await {
            return Err("the link did not register".to_owned());
        }
        Ok(line)
    }

    /// The next link, registered.
    pub(super) async fn accept_registered_link(
        &self,
        limit: Duration,
    ) -> Result<ByteHubConnection, String> {
        let mut line = self.accept_link(limit).await?;
        self.answer_registration(&mut line).await?;
        Ok(line)
    }

    /// Answers a registration as a hub does.
    async fn answer_registration(&self, line: &mut ByteHubConnection) -> Result<(), String> {
        let before = self.statuses().len();
        line.send_json(&json!({ "type": "registration_response", "payload": { "success": true } }))
            .await;
        let is_online = |all: &[HubStatus]| {
            all.iter().skip(before).any(|status| status.state == HubState::Online)
        };
        if self.wait_for_status(is_online).await {
            return Ok(());
        }
        Err("the link does not say that it is online".to_owned())
    }

    /// Whether the window is told so in time.
    pub(super) async fn wait_for_status(&self, is_so: impl Fn(&[HubStatus]) -> bool) -> bool {
        let mut window = self.window.clone();
        let told = window.wait_for(|window| is_so(&window.statuses));
        matches!(timeout(CASE_TIMEOUT, told).await, Ok(Ok(_)))
    }

    /// The link states that the window got.
    pub(super) fn statuses(&self) -> Vec<HubStatus> {
        self.window.borrow().statuses.clone()
    }

    /// Complaints about a good message over this line, after which `items` were worked on.
    pub(super) async fn send_probe(
        &self,
        line: &mut ByteHubConnection,
        id: &str,
        text: &str,
        items: usize,
    ) -> Option<String> {
        let payload = json!({ "id": id, "text": text });
        line.send_json(&json!({ "type": "message", "payload": payload })).await;
        if line.wait_until(CASE_TIMEOUT, |heard| responses_to(heard, id).contains(&"ack")).await {
            return self.wait_until_idle(items).await;
        }
        Some(format!("a good message is not acknowledged afterwards: {:?}", line.received()))
    }

    /// Waits until so many messages were worked on and nothing works any more.
    pub(super) async fn wait_until_idle(&self, items: usize) -> Option<String> {
        let settled = async {
            let mut window = self.window.clone();
            loop {
                if !window.borrow_and_update().is_busy() && self.finished_work() >= items {
                    return None;
                }
                if window.changed().await.is_err() {
                    return Some("the application ended".to_owned());
                }
            }
        };
        let late = || Some(format!("{items} messages were not worked on in time"));
        timeout(CASE_TIMEOUT, settled).await.unwrap_or_else(|_| late())
    }

    /// The user's messages in all conversations of the hub.
    pub(super) async fn user_messages(&self) -> Result<Vec<ChatItem>, String> {
        let conversations = self.window.borrow().conversations.clone();
        let mut messages = Vec::new();
        for conversation in conversations.iter().filter(|one| one.from_hub) {
            let view = self.app.conversation(&conversation.id).await.map_err(error_text)?;
            let words = view.items.into_iter().filter(|item| matches!(item, ChatItem::User { .. }));
            messages.extend(words);
        }
        Ok(messages)
    }

    /// How many messages were worked on: the model answered after its calls, or the message was kept whole.
    pub(super) fn finished_work(&self) -> usize {
        let inbox = self.notes.try_read(INBOX).unwrap_or_default();
        let is_kept_whole = |line: &&str| line.starts_with("- ") && *line != KEPT_LINE;
        let kept = inbox.lines().filter(is_kept_whole).count();
        let requests = self.model.requests();
        kept + requests.iter().filter(|request| !tool_results(request).is_empty()).count()
    }

    /// Files that should not be, or not be so.
    pub(super) fn unexpected_files(&self) -> Vec<String> {
        let files = self.notes.snapshot();
        let known = |path: &str| path == INBOX || path == PROTECTED_NOTE;
        let mut strange: Vec<String> = files.keys().filter(|path| !known(path)).cloned().collect();
        if self.notes.try_read(PROTECTED_NOTE).as_deref() != Some(PROTECTED_TEXT) {
            strange.push(PROTECTED_NOTE.to_owned());
        }
        strange
    }

    /// The bodies of all requests to the model, one after the other.
    pub(super) fn model_requests_text(&self) -> String {
        self.model.request_bodies().concat()
    }

    pub(super) async fn close(self) {
        self.app.shutdown().await;
    }
}

/// The responses of a line about a message, by kind.
pub(super) fn responses_to<'a>(heard: &'a ReceivedFrames, id: &str) -> Vec<&'a str> {
    let payloads = heard.frames.iter().map(|frame| &frame["payload"]);
    let about = payloads.filter(|payload| payload["messageId"] == id);
    about.filter_map(|payload| payload["type"].as_str()).collect()
}

/// It keeps what it hears, changes what it may not, and says so.
fn reply(request: &Value) -> Reply {
    if !tool_results(request).is_empty() {
        return Reply::text("Done.");
    }
    let edit = json!({ "path": PROTECTED_NOTE, "old_text": "first", "new_text": "FIRST" });
    let keep = json!({ "path": INBOX, "content": KEPT_LINE });
    Reply::calls(vec![("append_file", keep), ("edit_file", edit)])
}

fn error_text(error: UserError) -> String {
    error.to_string()
}
