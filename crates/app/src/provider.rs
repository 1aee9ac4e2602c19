//! Who answers: chosen from the settings and the keys at hand.

use std::sync::Arc;
use std::time::Duration;

use llm::provider::Provider;
use llm::{Deadlines, KeyPool, ModelError, NoTools, Pace, Parameters, models};
use protocol::event::{LocalServer, ProviderStatus};
use protocol::settings::KeyPolicy;
use protocol::{ErrorCode, ModelInfo, Privacy, ProviderKind, Settings, UserError};
use secrecy::SecretString;
use tokio::sync::watch;
use tools::commands::Commands;

use crate::aside::aside;
use crate::data_dir::DataDir;
use crate::secrets::{self, FoundKeys, Secret};

mod local;
mod vendor;

pub(crate) use local::{find as find_local, usual as usual_local};
use vendor::Asking;
pub(crate) use vendor::Vendor;

/// How much the vendors' own models take in at least, in tokens.
const WINDOW: u32 = 200_000;

/// The same for servers of others that say nothing. A server that reads less says so when it is asked.
const UNKNOWN_WINDOW: u32 = 32_768;

/// A window waits so long for the first choice.
const FIRST_CHOICE: Duration = Duration::from_secs(2);

/// Who answers from now on, as soon as that is known: a keyring may keep its owner waiting. Clones
/// are the same.
#[derive(Clone)]
pub(crate) struct Answering {
    chosen: watch::Sender<Option<Arc<Chosen>>>,
    /// Who was found to take no tools.
    no_tools: NoTools,
}

/// What a choice is made from.
pub(crate) struct Choice {
    pub(crate) settings: Settings,
    pub(crate) data: DataDir,
    pub(crate) pace: Pace,
}

impl Answering {
    /// Nobody is chosen yet.
    pub(crate) fn new(no_tools: NoTools) -> Self {
        Self { chosen: watch::Sender::default(), no_tools }
    }

    /// Who answers; waits for the first choice.
    pub(crate) async fn get(&self) -> Arc<Chosen> {
        let mut chosen = self.chosen.subscribe();
        // The sender lives as long as `self`, so the wait ends with a choice.
        match chosen.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(chosen)) => Arc::clone(chosen),
            _ => Arc::new(unknown()),
        }
    }

    /// Who answers, as far as that is known by now: waits for nothing.
    pub(crate) fn at_hand(&self) -> Option<Arc<Chosen>> {
        self.chosen.borrow().clone()
    }

    /// How it stands, told soon: a keyring that is not there yet holds up no window. The choice is
    /// told when it is made.
    pub(crate) async fn status(&self) -> ProviderStatus {
        match tokio::time::timeout(FIRST_CHOICE, self.get()).await {
            Ok(chosen) => chosen.status.clone(),
            Err(_) => {
                let message = "The keyring has not answered yet: unlock it, or wait a moment.";
                nobody(Vendor::Anthropic, ErrorCode::Key, message).status
            }
        }
    }

    /// Chooses anew, without blocking, and says how it now stands.
    pub(crate) async fn choose(&self, choice: Choice) -> ProviderStatus {
        let no_tools = self.no_tools.clone();
        let chosen = aside(move || choose(&choice, no_tools)).await;
        let chosen = chosen.unwrap_or_else(|_| unknown());
        let status = chosen.status.clone();
        self.chosen.send_replace(Some(Arc::new(chosen)));
        status
    }

    /// Takes the list of whoever `asked` is in, and says how it then stands; `None` when somebody
    /// else answers by now.
    pub(crate) fn listed(
        &self,
        asked: &Arc<Chosen>,
        models: Vec<ModelInfo>,
    ) -> Option<ProviderStatus> {
        let mut told = None;
        self.chosen.send_if_modified(|chosen| {
            if !chosen.as_ref().is_some_and(|now| Arc::ptr_eq(now, asked)) {
                return false;
            }
            let status = ProviderStatus { models, ..asked.status.clone() };
            told = Some(status.clone());
            *chosen = Some(Arc::new(Chosen { status, ..Chosen::clone(asked) }));
            true
        });
        told
    }

    /// Offers a server while nobody else answers, and says how it then stands; `None` when
    /// somebody answers by now.
    pub(crate) fn offer(&self, server: LocalServer) -> Option<ProviderStatus> {
        let mut told = None;
        self.chosen.send_if_modified(|chosen| {
            let Some(now) = chosen.as_deref().filter(|now| !now.status.has_model) else {
                return false;
            };
            let status = ProviderStatus { offer: Some(server), ..now.status.clone() };
            told = Some(status.clone());
            *chosen = Some(Arc::new(Chosen { status, ..now.clone() }));
            true
        });
        told
    }
}

