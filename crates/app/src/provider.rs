//! Who answers: chosen from the settings and the keys at hand.

use std::sync::Arc;
use std::time::Duration;

use desktop::Keyring;
use llm::provider::Provider;
use llm::{Deadlines, KeyPool, ModelError, NoTools, Pace, Parameters, models};
use protocol::event::{KeyringTrouble, LocalServer, ProviderStatus};
use protocol::settings::KeyPolicy;
use protocol::{ErrorCode, ModelInfo, Privacy, ProviderKind, Settings, UserError};
use secrecy::SecretString;
use tokio::sync::watch;
use tools::commands::Commands;

use crate::aside::aside;
use crate::data_dir::DataDir;
use crate::secrets::{self, Finding, FoundKeys, Secret};

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
    pub(crate) keyring: Keyring,
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

    /// The model that answers, if it is known by now; never waits.
    pub(crate) fn at_hand(&self) -> Option<Arc<Chosen>> {
        self.chosen.borrow().clone()
    }

    /// How it stands, told soon: a keyring that is not there yet holds up no window. The choice is
    /// told when it is made.
    pub(crate) async fn status(&self) -> ProviderStatus {
        match tokio::time::timeout(FIRST_CHOICE, self.get()).await {
            Ok(chosen) => chosen.status.clone(),
            Err(_) => {
                let message = "The keyring has not answered yet. Wait a moment.";
                nobody(Vendor::Anthropic, ErrorCode::Key, message).status
            }
        }
    }

    /// Chooses anew, without blocking, and says how it now stands.
    pub(crate) async fn choose(&self, choice: Choice) -> ProviderStatus {
        let no_tools = self.no_tools.clone();
        let keyed = keyed(&choice).await;
        let chosen = aside(move || choose(&choice, keyed, no_tools)).await;
        let chosen = chosen.unwrap_or_else(|_| unknown());
        let status = chosen.status.clone();
        self.chosen.send_replace(Some(Arc::new(chosen)));
        status
    }

    /// The model that would answer with this key of a vendor. Nothing is changed.
    pub(crate) async fn with_key(
        &self,
        choice: Choice,
        vendor: Vendor,
        key: SecretString,
    ) -> Chosen {
        let no_tools = self.no_tools.clone();
        let found = Finding::Keys(FoundKeys { keys: vec![key], source: "trial" });
        let chosen = aside(move || ask(&choice, vendor, found, no_tools)).await;
        chosen.unwrap_or_else(|_| unknown())
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

/// Whose keys were looked for, and what was found.
enum Keyed {
    /// Of the vendor that is asked.
    Of(Vendor, Finding),
    /// Commands answer: they were chosen, or there is no key. The trouble says why there may be one.
    NoVendor(Option<KeyringTrouble>),
}

/// Looks for the keys. Left to the keys at hand, the first vendor that has one is asked. A key that is
/// known to be in a locked keyring counts as one: notes are not sent to another vendor in its place.
async fn keyed(choice: &Choice) -> Keyed {
    let Choice { settings, data, keyring, .. } = choice;
    let find = |vendor| secrets::find(data, keyring, Secret::Keys(vendor));
    if let Some(vendor) = Vendor::chosen(settings.provider) {
        return Keyed::Of(vendor, find(vendor).await);
    }
    if settings.provider == ProviderKind::Commands {
        return Keyed::NoVendor(None);
    }
    let mut trouble = None;
    for vendor in [Vendor::Anthropic, Vendor::OpenAi] {
        match find(vendor).await {
            Finding::Nothing => {}
            Finding::Closed(KeyringTrouble::Unknown) => trouble = Some(KeyringTrouble::Unknown),
            found => return Keyed::Of(vendor, found),
        }
    }
    Keyed::NoVendor(trouble)
}

/// The user's setting, else a key that is at hand, else Commands. Never Commands in place of a
/// provider that was chosen and fails: that is an error which says so.
fn choose(choice: &Choice, keyed: Keyed, no_tools: NoTools) -> Chosen {
    match keyed {
        Keyed::Of(vendor, finding) => ask(choice, vendor, finding, no_tools),
        Keyed::NoVendor(trouble) => commands(trouble),
    }
}

fn ask(choice: &Choice, vendor: Vendor, finding: Finding, no_tools: NoTools) -> Chosen {
    let Choice { settings, pace, .. } = choice;
    let base_url = vendor.address(settings);
    let is_local = llm::http::is_on_this_computer(&base_url);
    let keyring = finding.trouble();
    let found = finding.keys();
    if found.is_none() && (vendor == Vendor::Anthropic || !is_local) {
        return match keyring {
            Some(trouble) => closed(vendor, trouble),
            None => missing_key(vendor),
        };
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
        "" => Err(no_model(vendor)),
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
            // A server on this computer may do without a key.
            keyring: keyring.filter(|trouble| *trouble != KeyringTrouble::Unknown),
            offer: None,
        },
    }
}

fn no_model(vendor: Vendor) -> UserError {
    let name = vendor.name();
    UserError::other(format!("No model of {name} is picked: test it in Settings, then pick one."))
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

fn commands(keyring: Option<KeyringTrouble>) -> Chosen {
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
            keyring,
            offer: None,
        },
    }
}

fn missing_key(vendor: Vendor) -> Chosen {
    let (name, variable) = (vendor.name(), vendor.variable());
    let message = format!("There is no key for {name}: paste one in Settings, or set {variable}.");
    nobody(vendor, ErrorCode::Key, &message)
}

/// The key may be in the keyring, which cannot be looked into. Nothing less than the key will do, so a
/// locked keyring is told as such whatever is in it.
fn closed(vendor: Vendor, trouble: KeyringTrouble) -> Chosen {
    let variable = vendor.variable();
    let (trouble, message) = match trouble {
        KeyringTrouble::Locked | KeyringTrouble::Unknown => (
            KeyringTrouble::Locked,
            format!("The keyring is locked. Unlock it to use your API key, or set {variable}."),
        ),
        KeyringTrouble::Unavailable => (
            KeyringTrouble::Unavailable,
            format!(
                "Your API key is in the keyring of the system, which does not answer. Start the \
                 keyring and try again, or set {variable}."
            ),
        ),
    };
    let mut chosen = nobody(vendor, ErrorCode::Key, &message);
    chosen.status.keyring = Some(trouble);
    chosen
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
            keyring: None,
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
