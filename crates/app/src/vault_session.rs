//! One open vault: its notes, its conversations, its turns, its link. Closing it joins them all.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use protocol::{AppEvent, HubStatus, UserError, VaultId};
use store::Store;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::changes::{ChangeRetention, NoteChanges};
use crate::chat::Chats;
use crate::events::feed::Feed;
use crate::hub::{VaultHub, client_name};
use crate::models::model_privacy::ModelPrivacy;
use crate::notes::Notes;
use crate::support::blocking::run_blocking;
use crate::support::task_group::TaskGroup;
use crate::workspace::data_dir::DataDir;
use crate::workspace::vault_lock::VaultLock;

mod assembly;

/// How long closing waits for tasks to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// An open vault. Everything it spawned is joined by [`VaultSession::close`].
pub(crate) struct VaultSession {
    pub(crate) home: VaultHome,
    pub(crate) store: Store,
    pub(crate) notes: Arc<Notes>,
    pub(crate) model_privacy: ModelPrivacy,
    pub(crate) changes: Arc<NoteChanges>,
    pub(crate) retention: Arc<ChangeRetention>,
    pub(crate) chats: Arc<Chats>,
    pub(crate) hub: VaultHub,
    pub(crate) feed: Feed,
    /// Keeps the vault locked until the last of them has ended.
    pub(crate) tasks: TaskGroup,
}

/// Where an open vault is kept on this computer.
pub(crate) struct VaultHome {
    /// By which the window names it.
    pub(crate) id: VaultId,
    /// The folder outside the vault with the database and the search index.
    pub(crate) data_folder: PathBuf,
    is_sample: bool,
    _lock: Arc<VaultLock>,
}

impl VaultHome {
    /// Makes a hub name this vault's, or says whose it is. The sample takes none.
    pub(crate) async fn claim_hub_name(&self, data: &DataDir, name: &str) -> Result<(), UserError> {
        if self.is_sample {
            return Ok(());
        }
        let (data, home, name) = (data.clone(), self.data_folder.clone(), name.to_owned());
        run_blocking(move || client_name::claim_name(&data, &home, &name)).await?
    }
}

/// An open vault in use by a request: closing it waits for that.
pub(crate) struct SessionGuard {
    session: Arc<VaultSession>,
    _token: TaskTrackerToken,
}

impl std::ops::Deref for SessionGuard {
    type Target = Arc<VaultSession>;

    fn deref(&self) -> &Self::Target {
        &self.session
    }
}

impl VaultSession {
    /// Keeps the vault from being closed while a request works on it.
    pub(crate) fn guard(self: &Arc<Self>) -> SessionGuard {
        SessionGuard { session: Arc::clone(self), _token: self.tasks.token() }
    }

    /// Stops intake, cancels, joins. Returns how many tasks and requests did not come home in time.
    pub(crate) async fn close(&self) -> usize {
        self.tasks.cancel();
        self.notes.indexer.stop();
        let left = self.tasks.join_within(SHUTDOWN_TIMEOUT).await;
        self.store.clone().close().await;
        self.feed.end_all_streams();
        self.feed.publish(AppEvent::HubChanged { hub: HubStatus::off() });
        left
    }
}
