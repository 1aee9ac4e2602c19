//! The product's side: the whole application with a vault and a model server.

use std::error::Error;
use std::fs;
use std::path::Path;

use app::{App, DataDir, TimeScale};
use protocol::request::SendMessageRequest;
use protocol::{ConversationId, Mode, ProviderKind, Settings};
use tempfile::TempDir;

use super::timing_server::NOTE;

/// An application, and the conversation that its turns are of.
pub(super) struct TurnAppFixture {
    app: App,
    conversation: Option<ConversationId>,
    _place: Option<TempDir>,
}

impl TurnAppFixture {
    /// In a new place, asking the server at `url`.
    pub(super) async fn new(url: &str) -> Result<Self, Box<dyn Error>> {
        let place = tempfile::tempdir()?;
        let ours = Self::open(place.path(), url).await?;
        Ok(Self { _place: Some(place), ..ours })
    }

    /// With its vault and its data in `place`.
    pub(super) async fn open(place: &Path, url: &str) -> Result<Self, Box<dyn Error>> {
        let (vault, data) = (place.join("vault"), place.join("data"));
        fs::create_dir_all(&vault)?;
        fs::create_dir_all(&data)?;
        fs::write(vault.join(NOTE), "# Note\n\nA few words to read.\n")?;
        fs::write(data.join("key"), "sk-bench")?;
        let app = App::start_at(DataDir::at(data)?, TimeScale::REAL_TIME);
        let settings = Settings {
            provider: ProviderKind::Anthropic,
            base_url: url.to_owned(),
            mode: Mode::Auto,
            ..Settings::default()
        };
        app.save_settings(settings).await?;
        app.open_vault(&vault).await?;
        Ok(Self { app, conversation: None, _place: None })
    }

    /// Says something and waits for the end of the turn.
    pub(super) async fn run_turn(&mut self) -> Result<(), Box<dyn Error>> {
        let (conversation, text) = (self.conversation.take(), "Please look at it.".to_owned());
        let request = SendMessageRequest { conversation, text, answers: None, open_note: None };
        let conversation = self.app.send(request).await?;
        self.app.wait_until_idle(&conversation).await?;
        self.conversation = Some(conversation);
        Ok(())
    }

    /// The next turn is of a new conversation.
    pub(super) fn start_conversation(&mut self) {
        self.conversation = None;
    }

    pub(super) async fn close(self) {
        self.app.shutdown().await;
    }
}