/// Who answers the next turn.
#[derive(Clone)]
pub(crate) struct Chosen {
    /// The provider, or why there is none.
    pub(crate) provider: Result<Arc<dyn Provider>, UserError>,
    /// Whom to ask which models there are, also while none is picked.
    pub(crate) lists: Option<Arc<dyn Provider>>,
    /// The model's id or alias; empty for Commands.
    pub(crate) model: String,
    /// Whose keys the user means.
    pub(crate) vendor: Vendor,
    /// How many tokens a model takes in of which nothing is known.
    pub(crate) usual_window: u32,
    /// How private what it may see is at most.
    pub(crate) shown: Privacy,
    /// How it stands, for the window.
    pub(crate) status: ProviderStatus,
}

/// The user's setting, else a key that is at hand, else Commands. Never Commands in place of a
/// provider that was chosen and fails: that is an error which says so.
fn choose(choice: &Choice, no_tools: NoTools) -> Chosen {
    let find = |vendor| secrets::find(&choice.data, Secret::Keys(vendor));
    match (choice.settings.provider, Vendor::chosen(choice.settings.provider)) {
        (_, Some(vendor)) => ask(choice, vendor, find(vendor), no_tools),
        (ProviderKind::Commands, None) => commands(),
        (_, None) => {
            let keyed = [Vendor::Anthropic, Vendor::OpenAi]
                .into_iter()
                .find_map(|vendor| Some((vendor, find(vendor)?)));
            match keyed {
                Some((vendor, keys)) => ask(choice, vendor, Some(keys), no_tools),
                None => commands(),
            }
        }
    }
}

fn ask(choice: &Choice, vendor: Vendor, found: Option<FoundKeys>, no_tools: NoTools) -> Chosen {
    let Choice { settings, pace, .. } = choice;
    let base_url = vendor.address(settings);
    let is_local = llm::http::is_on_this_computer(&base_url);
    if found.is_none() && (vendor == Vendor::Anthropic || !is_local) {
        return missing_key(vendor);
    }
    let model = match settings.model.trim() {
        "" => vendor.default_model(&base_url).unwrap_or_default(),
        model => model,
    };
    let given = settings.parameters.iter().find(|given| given.model == model);
    let parameters = given.map_or_else(|| Ok(Parameters::default()), Parameters::parse);
    let parameters = match parameters {
        Ok(parameters) => parameters,
        Err(problem) => return nobody(vendor, ErrorCode::Other, &problem),
    };
    let models = models::offered(vendor.known(&base_url), &settings.models, &[]);
    let source = found.as_ref().map(|found| found.source.to_owned());
    let keys = found.map(|found| found.keys).unwrap_or_default();
    let count = u32::try_from(keys.len()).unwrap_or(u32::MAX);
    let one = |key| {
        let (base_url, no_tools) = (base_url.clone(), no_tools.clone());
        let (deadlines, parameters) = (deadlines(*pace), parameters.clone());
        vendor.provider(Asking { base_url, key, deadlines, no_tools, parameters })
    };
    let asked = pooled(settings.key_policy, *pace, keys, one)
        .map_err(|error| UserError::new(ErrorCode::Key, error.to_string()));
    let lists = asked.clone().ok();
    let provider = asked.and_then(|provider| match model {
        "" => {
            let name = vendor.name();
            let message =
                format!("No model of {name} is picked: test it in Settings, then pick one.");
            Err(UserError::other(message))
        }
        _ => Ok(provider),
    });
    let trouble = provider.as_ref().err().map(ToString::to_string);
    Chosen {
        provider,
        lists,
        model: model.to_owned(),
        vendor,
        usual_window: usual_window(vendor.known(&base_url)),
        shown: match settings.private.endpoint_is_local && is_local && !runs_elsewhere(model) {
            true => Privacy::Local,
            false => Privacy::Open,
        },
        status: ProviderStatus {
            has_model: true,
            label: if model.is_empty() { vendor.name().to_owned() } else { label(model) },
            model: model.to_owned(),
            models,
            key_source: source,
            keys: count,
            trouble,
            offer: None,
        },
    }
}

