//! Chooses the provider and model: the user's setting, else a provider with a key at hand, else commands, with an offer
//! of a model server on this computer.

use std::sync::Arc;
use std::time::Duration;

use desktop::Keyring;
use llm::provider::Provider;
use llm::providers::model_catalog;
use llm::{
    Deadlines, KeyPool, ModelError, RequestParameters, TextToolProvider, TimeScale, ToollessModels,
};
use protocol::error::user_text::UserText;
use protocol::event::{LocalServer, ProviderStatus};
use protocol::settings::{KeyPolicy, KeyringTrouble};
use protocol::{ErrorCode, ModelInfo, Privacy, ProviderKind, Settings, UserError};
use secrecy::SecretString;
use tokio::sync::watch;
use tools::commands::{CommandProvider, NoModelReason};

use crate::settings::secrets::{self, Finding, FoundKeys, Secret};
use crate::support::blocking::run_blocking;
use crate::support::clock::local_now;
use crate::user_texts;
use crate::workspace::data_dir::DataDir;

mod local_servers;
mod model_list;
mod model_provider;
mod usable_keys;

pub(crate) use local_servers::{candidates as usual_local, detect as find_local};
use model_list::ServerModels;
pub(crate) use model_provider::ModelProvider;
use model_provider::ProviderConfig;
use usable_keys::UsableKeys;

/// The smallest context window of the providers' own models, in tokens.
const PROVIDER_CONTEXT_WINDOW: u32 = 200_000;

/// The same for servers of others that say nothing. A server that reads less says so when it refuses what is
/// longer; an Ollama refuses nothing, so its smallest window is assumed before this one.
const FALLBACK_CONTEXT_WINDOW: u32 = 32_768;

/// The time that a window waits for the first choice.
const FIRST_SELECTION_TIMEOUT: Duration = Duration::from_secs(2);

/// The selected model, as soon as it is known: a keyring may keep its owner waiting. Clones share
/// it.
#[derive(Clone)]
pub(crate) struct ModelSelector {
    selected: watch::Sender<Option<Arc<SelectedModel>>>,
    /// The models that were found to take no tools.
    no_tools: ToollessModels,
}

#[derive(Clone)]
pub(crate) struct SelectionInput {
    pub(crate) settings: Settings,
    pub(crate) data: DataDir,
    pub(crate) keyring: Keyring,
    pub(crate) pace: TimeScale,
}

impl ModelSelector {
    /// Nobody is chosen yet.
    pub(crate) fn new(toolless_models: ToollessModels) -> Self {
        Self { selected: watch::Sender::default(), no_tools: toolless_models }
    }

    /// The selected model; waits for the first selection.
    pub(crate) async fn selected(&self) -> Arc<SelectedModel> {
        let mut chosen = self.selected.subscribe();
        // The sender lives as long as `self`, so the wait ends with a choice.
        match chosen.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(chosen)) => Arc::clone(chosen),
            _ => Arc::new(unknown_provider_selection()),
        }
    }

    /// The model that answers, if it is known by now; never waits.
    pub(crate) fn at_hand(&self) -> Option<Arc<SelectedModel>> {
        self.selected.borrow().clone()
    }

    /// How it stands, told soon: a keyring that is not there yet holds up no window. The choice is
    /// told when it is made.
    pub(crate) async fn status(&self) -> ProviderStatus {
        match tokio::time::timeout(FIRST_SELECTION_TIMEOUT, self.selected()).await {
            Ok(chosen) => chosen.status.clone(),
            Err(_) => {
                let text = user_texts::keyring_not_answered_yet();
                failed_selection(ModelProvider::Anthropic, ErrorCode::Key, text).status
            }
        }
    }

    /// Selects again, without blocking, and returns the new status. The list of models stays while the same
    /// server is asked.
    pub(crate) async fn reselect(&self, choice: SelectionInput) -> ProviderStatus {
        let no_tools = self.no_tools.clone();
        let users = choice.settings.models.clone();
        let keyed = keyed(&choice).await;
        let chosen = run_blocking(move || select_model(&choice, keyed, no_tools)).await;
        let chosen = chosen.unwrap_or_else(|_| unknown_provider_selection());
        let chosen = chosen.with_list_of(self.at_hand().as_deref(), &users);
        let status = chosen.status.clone();
        self.selected.send_replace(Some(Arc::new(chosen)));
        status
    }

    /// The model that would answer with this key of a provider. Nothing is changed.
    pub(crate) async fn with_key(
        &self,
        choice: SelectionInput,
        provider: ModelProvider,
        key: SecretString,
    ) -> SelectedModel {
        let no_tools = self.no_tools.clone();
        let found = Finding::Keys(FoundKeys { keys: vec![key], source: "trial" });
        let chosen =
            run_blocking(move || select_from_provider(&choice, provider, found, no_tools)).await;
        chosen.unwrap_or_else(|_| unknown_provider_selection())
    }

    /// Stores the models that the server of `asked` lists, beside those of the user's settings, and returns the
    /// new status; `None` when another server is selected by now.
    pub(crate) fn set_model_list(
        &self,
        asked: &SelectedModel,
        listed: Vec<ModelInfo>,
        users: &[ModelInfo],
    ) -> Option<ProviderStatus> {
        let mut told = None;
        self.selected.send_if_modified(|chosen| {
            let Some(now) = chosen.as_deref().filter(|now| now.shares_server(asked)) else {
                return false;
            };
            let now = now.clone().with_list(listed, users);
            told = Some(now.status.clone());
            *chosen = Some(Arc::new(now));
            true
        });
        told
    }

    /// Offers a server while nobody else answers, and says how it then stands; `None` when
    /// somebody answers by now.
    pub(crate) fn offer_local_server(&self, server: LocalServer) -> Option<ProviderStatus> {
        let mut told = None;
        self.selected.send_if_modified(|chosen| {
            let Some(now) = chosen.as_deref().filter(|now| !now.status.has_model) else {
                return false;
            };
            let status = ProviderStatus { offer: Some(server), ..now.status.clone() };
            told = Some(status.clone());
            *chosen = Some(Arc::new(SelectedModel { status, ..now.clone() }));
            true
        });
        told
    }
}

