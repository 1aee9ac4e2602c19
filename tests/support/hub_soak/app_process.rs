//! The application in a process of its own, linked to a hub. A question is a line, its answer another
//! one, a list in JSON.

use std::io::Write as _;
use std::path::Path;

use app::{App, DataDir, TimeScale};
use futures_util::future::join_all;
use protocol::chat::conversation::ChatItem;
use protocol::chat::conversation_list::{ArchiveState, ListConversations};
use protocol::settings::HubSettings;
use protocol::{AppEvent, ConversationId, HubState, ProviderKind, Settings};
use tokio::runtime::Runtime;

/// More questions at once than there are connections.
const PARALLEL_QUERIES: usize = 16;

/// The work of the application, as one argument.
#[derive(Debug, Clone)]
pub struct SoakAppOptions {
    /// The hub's address.
    pub hub: String,
    /// How many times as fast its clocks go.
    pub times: u32,
    /// A model to ask; without one messages are kept as they are.
    pub model: Option<String>,
    /// Whether somebody presses “Retry” whenever the link waits or has given up.
    pub retries: RetryPacing,
}

/// Whether the link is left to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryPacing {
    /// It waits as long as it likes.
    Patient,
    /// It is told to try again at once.
    Eager,
}

impl SoakAppOptions {
    /// The options as an argument of the child process, without a line break.
    #[must_use]
    pub fn to_line(&self) -> String {
        let eager = if self.retries == RetryPacing::Eager { "eager" } else { "patient" };
        format!("{} {} {eager} {}", self.hub, self.times, self.model.as_deref().unwrap_or("-"))
    }

    fn from_line(line: &str) -> Self {
        let mut words = line.split(' ');
        let mut next = || words.next().expect("a word").to_owned();
        let (hub, times, eager, model) = (next(), next(), next(), next());
        Self {
            hub,
            times: times.parse().expect("a number"),
            model: (model != "-").then_some(model),
            retries: if eager == "eager" { RetryPacing::Eager } else { RetryPacing::Patient },
        }
    }

    fn settings(&self) -> Settings {
        let hub =
            HubSettings { enabled: true, address: self.hub.clone(), ..HubSettings::default() };
        let settings = Settings { hub, ..Settings::default() };
        match &self.model {
            Some(url) => {
                Settings { provider: ProviderKind::Anthropic, base_url: url.clone(), ..settings }
            }
            None => Settings { provider: ProviderKind::Commands, ..settings },
        }
    }
}

/// Opens the notes and answers until there are no more questions, then closes them.
pub fn serve(orders: &str, data: &Path, notes: &Path) {
    let orders = SoakAppOptions::from_line(orders);
    let runtime = Runtime::new().expect("a runtime");
    let app = runtime.block_on(open_app(&orders, data, notes));
    let mut out = std::io::stdout();
    for line in std::iter::once(Ok("list".to_owned())).chain(std::io::stdin().lines()) {
        let line = line.expect("a line");
        let answer = runtime.block_on(answer_question(&app, line.trim()));
        let answer = serde_json::to_string(&answer).expect("a list");
        writeln!(out, "{answer}").and_then(|()| out.flush()).expect("somebody listens");
    }
    assert_eq!(runtime.block_on(app.shutdown()), 0, "every task comes home");
}

/// The application over these notes; it is told to try again at once if the orders say so.
pub(super) async fn open_app(orders: &SoakAppOptions, data: &Path, notes: &Path) -> App {
    let data = DataDir::at(data.to_owned()).expect("a data directory");
    let app = App::start_at(data, TimeScale::divided_by(orders.times));
    app.save_settings(orders.settings()).await.expect("saved");
    if orders.retries == RetryPacing::Eager {
        let (pressing, pressed) = (app.clone(), tokio::runtime::Handle::current());
        let waits = |event: &AppEvent| matches!(event, AppEvent::HubChanged { hub } if matches!(hub.state, HubState::Waiting | HubState::Refused));
        app.subscribe(Box::new(move |batch| {
            if batch.iter().any(|numbered| waits(&numbered.event)) {
                let app = pressing.clone();
                // Within the runtime's own work: it ends with it.
                drop(pressed.spawn(async move { app.retry_hub().await }));
            }
            true
        }))
        .await
        .expect("a snapshot");
    }
    app.open_vault(notes).await.expect("the vault opens");
    app
}

async fn answer_question(app: &App, question: &str) -> Vec<String> {
    match question {
        "list" => run_window_queries(app).await,
        // As many at once as any window ever has under way: every connection to the database is open
        // after that, and no later question opens one.
        "crowd" => {
            join_all((0..PARALLEL_QUERIES).map(|_| run_window_queries(app))).await;
            Vec::new()
        }
        // The user's messages in all conversations.
        "said" => {
            let mut said = Vec::new();
            for conversation in conversations(app).await {
                let view = app.conversation(&conversation).await.expect("a view");
                said.extend(view.items.into_iter().filter_map(|item| match item {
                    ChatItem::User { text, .. } => Some(text),
                    _ => None,
                }));
            }
            said
        }
        "idle" => {
            for conversation in conversations(app).await {
                app.wait_until_idle(&conversation).await.expect("idle");
            }
            Vec::new()
        }
        other => panic!("`{other}` is no question"),
    }
}

/// The queries of a window that shows the conversation of the day.
async fn run_window_queries(app: &App) -> Vec<String> {
    let page = ListConversations { archive_state: ArchiveState::Open, before: None };
    let listed = app.list_conversations(&page).await.expect("a list").conversations;
    if let Some(first) = listed.first() {
        app.conversation(&first.id).await.expect("a view");
    }
    listed.into_iter().map(|row| row.title).collect()
}

async fn conversations(app: &App) -> Vec<ConversationId> {
    let page = ListConversations { archive_state: ArchiveState::Open, before: None };
    let listed = app.list_conversations(&page).await.expect("a list").conversations;
    listed.into_iter().map(|row| row.id).collect()
}
