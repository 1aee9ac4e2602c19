//! The application on a vault of its own, asking a server that answers as it is told.

use std::time::Duration;

use app::{App, DataDir, TimeScale};
use protocol::chat::conversation::ChatItem;
use protocol::request::SendMessageRequest;
use protocol::settings::TitleSource;
use protocol::{ConversationId, ProviderKind, Settings, TurnStatus, UserError};
use tokio::time::timeout;

use super::case::{SseExpectation, SseProvider};
use super::response::SseResponse;
use super::server::{SseRequest, SseServer};
use crate::TempVault;
use crate::scripted_model::KEY;
use crate::vaults::temp_vault::Files;

/// The default answer of the server.
pub(super) const DEFAULT_TEXT: &str = "Noted.";

/// So many notes can be read by number, more than calls of one message run.
const NUMBERED_NOTES: usize = 20;

/// An application, its notes and its provider.
pub(super) struct SseFixture {
    pub(super) server: SseServer,
    pub(super) provider: SseProvider,
    app: App,
    notes: TempVault,
    _data: TempVault,
}

/// The outcome of a turn.
#[derive(Debug)]
pub(super) struct ObservedTurn {
    /// How it ended; `None` is with an answer.
    pub(super) ended: Option<(TurnStatus, Option<UserError>)>,
    /// The model's texts, and whether they were cut off.
    pub(super) texts: Vec<(String, bool)>,
    pub(super) calls: Vec<ExecutedCall>,
    pub(super) requests: Vec<SseRequest>,
    /// Whether no note is other than before.
    pub(super) left_notes_alone: bool,
}

/// A call and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExecutedCall {
    pub(super) tool: String,
    pub(super) arguments: String,
    pub(super) output: Option<String>,
    pub(super) is_error: bool,
}

impl SseFixture {
    /// `clock` divides the client's clocks.
    pub(super) async fn open(
        wire: SseProvider,
        expect: SseExpectation,
        clock: u32,
    ) -> Result<Self, String> {
        let notes = TempVault::new(&[("notes/other.md", "Other.\n")]);
        if expect != SseExpectation::RepeatGuard {
            notes.write("notes/a.md", "# A\n\nThe first note.\n");
        }
        for number in 0..NUMBERED_NOTES {
            notes.write(&format!("notes/n{number}.md"), format!("Number {number}.\n"));
        }
        let data = TempVault::new(&[("key", KEY), ("key.openai", KEY)]);
        let server = SseServer::start(SseResponse::with_text(wire, DEFAULT_TEXT))
            .await
            .map_err(io_error_text)?;
        let folder = DataDir::at(data.root().to_owned()).map_err(|error| error.to_string())?;
        let app = App::start_at(folder, TimeScale::divided_by(clock));
        let provider = match wire {
            SseProvider::Anthropic => ProviderKind::Anthropic,
            SseProvider::OpenAi => ProviderKind::OpenAi,
        };
        let (base_url, model) = (server.base_url(), "model".to_owned());
        // A request for a title would be given the answer that is meant for the turn.
        let titles = TitleSource::Words;
        let settings = Settings { provider, base_url, model, titles, ..Settings::default() };
        app.save_settings(settings).await.map_err(error_text)?;
        app.open_vault(notes.root()).await.map_err(error_text)?;
        Ok(Self { server, provider: wire, app, notes, _data: data })
    }

    /// Sends a message, and waits for the turn to end; `None` when it does not in time.
    pub(super) async fn run_turn(
        &self,
        to: Option<&ConversationId>,
        words: &str,
        limit: Duration,
    ) -> Result<Option<(ConversationId, ObservedTurn)>, String> {
        let before = self.notes.snapshot();
        let request = SendMessageRequest {
            conversation: to.cloned(),
            text: words.into(),
            answers: None,
            open_note: None,
        };
        let conversation = self.app.send(request).await.map_err(error_text)?;
        let shown = match to {
            Some(_) => self.app.conversation(&conversation).await.map_err(error_text)?.items.len(),
            None => 0,
        };
        let Ok(idle) = timeout(limit, self.app.wait_until_idle(&conversation)).await else {
            return Ok(None);
        };
        idle.map_err(error_text)?;
        let items = self.app.conversation(&conversation).await.map_err(error_text)?.items;
        let told = observed_turn(items.into_iter().skip(shown), &before, &self.notes.snapshot());
        Ok(Some((conversation, ObservedTurn { requests: self.server.take_requests(), ..told })))
    }

    pub(super) async fn close(self) {
        self.app.shutdown().await;
    }
}

fn observed_turn(
    items: impl Iterator<Item = ChatItem>,
    before: &Files,
    after: &Files,
) -> ObservedTurn {
    let mut told = ObservedTurn {
        ended: None,
        texts: Vec::new(),
        calls: Vec::new(),
        requests: Vec::new(),
        left_notes_alone: before == after,
    };
    for item in items {
        match item {
            ChatItem::Assistant { text, cut, .. } => told.texts.push((text, cut)),
            ChatItem::Tool { tool, arguments, output, is_error, .. } => {
                told.calls.push(ExecutedCall { tool, arguments, output, is_error });
            }
            ChatItem::Ended { status, error, .. } => told.ended = Some((status, error)),
            ChatItem::User { .. }
            | ChatItem::Asked { .. }
            | ChatItem::Summary { .. }
            | ChatItem::Decision { .. } => {}
        }
    }
    told
}

fn error_text(error: UserError) -> String {
    error.to_string()
}

fn io_error_text(error: std::io::Error) -> String {
    error.to_string()
}