/// The model that answers the next turn.
#[derive(Clone)]
pub(crate) struct SelectedModel {
    /// The provider, or why there is none.
    pub(crate) provider: Result<Arc<dyn Provider>, UserError>,
    /// The same where its models may take no tools: it may send a second request by itself.
    text_tools: Option<TextToolProvider>,
    /// The provider to ask for its list of models, also while no model is chosen.
    pub(crate) model_lister: Option<Arc<dyn Provider>>,
    /// The model's id or alias; empty for Commands.
    pub(crate) model: String,
    /// The provider whose keys the user means.
    pub(crate) model_provider: ModelProvider,
    /// The server that is asked, with the models that it listed.
    server_models: ServerModels,
    /// The context window, in tokens, of a model of which nothing is known.
    pub(crate) default_window: u32,
    /// How private what it may see is at most.
    pub(crate) max_privacy: Privacy,
    /// How it stands, for the window.
    pub(crate) status: ProviderStatus,
}

impl SelectedModel {
    /// Whether the provider is asked nothing only because the user has to choose one of its models.
    pub(crate) fn needs_model(&self) -> bool {
        self.model.is_empty() && self.model_lister.is_some()
    }

    /// The provider, each of whose requests passes `gate`, also those that it makes by itself after another.
    pub(crate) fn gated(
        &self,
        gate: impl FnOnce(Arc<dyn Provider>) -> Arc<dyn Provider>,
    ) -> Result<Arc<dyn Provider>, UserError> {
        let provider = self.provider.clone()?;
        Ok(match &self.text_tools {
            Some(text_tools) => Arc::new(text_tools.with_gate(gate)) as _,
            None => gate(provider),
        })
    }
}

/// The provider whose keys were looked up, and the keys.
enum Keyed {
    /// Of the provider that is asked.
    Of(ModelProvider, Finding),
    /// Commands answer: they were chosen, or there is no key. The trouble says why there may be one.
    NoProvider(Option<KeyringTrouble>),
}

/// Looks for the keys. If the settings leave it open, the first provider with a key is asked. A key
/// that is known to be in a locked keyring counts as one: notes are not sent to another provider in
/// its place.
async fn keyed(choice: &SelectionInput) -> Keyed {
    let SelectionInput { settings, data, keyring, .. } = choice;
    let find = |model_provider| secrets::find(data, keyring, Secret::Keys(model_provider));
    if let Some(model_provider) = ModelProvider::from_kind(settings.provider) {
        return Keyed::Of(model_provider, find(model_provider).await);
    }
    if settings.provider == ProviderKind::Commands {
        return Keyed::NoProvider(None);
    }
    let mut trouble = None;
    for model_provider in [ModelProvider::Anthropic, ModelProvider::OpenAi] {
        match find(model_provider).await {
            Finding::Nothing => {}
            Finding::Closed(KeyringTrouble::Unknown) => trouble = Some(KeyringTrouble::Unknown),
            found => return Keyed::Of(model_provider, found),
        }
    }
    Keyed::NoProvider(trouble)
}

