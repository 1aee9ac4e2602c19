//! The application on a vault of its own, asking a server that answers as it is told.

use std::time::Duration;

use app::{App, DataDir, Pace};
use protocol::conversation::Item;
use protocol::request::SendMessage;
use protocol::settings::Titles;
use protocol::{ConversationId, ProviderKind, Settings, TurnStatus, UserError};
use tokio::time::timeout;

use super::answer::Answer;
use super::case::{Expect, Vendor};
use super::server::{Request, Server};
use crate::TempVault;
use crate::scripted_model::KEY;
use crate::temp_vault::Files;

/// What the server says when it was told nothing else.
pub(super) const PLAIN: &str = "Noted.";

/// So many notes can be read by number, more than calls of one message run.
const NUMBERED: usize = 20;

/// An application, its notes and its provider.
pub(super) struct Stage {
    pub(super) server: Server,
    pub(super) vendor: Vendor,
    app: App,
    notes: TempVault,
    _data: TempVault,
}

/// What came of a turn.
#[derive(Debug)]
pub(super) struct Told {
    /// How it ended; `None` is with an answer.
    pub(super) ended: Option<(TurnStatus, Option<UserError>)>,
    /// The model's words, and whether they were cut off.
    pub(super) said: Vec<(String, bool)>,
    pub(super) calls: Vec<Ran>,
    pub(super) requests: Vec<Request>,
    /// Whether no note is other than before.
    pub(super) left_notes_alone: bool,
}

/// A call and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) tool: String,
    pub(super) arguments: String,
    pub(super) output: Option<String>,
    pub(super) is_error: bool,
}

impl Stage {
    /// `clock` divides the client's clocks.
    pub(super) async fn open(vendor: Vendor, expect: Expect, clock: u32) -> Result<Self, String> {
        let notes = TempVault::new(&[("notes/other.md", "Other.\n")]);
        if expect != Expect::RepeatGuard {
            notes.write("notes/a.md", "# A\n\nThe first note.\n");
        }
        for number in 0..NUMBERED {
            notes.write(&format!("notes/n{number}.md"), format!("Number {number}.\n"));
        }
        let data = TempVault::new(&[("key", KEY), ("key.openai", KEY)]);
        let server = Server::start(Answer::plain(vendor, PLAIN)).await.map_err(named)?;
        let folder = DataDir::at(data.root().to_owned()).map_err(|error| error.to_string())?;
        let app = App::start_at(folder, Pace::divided_by(clock));
        let provider = match vendor {
            Vendor::Anthropic => ProviderKind::Anthropic,
            Vendor::OpenAi => ProviderKind::OpenAi,
        };
        let (base_url, model) = (server.base_url(), "model".to_owned());
        // A request for a title would be given the answer that is meant for the turn.
        let titles = Titles::Words;
        let settings = Settings { provider, base_url, model, titles, ..Settings::default() };
        app.save_settings(settings).await.map_err(said)?;
        app.open_vault(notes.root()).await.map_err(said)?;
        Ok(Self { server, vendor, app, notes, _data: data })
    }

    /// Says something, and waits for the turn to end; `None` when it does not in time.
    pub(super) async fn turn(
        &self,
        to: Option<&ConversationId>,
        words: &str,
        limit: Duration,
    ) -> Result<Option<(ConversationId, Told)>, String> {
        let before = self.notes.snapshot();
        let request = SendMessage {
            conversation: to.cloned(),
            text: words.into(),
            answers: None,
            open_note: None,
        };
        let conversation = self.app.send(request).await.map_err(said)?;
        let shown = match to {
            Some(_) => self.app.conversation(&conversation).await.map_err(said)?.items.len(),
            None => 0,
        };
        let Ok(idle) = timeout(limit, self.app.idle(&conversation)).await else { return Ok(None) };
        idle.map_err(said)?;
        let items = self.app.conversation(&conversation).await.map_err(said)?.items;
        let told = told(items.into_iter().skip(shown), &before, &self.notes.snapshot());
        Ok(Some((conversation, Told { requests: self.server.requests(), ..told })))
    }

    pub(super) async fn close(self) {
        self.app.shutdown().await;
    }
}

fn told(items: impl Iterator<Item = Item>, before: &Files, after: &Files) -> Told {
    let mut told = Told {
        ended: None,
        said: Vec::new(),
        calls: Vec::new(),
        requests: Vec::new(),
        left_notes_alone: before == after,
    };
    for item in items {
        match item {
            Item::Assistant { text, cut, .. } => told.said.push((text, cut)),
            Item::Tool { tool, arguments, output, is_error, .. } => {
                told.calls.push(Ran { tool, arguments, output, is_error });
            }
            Item::Ended { status, error, .. } => told.ended = Some((status, error)),
            Item::User { .. }
            | Item::Asked { .. }
            | Item::SummedUp { .. }
            | Item::Verdict { .. } => {}
        }
    }
    told
}

fn said(error: UserError) -> String {
    error.to_string()
}

fn named(error: std::io::Error) -> String {
    error.to_string()
}
