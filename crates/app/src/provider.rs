//! Who answers: chosen from the settings and the keys at hand.

use std::sync::Arc;

use llm::anthropic::{Anthropic, AnthropicConfig, Deadlines};
use llm::provider::Provider;
use protocol::event::ProviderStatus;
use protocol::{ErrorCode, ProviderKind, Settings, UserError};
use tools::commands::Commands;

use crate::data_dir::DataDir;
use crate::ports::desk::OpenNote;
use crate::secrets;

/// The vendor's own address; `ANTHROPIC_BASE_URL` and the settings come first.
const ANTHROPIC: &str = "https://api.anthropic.com";

/// Who answers the next turn.
pub(crate) struct Chosen {
    /// The provider, or why there is none.
    pub(crate) provider: Result<Arc<dyn Provider>, UserError>,
    /// How it stands, for the window.
    pub(crate) status: ProviderStatus,
}

/// The user's setting, else a key that is at hand, else Commands. Never Commands in place of a
/// provider that was chosen and fails: that is an error which says so.
pub(crate) fn choose(settings: &Settings, data: &DataDir, desk: &OpenNote) -> Chosen {
    let key = match settings.provider {
        ProviderKind::Commands => return commands(desk),
        ProviderKind::Anthropic | ProviderKind::Automatic => secrets::find(data),
    };
    let Some(found) = key else {
        return if settings.provider == ProviderKind::Anthropic { missing_key() } else { commands(desk) };
    };
    let base_url = [settings.base_url.clone(), variable("ANTHROPIC_BASE_URL")]
        .into_iter()
        .find(|url| !url.is_empty())
        .unwrap_or_else(|| ANTHROPIC.to_owned());
    let config = AnthropicConfig { base_url, key: found.key, deadlines: Deadlines::default() };
    let provider = Anthropic::new(config)
        .map(|anthropic| Arc::new(anthropic) as Arc<dyn Provider>)
        .map_err(|error| UserError::new(ErrorCode::Key, error.to_string()));
    let trouble = provider.as_ref().err().map(ToString::to_string);
    Chosen {
        provider,
        status: ProviderStatus {
            has_model: true,
            label: label(&settings.model),
            key_source: Some(found.source.to_owned()),
            trouble,
        },
    }
}

fn commands(desk: &OpenNote) -> Chosen {
    Chosen {
        provider: Ok(Arc::new(Commands::new(Arc::new(desk.clone())))),
        status: ProviderStatus {
            has_model: false,
            label: "Commands".to_owned(),
            key_source: None,
            trouble: None,
        },
    }
}

fn missing_key() -> Chosen {
    let message = "There is no key for Anthropic: paste one in Settings, or set ANTHROPIC_API_KEY.";
    Chosen {
        provider: Err(UserError::new(ErrorCode::Key, message)),
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

/// "claude-haiku-4-5" is called "Haiku".
fn label(model: &str) -> String {
    for family in ["Haiku", "Sonnet", "Opus"] {
        if model.to_lowercase().contains(&family.to_lowercase()) {
            return family.to_owned();
        }
    }
    model.to_owned()
}
