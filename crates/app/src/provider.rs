//! Who answers: chosen from the settings and the keys at hand.

use std::sync::Arc;

use llm::provider::Provider;
use llm::{Anthropic, AnthropicConfig, Deadlines, Pace};
use protocol::event::ProviderStatus;
use protocol::{ErrorCode, Privacy, ProviderKind, Settings, UserError};
use tokio::sync::watch;
use tools::commands::Commands;

use crate::aside::aside;
use crate::data_dir::DataDir;
use crate::ports::desk::OpenNote;
use crate::secrets;

/// The vendor's own address; `ANTHROPIC_BASE_URL` and the settings come first.
const ANTHROPIC: &str = "https://api.anthropic.com";

/// Who answers from now on, as soon as that is known: a keyring may keep its owner waiting. Clones
/// are the same.
#[derive(Clone, Default)]
pub(crate) struct Answering(watch::Sender<Option<Arc<Chosen>>>);

impl Answering {
    /// Who answers; waits for the first choice.
    pub(crate) async fn get(&self) -> Arc<Chosen> {
        let mut chosen = self.0.subscribe();
        // The sender lives as long as `self`, so the wait ends with a choice.
        match chosen.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(chosen)) => Arc::clone(chosen),
            _ => Arc::new(unknown()),
        }
    }

    /// Chooses anew, without blocking, and says how it now stands.
    pub(crate) async fn choose(
        &self,
        settings: Settings,
        data: DataDir,
        desk: OpenNote,
        pace: Pace,
    ) -> ProviderStatus {
        let chosen = aside(move || choose(&settings, &data, &desk, pace)).await;
        let chosen = chosen.unwrap_or_else(|_| unknown());
        let status = chosen.status.clone();
        self.0.send_replace(Some(Arc::new(chosen)));
        status
    }
}

/// Who answers the next turn.
pub(crate) struct Chosen {
    /// The provider, or why there is none.
    pub(crate) provider: Result<Arc<dyn Provider>, UserError>,
    /// How private what it may see is at most.
    pub(crate) shown: Privacy,
    /// How it stands, for the window.
    pub(crate) status: ProviderStatus,
}

/// The user's setting, else a key that is at hand, else Commands. Never Commands in place of a
/// provider that was chosen and fails: that is an error which says so.
fn choose(settings: &Settings, data: &DataDir, desk: &OpenNote, pace: Pace) -> Chosen {
    let key = match settings.provider {
        ProviderKind::Commands => return commands(desk),
        ProviderKind::Anthropic | ProviderKind::Automatic => secrets::find(data),
    };
    let Some(found) = key else {
        return if settings.provider == ProviderKind::Anthropic {
            missing_key()
        } else {
            commands(desk)
        };
    };
    let base_url = [settings.base_url.clone(), variable("ANTHROPIC_BASE_URL")]
        .into_iter()
        .find(|url| !url.is_empty())
        .unwrap_or_else(|| ANTHROPIC.to_owned());
    let shown = match settings.private.endpoint_is_local && is_loopback(&base_url) {
        true => Privacy::Local,
        false => Privacy::Open,
    };
    let config = AnthropicConfig { base_url, key: found.key, deadlines: deadlines(pace) };
    let provider = Anthropic::new(config)
        .map(|anthropic| Arc::new(anthropic) as Arc<dyn Provider>)
        .map_err(|error| UserError::new(ErrorCode::Key, error.to_string()));
    let trouble = provider.as_ref().err().map(ToString::to_string);
    Chosen {
        provider,
        shown,
        status: ProviderStatus {
            has_model: true,
            label: label(&settings.model),
            key_source: Some(found.source.to_owned()),
            trouble,
        },
    }
}

fn deadlines(pace: Pace) -> Deadlines {
    let Deadlines { connect, first_event, idle } = Deadlines::default();
    Deadlines { connect: pace.of(connect), first_event: pace.of(first_event), idle: pace.of(idle) }
}

fn commands(desk: &OpenNote) -> Chosen {
    Chosen {
        provider: Ok(Arc::new(Commands::new(Arc::new(desk.clone())))),
        // No model sees what it finds.
        shown: Privacy::Never,
        status: ProviderStatus {
            has_model: false,
            label: "Commands".to_owned(),
            key_source: None,
            trouble: None,
        },
    }
}

fn missing_key() -> Chosen {
    nobody("There is no key for Anthropic: paste one in Settings, or set ANTHROPIC_API_KEY.")
}

fn unknown() -> Chosen {
    nobody("Looking for the key was interrupted: save the settings again, or start again.")
}

/// A model was chosen, and cannot be asked.
fn nobody(message: &str) -> Chosen {
    Chosen {
        provider: Err(UserError::new(ErrorCode::Key, message)),
        shown: Privacy::Open,
        status: ProviderStatus {
            has_model: true,
            label: "Anthropic".to_owned(),
            key_source: None,
            trouble: Some(message.to_owned()),
        },
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Whether the address is on this computer, whatever its user part tries to look like.
fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    if authority.contains('@') {
        return false;
    }
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
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

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_an_address_of_this_computer_is_local() {
        for url in ["http://localhost:11434", "http://127.0.0.1/v1", "http://[::1]:80", "127.9.9.9"]
        {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "https://api.anthropic.com",
            "http://localhost@evil.org",
            "http://127.0.0.1.evil.org",
            "http://evil.org\\@127.0.0.1",
            "http://evil.org/127.0.0.1",
            "http://192.168.0.2",
            "http://0.0.0.0",
            "",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