/// The user's setting, else a key that is at hand, else Commands. Never Commands in place of a
/// provider that was chosen and fails: that is an error which says so.
fn select_model(
    choice: &SelectionInput,
    keyed: Keyed,
    toolless_models: ToollessModels,
) -> SelectedModel {
    match keyed {
        Keyed::Of(model_provider, finding) => {
            select_from_provider(choice, model_provider, finding, toolless_models)
        }
        Keyed::NoProvider(trouble) => commands_only(trouble),
    }
}

fn select_from_provider(
    choice: &SelectionInput,
    chosen: ModelProvider,
    finding: Finding,
    no_tools: ToollessModels,
) -> SelectedModel {
    let SelectionInput { settings, pace, .. } = choice;
    let base_url = chosen.base_url(settings);
    let is_local = llm::transport::http::is_on_this_computer(&base_url);
    let keys = UsableKeys::new(choice, chosen, finding, &base_url);
    if keys.found.is_none() && (chosen == ModelProvider::Anthropic || !is_local) {
        return keys.missing_selection(chosen, &base_url);
    }
    let UsableKeys { found, keyring, .. } = keys;
    let model = match settings.model.trim() {
        "" => chosen.default_model(&base_url).unwrap_or_default(),
        model => model,
    };
    let parameters = match parameters_of(settings, model) {
        Ok(parameters) => parameters,
        Err(problem) => return failed_selection(chosen, ErrorCode::Other, problem),
    };
    let source = found.as_ref().map(|found| found.source.to_owned());
    let keys = found.map(|found| found.keys).unwrap_or_default();
    let count = u32::try_from(keys.len()).unwrap_or(u32::MAX);
    let one = |key| {
        let (base_url, deadlines) = (base_url.clone(), deadlines(*pace));
        chosen.build(ProviderConfig { base_url, key, deadlines, parameters: parameters.clone() })
    };
    let wire = with_key_pool(settings.key_policy, *pace, keys, one)
        .map_err(|error| UserError::new(ErrorCode::Key, error.into_text()));
    let text_tools =
        wire.as_ref().ok().and_then(|wire| chosen.text_tools(wire, &base_url, no_tools));
    let asked = wire.map(|wire| with_text_tools(wire, text_tools.as_ref()));
    let lists = asked.clone().ok();
    let provider = asked.and_then(|provider| match model {
        "" => Err(no_model(chosen)),
        _ => Ok(provider),
    });
    let trouble = provider.as_ref().err().cloned();
    let sees_local = settings.private.endpoint_is_local && is_local && !is_cloud_model(model);
    let label = if model.is_empty() { chosen.name().to_owned() } else { short_model_name(model) };
    SelectedModel {
        provider,
        text_tools,
        model_lister: lists,
        model: model.to_owned(),
        model_provider: chosen,
        default_window: default_context_window(chosen.catalog(&base_url)),
        max_privacy: if sees_local { Privacy::Local } else { Privacy::Open },
        status: ProviderStatus {
            has_model: true,
            label,
            model: model.to_owned(),
            models: model_catalog::list_models(chosen.catalog(&base_url), &settings.models, &[]),
            key_source: source,
            keys: count,
            env_server: chosen.env_server(settings),
            trouble,
            // A server on this computer may do without a key.
            keyring: keyring.filter(|trouble| *trouble != KeyringTrouble::Unknown),
            offer: None,
        },
        server_models: ServerModels::unasked(base_url),
    }
}

/// The parameters that the settings give for this model; the error says what is wrong with them.
fn parameters_of(settings: &Settings, model: &str) -> Result<RequestParameters, String> {
    let given = settings.parameters.iter().find(|given| given.model == model);
    given.map_or_else(|| Ok(RequestParameters::default()), RequestParameters::parse)
}

fn no_model(provider: ModelProvider) -> UserError {
    UserError::new(ErrorCode::Model, user_texts::no_model_selected(provider.name()))
}

fn default_context_window(known: model_catalog::ModelMaker) -> u32 {
    match known {
        model_catalog::ModelMaker::Anthropic | model_catalog::ModelMaker::OpenAi => {
            PROVIDER_CONTEXT_WINDOW
        }
        model_catalog::ModelMaker::Other => FALLBACK_CONTEXT_WINDOW,
    }
}

/// Whether a server on this computer hands a model of this name on to its maker's: Ollama does so with
/// those that it calls `…-cloud` or `…:cloud`.
pub(crate) fn is_cloud_model(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    model.ends_with("-cloud") || model.ends_with(":cloud")
}

