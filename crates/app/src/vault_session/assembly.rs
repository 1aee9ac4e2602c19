//! Opens a vault: joins its parts, and starts their tasks.

use std::path::Path;
use std::sync::Arc;

use hub::{HubEvent, HubHandle, LinkTiming};
use llm::TimeScale;
use llm::service::{LlmService, ServiceParts};
use llm::tool_api::registry::ToolRegistry;
use protocol::{AppEvent, HubState, OpenTurn, TurnEnding, TurnStatus, UserError, VaultId};
use store::Store;
use tokio::sync::{Notify, mpsc, watch};
use tools::catalog::{ToolDeps, catalog};
use vault::Vault;

use super::{VaultHome, VaultSession};
use crate::adapters::active_note::TurnEnvironment;
use crate::adapters::archive::StoreArchive;
use crate::adapters::changes::VaultChanges;
use crate::adapters::questions::StoreQuestions;
use crate::adapters::transcript::StoreTranscript;
use crate::adapters::turn_cache::TurnCache;
use crate::adapters::turn_policy::AppTurnPolicy;
use crate::app::services::AppServices;
use crate::changes::{ChangeRetention, NoteChanges};
use crate::chat::Chats;
use crate::chat::context::TurnContextBuilder;
use crate::events::domain_event::{DomainEvent, DomainEvents};
use crate::events::publisher::EventPublisher;
use crate::hub::VaultHub;
use crate::hub::connection::{self, HubLink};
use crate::hub::inbox::{self, HubInbox, StalledMessages};
use crate::hub::outbox::{self, HubOutbox};
use crate::models::context_use::ContextMeter;
use crate::models::model_privacy::ModelPrivacy;
use crate::models::permissions::RegisteredTool;
use crate::notes::Notes;
use crate::notes::folder_status::FolderStatus;
use crate::notes::index_loop::IndexLoop;
use crate::notes::indexer::Indexer;
use crate::notes::recent::RecentNotes;
use crate::notes::sent_note::SentNotes;
use crate::notes::viewer::NoteViewer;
use crate::notes::watcher::NoteWatcher;
use crate::privacy::PrivacyGuard;
use crate::settings::config::{self, Config};
use crate::settings::run_mode::RunMode;
use crate::support::task_group::TaskGroup;
use crate::user_texts;
use crate::workspace::open_and_lock::{LockedVault, open_and_lock};
use crate::workspace::vault_lock::VaultLock;
use crate::workspace::vault_registry::{VaultDataDir, copy_warning};
use crate::workspace::{crash_recovery, open_database, single_instance};

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
        };
        open.tasks.spawn(index_loop.run(for_window, services.pace));
        open.spawn_tasks(receivers, services.pace);
        open.hub.link.connect(link, &services.data, &services.keyring);
        Ok((open, problems))
    }

    /// Wires the parts of a session together; nothing runs yet.
    fn assemble(
        vault: &Vault,
        indexer: &Indexer,
        recent: RecentNotes,
        store: Store,
        (home, lock): (VaultDataDir, Arc<VaultLock>),
        services: &AppServices,
    ) -> Result<(Arc<Self>, SessionReceivers), UserError> {
        let tasks = TaskGroup::keeping(Arc::clone(&lock));
        let (handle, hub_events) = start_hub(&tasks, services.pace);
        let outbox_ready: Arc<Notify> = Arc::default();
        let guard = PrivacyGuard::new(vault, &indexer.index, services.config.private_rules());
        let (domain_events, event_receiver) = DomainEvents::channel();
        let changes = NoteChanges::new(
            vault.clone(),
            store.clone(),
            indexer.clone(),
            domain_events.clone(),
            services.jobs.clone(),
            services.pace,
        );
        let (jobs, events) = (services.jobs.clone(), domain_events.clone());
        let retention = ChangeRetention::new(store.clone(), indexer.clone(), jobs, events);
        let notes = notes(vault, indexer, recent, home.id.clone(), &tasks, services);
        let service = llm_service(&changes, &guard, &outbox_ready, &tasks, &lock, services)?;
        let context = turn_context(vault, &store, &guard, services);
        let chats = Arc::new(chats(service, context, domain_events, &tasks, services));
        let hub = vault_hub(handle, vault, &chats, &guard, outbox_ready, &tasks);
        let model_privacy = ModelPrivacy {
            store: store.clone(),
            config: services.config.clone(),
            privacy_guard: guard,
            model_selector: services.model_selector.clone(),
        };
        let open = Self {
            home: VaultHome {
                is_sample: vault.folder() == services.data.sample(),
                id: home.id,
                data_folder: home.dir,
                _lock: lock,
            },
            store,
            notes: Arc::new(notes),
            model_privacy,
            changes: Arc::new(changes),
            retention: Arc::new(retention),
            chats,
            hub,
            feed: services.feed.clone(),
            tasks,
        };
        Ok((Arc::new(open), SessionReceivers { domain_events: event_receiver, hub_events }))
    }

    async fn resume_pending(&self, services: &AppServices) -> Result<(), UserError> {
        // Before any hub message is read.
        let (config, data) = (&services.config, &services.data);
        let assigned = connection::assign_to_configured_hub(&self.store, config, data).await;
        let resumed = inbox::resume_unfinished(&self.hub.inbox).await;
        for turn in self.store.open_turns().await? {
            self.chats.service.wake(&turn.conversation);
        }
        assigned.and(resumed)
    }

    fn spawn_tasks(&self, receivers: SessionReceivers, time_scale: TimeScale) {
        let (ended, endings) = mpsc::unbounded_channel();
        let publisher = EventPublisher::new(
            self.store.clone(),
            self.feed.clone(),
            self.chats.meter.uses.clone(),
            self.chats.service.registry().talking_tools(),
        );
        self.tasks.spawn(publisher.run(receivers.domain_events, ended));
        let (hub, chats) = (&self.hub, Arc::clone(&self.chats));
        self.tasks.spawn(run_turn_end_loop(chats, Arc::clone(&hub.inbox), endings));
        let (state, watched) = watch::channel(HubState::Off);
        let (to_inbox, link) = (Arc::clone(&hub.inbox), Arc::clone(&hub.link));
        self.tasks.spawn(inbox::run_receive_loop(to_inbox, link, receivers.hub_events, state));
        self.tasks.spawn(inbox::run_inbox_loop(Arc::clone(&hub.inbox)));
        self.tasks.spawn(outbox::run_delivery_loop(Arc::clone(&hub.outbox), watched, time_scale));
    }
}

