//! One open vault: its notes, its conversations, its turns, its link. Closing it joins them all.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use llm::TimeScale;
use protocol::{AppEvent, HubState, HubStatus, OpenTurn, TurnEnding, TurnStatus, UserError, VaultId};
use store::Store;
use tokio::sync::{mpsc, watch};
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::app::services::AppServices;
use crate::changes::{ChangeRetention, NoteChanges};
use crate::chat::Chats;
use crate::events::feed::Feed;
use crate::events::publisher::EventPublisher;
use crate::hub::{VaultHub, client_name, connection, inbox, outbox};
use crate::models::model_privacy::ModelPrivacy;
use crate::notes::Notes;
use crate::notes::index_loop::IndexLoop;
use crate::notes::indexer::Indexer;
use crate::notes::recent::RecentNotes;
use crate::notes::watcher::NoteWatcher;
use crate::settings::config;
use crate::settings::run_mode::RunMode;
use crate::support::blocking::run_blocking;
use crate::support::task_group::TaskGroup;
use crate::workspace::data_dir::DataDir;
use crate::workspace::open_and_lock::{LockedVault, open_and_lock};
use crate::workspace::vault_lock::VaultLock;
use crate::workspace::vault_registry::copy_warning;
use crate::workspace::{crash_recovery, open_database, single_instance};

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
    /// Opens the folder, puts right what was cut, and lets queued work go on. The problems are
    /// things the user should hear of; they do not keep the vault closed.
    pub(crate) async fn open(
        folder: &Path,
        services: &AppServices,
    ) -> Result<(Arc<Self>, Vec<UserError>), UserError> {
        let LockedVault { vault, home, lock } =
            open_and_lock(folder, &services.data, services.run_mode).await?;
        let dir = home.dir.clone();
        config::apply_read_settings(&vault, &services.config.get());
        let indexing =
            Indexer::new(&vault, services.config.private_rules(), &services.data.index_dir(&dir));
        let recent = RecentNotes::load(&dir);
        let (store, emptied) = open_database::open_database(&vault, &dir).await?;
        let mut problems: Vec<UserError> =
            copy_warning(folder, &home).into_iter().chain(emptied).collect();
        problems.extend(
            crash_recovery::recover(&vault, &store, &services.config.get(), services.run_mode)
                .await?,
        );
        let link = match services.run_mode {
            RunMode::Stay | RunMode::Serve => {
                connection::vault_link_config(&vault, &dir, &services.config, &services.data).await
            }
            RunMode::Ask | RunMode::AskAndWrite => Ok(None),
        };
        let link = link.unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        services.active_note.clear();
        let home = (home, lock);
        let (open, receivers) = Self::assemble(&vault, &indexing, recent, store, home, services)?;
        if services.run_mode.is_long_running() {
            // Before anybody listens to the hub: what comes in now must not be begun twice.
            problems.extend(open.resume_pending(services).await.err());
            open.tasks.spawn(Arc::clone(&open.retention).run_loop());
            open.tasks.spawn(Arc::clone(&open.chats).run_conversations_loop());
            open.tasks.spawn(Arc::clone(&open.chats).run_titles_loop(services.pace));
        }
        // For one question too: a note that becomes private meanwhile is not told from the index.
        let (notes, changes) = (Arc::clone(&open.notes), Arc::clone(&open.changes));
        let watcher = NoteWatcher { notes, changes, tasks: open.tasks.clone() };
        open.tasks.spawn(Arc::new(watcher).run());
        if let Some(second_start) = services.second_start.get() {
            open.tasks.spawn(single_instance::serve_notifications(dir, Arc::clone(second_start)));
        }
        let for_window = services.second_start.get().is_some();
        let index_loop = IndexLoop {
            indexer: open.notes.indexer.clone(),
            status: Arc::clone(&open.notes.folder),
            feed: open.feed.clone(),
            tasks: open.tasks.clone(),
        };
        open.tasks.spawn(Arc::new(index_loop).run(for_window, services.pace));
        open.spawn_tasks(receivers, services.pace);
        open.hub.link.connect(link, &services.data, &services.keyring);
        Ok((open, problems))
    }

    fn spawn_tasks(self: &Arc<Self>, receivers: assembly::SessionReceivers, time_scale: TimeScale) {
        let (ended, endings) = mpsc::unbounded_channel();
        let publisher = EventPublisher::new(
            self.store.clone(),
            self.feed.clone(),
            self.chats.meter.uses.clone(),
            self.chats.service.registry().talking_tools(),
        );
        self.tasks.spawn(publisher.run(receivers.domain_events, ended));
        self.tasks.spawn(Arc::clone(self).run_turn_end_loop(endings));
        let (state, watched) = watch::channel(HubState::Off);
        let VaultHub { link, inbox, outbox } = &self.hub;
        let (to_inbox, link) = (Arc::clone(inbox), Arc::clone(link));
        self.tasks.spawn(inbox::run_receive_loop(to_inbox, link, receivers.hub_events, state));
        self.tasks.spawn(inbox::run_inbox_loop(Arc::clone(inbox)));
        self.tasks.spawn(outbox::run_delivery_loop(Arc::clone(outbox), watched, time_scale));
    }

    /// Keeps the vault from being closed while a request works on it.
    pub(crate) fn guard(self: &Arc<Self>) -> SessionGuard {
        SessionGuard { session: Arc::clone(self), _token: self.tasks.token() }
    }

    async fn resume_pending(self: &Arc<Self>, services: &AppServices) -> Result<(), UserError> {
        // Before any hub message is read.
        let (config, data) = (&services.config, &services.data);
        let assigned = connection::assign_to_configured_hub(&self.store, config, data).await;
        let resumed = inbox::resume_unfinished(&self.hub.inbox).await;
        for turn in self.store.open_turns().await? {
            self.chats.service.wake(&turn.conversation);
        }
        assigned.and(resumed)
    }

    async fn run_turn_end_loop(
        self: Arc<Self>,
        mut endings: mpsc::UnboundedReceiver<(OpenTurn, TurnEnding)>,
    ) {
        while let Some((turn, ending)) = endings.recv().await {
            self.chats.titles_due.notify_one();
            // At a limit its message may be finished or not: the inbox knows.
            let may_have_failed = matches!(ending.status, TurnStatus::Failed | TurnStatus::Limit);
            if may_have_failed && turn.origin.is_hub() {
                let why = ending.error.unwrap_or_else(|| UserError::other("Something went wrong."));
                if let Err(error) = inbox::turn_failed(&self.hub.inbox, &turn, &why).await {
                    self.feed.publish(AppEvent::Problem { error });
                }
            }
        }
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
