//! The whole application with its link to a hub, and without a model.

use std::error::Error;
use std::path::{Path, PathBuf};

use app::{App, DataDir, TimeScale};
use protocol::chat::conversation_list::{ArchiveState, ListConversations};
use protocol::settings::HubSettings;
use protocol::{ConversationId, ProviderKind, Settings};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// A place for notes and data, and a port on which a hub listens.
pub(super) struct HubAppFixture {
    folder: TempDir,
    pub(super) listener: TcpListener,
}

impl HubAppFixture {
    pub(super) async fn new() -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("notes"))?;
        std::fs::write(folder.path().join("notes/Note.md"), "A note.\n")?;
        Ok(Self { folder, listener: TcpListener::bind(("127.0.0.1", 0)).await? })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The application, linked to the listener.
    pub(super) async fn open_app(&self) -> Result<App, Box<dyn Error>> {
        let data = DataDir::at(self.folder.path().join("data")).map_err(boxed_error)?;
        let app = App::start_at(data, TimeScale::REAL_TIME);
        let address = format!("ws://{}", self.listener.local_addr()?);
        let hub = HubSettings { enabled: true, address, ..HubSettings::default() };
        let provider = ProviderKind::Commands;
        app.save_settings(Settings { provider, hub, ..Settings::default() })
            .await
            .map_err(boxed_error)?;
        app.open_vault(&self.folder.path().join("notes")).await.map_err(boxed_error)?;
        Ok(app)
    }

    pub(super) fn database_path(&self) -> Result<PathBuf, Box<dyn Error>> {
        let mut vaults = std::fs::read_dir(self.folder.path().join("data/vaults"))?;
        Ok(vaults.next().ok_or("no vault was opened")??.path().join("vaultmate.db"))
    }
}

/// Waits until nothing is worked on.
pub(super) async fn wait_until_idle(app: &App) -> Result<(), Box<dyn Error>> {
    let page = ListConversations { archive_state: ArchiveState::Open, before: None };
    let listed = app.list_conversations(&page).await.map_err(boxed_error)?.conversations;
    let all: Vec<ConversationId> = listed.into_iter().map(|row| row.id).collect();
    for conversation in all {
        app.wait_until_idle(&conversation).await.map_err(boxed_error)?;
    }
    Ok(())
}

fn boxed_error(error: protocol::UserError) -> Box<dyn Error> {
    error.message.into()
}