async fn run_turn_end_loop(
    chats: Arc<Chats>,
    inbox: Arc<HubInbox>,
    mut endings: mpsc::UnboundedReceiver<(OpenTurn, TurnEnding)>,
) {
    while let Some((turn, ending)) = endings.recv().await {
        chats.titles_due.notify_one();
        // At a limit its message may be finished or not: the inbox knows.
        let may_have_failed = matches!(ending.status, TurnStatus::Failed | TurnStatus::Limit);
        if may_have_failed && turn.origin.is_hub() {
            let why = ending
                .error
                .unwrap_or_else(|| UserError::other(user_texts::something_went_wrong()));
            if let Err(error) = inbox::turn_failed(&inbox, &turn, &why).await {
                inbox.feed.publish(AppEvent::Problem { error });
            }
        }
    }
}

/// The link to no hub yet, with its clocks at this pace.
fn start_hub(tasks: &TaskGroup, time_scale: TimeScale) -> (HubHandle, mpsc::Receiver<HubEvent>) {
    let timing = LinkTiming::default().faster(time_scale.speedup());
    hub::start_timed(tasks.tracker(), tasks.cancellation().clone(), None, timing)
}

/// The notes of a session as the user sees them.
fn notes(
    vault: &Vault,
    indexer: &Indexer,
    recent: RecentNotes,
    id: VaultId,
    tasks: &TaskGroup,
    services: &AppServices,
) -> Notes {
    let AppServices { data, feed, active_note, .. } = services;
    let is_sample = vault.folder() == data.sample();
    let (vault, indexer) = (vault.clone(), indexer.clone());
    let folder = FolderStatus::new(
        id,
        is_sample,
        vault.clone(),
        indexer.clone(),
        feed.clone(),
        tasks.clone(),
    );
    let viewer = NoteViewer::new(vault.clone(), feed.clone(), active_note.clone(), recent);
    Notes { vault, indexer, viewer, folder: Arc::new(folder) }
}

fn turn_context(
    vault: &Vault,
    store: &Store,
    guard: &Arc<PrivacyGuard>,
    services: &AppServices,
) -> TurnContextBuilder {
    let (store, config) = (store.clone(), services.config.clone());
    let sent_notes = SentNotes {
        store: store.clone(),
        config: config.clone(),
        privacy_guard: Arc::clone(guard),
        model_selector: services.model_selector.clone(),
        active_note: services.active_note.clone(),
    };
    let (vault, privacy_guard) = (vault.clone(), Arc::clone(guard));
    TurnContextBuilder { vault, store, config, privacy_guard, sent_notes }
}

fn chats(
    service: LlmService,
    context: TurnContextBuilder,
    domain_events: DomainEvents,
    tasks: &TaskGroup,
    services: &AppServices,
) -> Chats {
    let AppServices { feed, config, model_selector, .. } = services;
    let store = context.store.clone();
    let meter = ContextMeter::new(store.clone(), service.clone(), tasks.clone());
    Chats {
        store,
        service,
        domain_events,
        feed: feed.clone(),
        config: config.clone(),
        model_selector: model_selector.clone(),
        context,
        meter: Arc::new(meter),
        titles_due: Notify::new(),
    }
}

