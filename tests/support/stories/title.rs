//! Stories of a turn, its title and its summary: the model's part, and the user's, who goes on
//! wherever the story stands after a crash.

use std::path::{Path, PathBuf};
use std::time::Duration;

use app::{App, DataDir, TimeScale};
use protocol::chat::conversation::{ChatItem, Conversation, ConversationState};
use protocol::request::SendMessageRequest;
use protocol::{ConversationId, ResumePolicy, Settings};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::fault_injection::fault_points;
use crate::scripted_model::Reply;

/// The stories: the user gives no name, or one before the model has.
pub const STORIES: [&str; 2] = ["untitled", "named"];
/// The model's title of a conversation.
pub const TITLE: &str = "Milk for the whole week";
/// The model's summary.
pub const SUMMARY: &str = "The user wanted milk. It was noted.";
/// The user's title.
pub const NAME: &str = "Mine";
const FIRST_MESSAGE: &str = "buy milk and more of it";
/// With this divisor 2 s without activity are over after 40 ms.
const TIME_DIVISOR: u32 = 50;
const TITLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The answers of the model to a request for a title, and for a summary.
#[must_use]
pub fn utility_reply(request: &Value) -> Reply {
    match request["system"][0]["text"].to_string().contains("summary") {
        true => Reply::text(&format!("{TITLE}\n\n{SUMMARY}")),
        false => Reply::text(TITLE),
    }
}

/// A story from wherever it stands to its end, and its outcome. With `CONTROL` the user does not
/// give the name.
pub async fn play(data: PathBuf, vault: &Path, story: &str) -> Value {
    let data = DataDir::at(data).expect("a data directory");
    let app = App::start_at(data, TimeScale::divided_by(TIME_DIVISOR));
    let settings = Settings { resume: ResumePolicy::Always, ..Settings::default() };
    app.save_settings(settings).await.expect("saved");
    app.open_vault(vault).await.expect("the vault opens");
    let chat = find_or_start(&app).await;
    app.wait_until_idle(&chat).await.expect("idle");
    if story == "named" && std::env::var_os("CONTROL").is_none() {
        app.rename_conversation(&chat, NAME).await.expect("renamed");
        protocol::fault_injection::point("user.has.named");
    } else {
        wait_for_row(&app, &chat, |row| row.title == TITLE).await;
    }
    if conversation_row(&app, &chat).await.state == ConversationState::Active {
        app.end_conversation(&chat).await.expect("ended");
        protocol::fault_injection::point("user.has.ended");
    }
    wait_for_row(&app, &chat, |row| row.summary.is_some()).await;
    let points = fault_points::passed_count();
    let view = app.conversation(&chat).await.expect("a view");
    let said = view.items.iter().map(|item| match item {
        ChatItem::User { text, .. } | ChatItem::Assistant { text, .. } => text.clone(),
        other => format!("{other:?}"),
    });
    let said: Vec<String> = said.collect();
    app.shutdown().await;
    let Conversation { title, summary, .. } = view.conversation;
    json!({ "points": points, "title": title, "summary": summary, "said": said })
}

/// The conversation with its first message, which is sent unless it was before a crash.
async fn find_or_start(app: &App) -> ConversationId {
    let snapshot = app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    let last = snapshot.conversations.into_iter().map(|conversation| conversation.id).next();
    if let Some(chat) = &last
        && !app.conversation(chat).await.expect("a view").items.is_empty()
    {
        return chat.clone();
    }
    let request = SendMessageRequest {
        conversation: last,
        text: FIRST_MESSAGE.to_owned(),
        answers: None,
        open_note: None,
    };
    app.send(request).await.expect("sent")
}

async fn conversation_row(app: &App, chat: &ConversationId) -> Conversation {
    app.conversation(chat).await.expect("a view").conversation
}

/// Returns when the row is as wanted, or it takes too long: the story tells then how it is.
async fn wait_for_row(app: &App, chat: &ConversationId, wanted: impl Fn(&Conversation) -> bool) {
    let (tell, mut told) = mpsc::unbounded_channel();
    let listener = Box::new(move |_| tell.send(()).is_ok());
    app.subscribe(listener).await.expect("a snapshot");
    let waiting = async {
        while !wanted(&conversation_row(app, chat).await) {
            told.recv().await;
        }
    };
    let _ = tokio::time::timeout(TITLE_TIMEOUT, waiting).await;
}