fn usual_window(known: models::Vendor) -> u32 {
    match known {
        models::Vendor::Anthropic | models::Vendor::OpenAi => WINDOW,
        models::Vendor::Other => UNKNOWN_WINDOW,
    }
}

/// Whether a server on this computer hands a model of this name on to its maker's: Ollama does so with
/// those that it calls `…-cloud` or `…:cloud`.
pub(crate) fn runs_elsewhere(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    model.ends_with("-cloud") || model.ends_with(":cloud")
}

/// One provider for all keys; with no key at all, one that goes without.
fn pooled(
    policy: KeyPolicy,
    pace: Pace,
    keys: Vec<SecretString>,
    one: impl Fn(SecretString) -> Result<Arc<dyn Provider>, ModelError>,
) -> Result<Arc<dyn Provider>, ModelError> {
    let mut keys = keys.into_iter();
    let first = one(keys.next().unwrap_or_default())?;
    let others = keys.map(one).collect::<Result<Vec<_>, _>>()?;
    if others.is_empty() {
        return Ok(first);
    }
    Ok(Arc::new(KeyPool::new(policy, pace, first, others)))
}

fn deadlines(pace: Pace) -> Deadlines {
    let Deadlines { connect, first_event, idle } = Deadlines::default();
    Deadlines { connect: pace.of(connect), first_event: pace.of(first_event), idle: pace.of(idle) }
}

fn commands() -> Chosen {
    Chosen {
        provider: Ok(Arc::new(Commands::new(jiff::Zoned::now))),
        lists: None,
        model: String::new(),
        // The key that makes a model answer in its place, when nothing else was said.
        vendor: Vendor::Anthropic,
        usual_window: UNKNOWN_WINDOW,
        // No model sees what it finds.
        shown: Privacy::Never,
        status: ProviderStatus {
            has_model: false,
            label: "Commands".to_owned(),
            model: String::new(),
            models: Vec::new(),
            key_source: None,
            keys: 0,
            trouble: None,
            offer: None,
        },
    }
}

fn missing_key(vendor: Vendor) -> Chosen {
    let (name, variable) = (vendor.name(), vendor.variable());
    let message = format!("There is no key for {name}: paste one in Settings, or set {variable}.");
    nobody(vendor, ErrorCode::Key, &message)
}

fn unknown() -> Chosen {
    let message = "Looking for the key was interrupted: save the settings again, or start again.";
    nobody(Vendor::Anthropic, ErrorCode::Key, message)
}

/// A model was chosen, and cannot be asked.
fn nobody(vendor: Vendor, code: ErrorCode, message: &str) -> Chosen {
    Chosen {
        provider: Err(UserError::new(code, message)),
        lists: None,
        model: String::new(),
        vendor,
        usual_window: UNKNOWN_WINDOW,
        shown: Privacy::Open,
        status: ProviderStatus {
            has_model: true,
            label: vendor.name().to_owned(),
            model: String::new(),
            models: Vec::new(),
            key_source: None,
            keys: 0,
            trouble: Some(message.to_owned()),
            offer: None,
        },
    }
}

/// "claude-haiku-4-5" is called "Haiku".
fn label(model: &str) -> String {
    for family in ["Haiku", "Sonnet", "Opus"] {
        if model.to_lowercase().contains(&family.to_lowercase()) {
            return family.to_owned();
        }
    }
    model.to_owned()
}