fn with_text_tools(
    wire: Arc<dyn Provider>,
    text_tools: Option<&TextToolProvider>,
) -> Arc<dyn Provider> {
    match text_tools {
        Some(text_tools) => Arc::new(text_tools.clone()),
        None => wire,
    }
}

/// One provider for all keys; with no key at all, one that goes without.
fn with_key_pool(
    policy: KeyPolicy,
    time_scale: TimeScale,
    keys: Vec<SecretString>,
    one: impl Fn(SecretString) -> Result<Arc<dyn Provider>, ModelError>,
) -> Result<Arc<dyn Provider>, ModelError> {
    let mut keys = keys.into_iter();
    let first = one(keys.next().unwrap_or_default())?;
    let others = keys.map(one).collect::<Result<Vec<_>, _>>()?;
    if others.is_empty() {
        return Ok(first);
    }
    Ok(Arc::new(KeyPool::new(policy, time_scale, first, others)))
}

fn deadlines(time_scale: TimeScale) -> Deadlines {
    let Deadlines { connect, first_event, idle } = Deadlines::default();
    Deadlines {
        connect: time_scale.scale(connect),
        first_event: time_scale.scale(first_event),
        idle: time_scale.scale(idle),
    }
}

fn commands_only(keyring: Option<KeyringTrouble>) -> SelectedModel {
    let reason = match keyring {
        Some(KeyringTrouble::Locked | KeyringTrouble::Unknown) => NoModelReason::KeyringLocked,
        Some(KeyringTrouble::Unavailable) | None => NoModelReason::NotConnected,
    };
    SelectedModel {
        provider: Ok(Arc::new(CommandProvider::new(local_now, reason))),
        text_tools: None,
        model_lister: None,
        model: String::new(),
        // The key that makes a model answer in its place, unless the settings name another one.
        model_provider: ModelProvider::Anthropic,
        server_models: ServerModels::default(),
        default_window: FALLBACK_CONTEXT_WINDOW,
        // No model sees what it finds.
        max_privacy: Privacy::Never,
        status: ProviderStatus {
            has_model: false,
            label: "Commands".to_owned(),
            model: String::new(),
            models: Vec::new(),
            key_source: None,
            keys: 0,
            env_server: None,
            trouble: None,
            keyring,
            offer: None,
        },
    }
}

fn missing_key_selection(provider: ModelProvider) -> SelectedModel {
    let (name, variable) = (provider.name(), provider.env_variable());
    failed_selection(provider, ErrorCode::Key, user_texts::no_key_for_provider(name, variable))
}

/// The key may be in the keyring, which cannot be looked into. Nothing less than the key will do, so a
/// locked keyring is told as such whatever is in it.
fn closed(provider: ModelProvider, trouble: KeyringTrouble) -> SelectedModel {
    let variable = provider.env_variable();
    let (trouble, text) = match trouble {
        KeyringTrouble::Locked | KeyringTrouble::Unknown => {
            (KeyringTrouble::Locked, user_texts::keyring_locked_for_key(variable))
        }
        KeyringTrouble::Unavailable => {
            (KeyringTrouble::Unavailable, user_texts::keyring_silent_for_key(variable))
        }
    };
    let mut chosen = failed_selection(provider, ErrorCode::Key, text);
    chosen.status.keyring = Some(trouble);
    chosen
}

fn unknown_provider_selection() -> SelectedModel {
    let text = user_texts::key_lookup_interrupted();
    failed_selection(ModelProvider::Anthropic, ErrorCode::Key, text)
}

/// A model was chosen, and cannot be asked.
fn failed_selection(
    model_provider: ModelProvider,
    code: ErrorCode,
    text: impl Into<UserText>,
) -> SelectedModel {
    let trouble = UserError::new(code, text);
    SelectedModel {
        provider: Err(trouble.clone()),
        text_tools: None,
        model_lister: None,
        model: String::new(),
        model_provider,
        server_models: ServerModels::default(),
        default_window: FALLBACK_CONTEXT_WINDOW,
        max_privacy: Privacy::Open,
        status: ProviderStatus {
            has_model: true,
            label: model_provider.name().to_owned(),
            model: String::new(),
            models: Vec::new(),
            key_source: None,
            keys: 0,
            env_server: None,
            trouble: Some(trouble),
            keyring: None,
            offer: None,
        },
    }
}

/// "claude-haiku-4-5" is called "Haiku".
fn short_model_name(model: &str) -> String {
    for family in ["Haiku", "Sonnet", "Opus"] {
        if model.to_lowercase().contains(&family.to_lowercase()) {
            return family.to_owned();
        }
    }
    model.to_owned()
}