fn vault_hub(
    handle: HubHandle,
    vault: &Vault,
    chats: &Arc<Chats>,
    guard: &Arc<PrivacyGuard>,
    outbox_ready: Arc<Notify>,
    tasks: &TaskGroup,
) -> VaultHub {
    let Chats { store, config, feed, domain_events, .. } = &**chats;
    let link = HubLink::new(handle, feed.clone(), Arc::clone(&outbox_ready), tasks.clone());
    let link = Arc::new(link);
    let inbox = HubInbox {
        store: store.clone(),
        vault: vault.clone(),
        config: config.clone(),
        chats: Arc::clone(chats),
        feed: feed.clone(),
        domain_events: domain_events.clone(),
        ready: Notify::new(),
        stalled: StalledMessages::default(),
        outbox_ready: Arc::clone(&outbox_ready),
    };
    let outbox = HubOutbox {
        store: store.clone(),
        config: config.clone(),
        privacy_guard: Arc::clone(guard),
        feed: feed.clone(),
        domain_events: domain_events.clone(),
        link: Arc::clone(&link),
        ready: outbox_ready,
    };
    VaultHub { link, inbox: Arc::new(inbox), outbox: Arc::new(outbox) }
}

/// The service that runs the turns of a session.
fn llm_service(
    note_changes: &NoteChanges,
    guard: &Arc<PrivacyGuard>,
    outbox_ready: &Arc<Notify>,
    tasks: &TaskGroup,
    lock: &Arc<VaultLock>,
    services: &AppServices,
) -> Result<LlmService, UserError> {
    let NoteChanges { vault, store, indexer, domain_events, change_lock, .. } = note_changes;
    let cache = Arc::default();
    let registry = Arc::new(tool_registry(store, indexer, guard, domain_events)?);
    Ok(LlmService::new(ServiceParts {
        registry: Arc::clone(&registry),
        transcript: transcript(store, outbox_ready, guard, &cache, &services.config),
        changes: Arc::new(VaultChanges {
            vault: vault.clone(),
            indexer: indexer.clone(),
            store: store.clone(),
            config: services.config.clone(),
            run_mode: services.run_mode,
            domain_events: domain_events.clone(),
            turn_cache: cache,
            change_lock: Arc::clone(change_lock),
            privacy_guard: Arc::clone(guard),
            _lock: Arc::clone(lock),
        }),
        policy: turn_policy(store, guard, services, &registry, domain_events),
        tasks: tasks.tracker().clone(),
        cancel: tasks.cancellation().clone(),
        time_scale: services.pace,
    }))
}

fn turn_policy(
    store: &Store,
    guard: &Arc<PrivacyGuard>,
    services: &AppServices,
    registry: &Arc<ToolRegistry>,
    domain_events: &DomainEvents,
) -> Arc<AppTurnPolicy> {
    Arc::new(AppTurnPolicy {
        privacy_guard: Arc::clone(guard),
        store: store.clone(),
        config: services.config.clone(),
        model_selector: services.model_selector.clone(),
        tools: registered_tools(registry),
        registry: Arc::clone(registry),
        domain_events: domain_events.clone(),
    })
}

fn transcript(
    store: &Store,
    outbox_ready: &Arc<Notify>,
    guard: &Arc<PrivacyGuard>,
    turn_cache: &Arc<TurnCache>,
    config: &Config,
) -> Arc<StoreTranscript> {
    guard.set_effect_history(store.clone());
    Arc::new(StoreTranscript {
        store: store.clone(),
        outbox_ready: Arc::clone(outbox_ready),
        privacy_guard: Arc::clone(guard),
        config: config.clone(),
        turn_cache: Arc::clone(turn_cache),
    })
}

/// All tools, over the notes as a model may see them.
fn tool_registry(
    store: &Store,
    indexing: &Indexer,
    guard: &Arc<PrivacyGuard>,
    domain_events: &DomainEvents,
) -> Result<ToolRegistry, UserError> {
    let archive = StoreArchive { store: store.clone(), privacy_guard: Arc::clone(guard) };
    let environment = TurnEnvironment { store: store.clone(), privacy_guard: Arc::clone(guard) };
    let (archive, environment) = (Arc::new(archive), Arc::new(environment));
    let index = indexing.index.clone();
    let questions =
        Arc::new(StoreQuestions { store: store.clone(), domain_events: domain_events.clone() });
    catalog(ToolDeps { vault: guard.vault_for_models(), index, archive, environment, questions })
        .map_err(|error| UserError::other(error.to_string()))
}

/// All tools there are.
fn registered_tools(registry: &ToolRegistry) -> Vec<RegisteredTool> {
    let one = |name: &str| RegisteredTool {
        name: name.to_owned(),
        changes_notes: registry.changes_notes(name),
    };
    registry.names().into_iter().map(one).collect()
}

/// The channels that an open vault listens to.
struct SessionReceivers {
    domain_events: mpsc::UnboundedReceiver<DomainEvent>,
    hub_events: mpsc::Receiver<HubEvent>,
}
