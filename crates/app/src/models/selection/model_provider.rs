//! The providers: their keys, base URLs and default models.

use std::sync::Arc;

use llm::provider::Provider;
use llm::{
    Anthropic, AnthropicConfig, Deadlines, ModelError, Ollama, OllamaConfig, OpenAi, OpenAiConfig,
    RequestParameters, TextToolProvider, ToollessModels,
};
use protocol::event::EnvServer;
use protocol::{ProviderKind, Settings};
use secrecy::SecretString;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelProvider {
    Anthropic,
    OpenAi,
    Ollama,
}

/// Where and how a provider is asked.
pub(super) struct ProviderConfig {
    pub(super) base_url: String,
    pub(super) key: SecretString,
    pub(super) deadlines: Deadlines,
    pub(super) parameters: RequestParameters,
}

impl ModelProvider {
    /// The provider of these settings; `None` leaves the choice to the keys at hand, or means that
    /// no model answers.
    pub(super) fn from_kind(kind: ProviderKind) -> Option<Self> {
        match kind {
            ProviderKind::Anthropic => Some(Self::Anthropic),
            ProviderKind::OpenAi => Some(Self::OpenAi),
            ProviderKind::Ollama => Some(Self::Ollama),
            ProviderKind::Automatic | ProviderKind::Commands => None,
        }
    }

    /// Its name in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
            Self::Ollama => "Ollama",
        }
    }

    /// The variable of the environment that may hold its key.
    pub(crate) fn env_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Ollama => "OLLAMA_API_KEY",
        }
    }

    /// The base URL: the user's, else the environment's, else the provider's own.
    pub(crate) fn base_url(self, settings: &Settings) -> String {
        let own = match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Ollama => "http://127.0.0.1:11434",
        };
        match settings.base_url.trim() {
            "" => self.env_base_url().unwrap_or_else(|| own.to_owned()),
            url => url.to_owned(),
        }
    }

    /// The environment variable that may hold its base URL.
    const fn base_url_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_BASE_URL",
            Self::OpenAi => "OPENAI_BASE_URL",
            Self::Ollama => "OLLAMA_HOST",
        }
    }

    fn env_base_url(self) -> Option<String> {
        let value = std::env::var(self.base_url_variable()).unwrap_or_default();
        match value.trim() {
            "" => None,
            host if self == Self::Ollama => Some(url_from_host(host)),
            url => Some(url.to_owned()),
        }
    }

    /// The server of the environment, if it is in use.
    pub(super) fn env_server(self, settings: &Settings) -> Option<EnvServer> {
        let url = self.env_base_url().filter(|_| settings.base_url.trim().is_empty())?;
        Some(EnvServer { variable: self.base_url_variable().to_owned(), url: without_login(&url) })
    }

    /// The model that is asked when the user chose none; `None` where only the user can know.
    pub(super) fn default_model(self, url: &str) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("claude-haiku-4-5"),
            Self::OpenAi if url.starts_with("https://api.openai.com") => Some("gpt-4.1-mini"),
            Self::OpenAi | Self::Ollama => None,
        }
    }

    /// The maker whose models are known without asking.
    pub(super) fn catalog(self, url: &str) -> llm::providers::model_catalog::ModelMaker {
        match self {
            Self::Anthropic => llm::providers::model_catalog::ModelMaker::Anthropic,
            Self::OpenAi if self.default_model(url).is_some() => {
                llm::providers::model_catalog::ModelMaker::OpenAi
            }
            Self::OpenAi | Self::Ollama => llm::providers::model_catalog::ModelMaker::Other,
        }
    }

    /// The provider, for models that take tools. Asks nobody.
    pub(super) fn build(self, asking: ProviderConfig) -> Result<Arc<dyn Provider>, ModelError> {
        let ProviderConfig { base_url, key, deadlines, parameters } = asking;
        let wire: Arc<dyn Provider> = match self {
            Self::Anthropic => {
                Arc::new(Anthropic::new(AnthropicConfig { base_url, key, deadlines, parameters })?)
            }
            Self::OpenAi => {
                Arc::new(OpenAi::new(OpenAiConfig { base_url, key, deadlines, parameters })?)
            }
            Self::Ollama => {
                Arc::new(Ollama::new(OllamaConfig { base_url, key, deadlines, parameters })?)
            }
        };
        Ok(wire)
    }

    /// The same provider for models that may take no tools; `None` where each model takes them.
    pub(super) fn text_tools(
        self,
        wire: &Arc<dyn Provider>,
        base_url: &str,
        no_tools: ToollessModels,
    ) -> Option<TextToolProvider> {
        match self {
            Self::Anthropic => None,
            Self::OpenAi | Self::Ollama => {
                Some(TextToolProvider::new(Arc::clone(wire), base_url.to_owned(), no_tools))
            }
        }
    }
}

/// `OLLAMA_HOST` is what the server listens on: a host, a port, both, or a URL.
fn url_from_host(host: &str) -> String {
    if host.contains("://") {
        return host.to_owned();
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() && !name.ends_with(':') => (name, port),
        _ => (host, "11434"),
    };
    let name = match name {
        "" | "0.0.0.0" | "[::]" => "127.0.0.1",
        name => name,
    };
    format!("http://{name}:{port}")
}

/// The URL without a user name and password.
fn without_login(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_url_is_shown_without_its_login() {
        for (url, shown) in [
            ("https://anna:secret@proxy.example/v1", "https://proxy.example/v1"),
            ("http://127.0.0.1:1/a@b", "http://127.0.0.1:1/a@b"),
            ("proxy.example", "proxy.example"),
        ] {
            assert_eq!(without_login(url), shown);
        }
    }

    #[test]
    fn what_ollama_listens_on_is_where_it_is_asked() {
        for (host, url) in [
            ("127.0.0.1", "http://127.0.0.1:11434"),
            ("0.0.0.0:8000", "http://127.0.0.1:8000"),
            (":8000", "http://127.0.0.1:8000"),
            ("localhost:8000", "http://localhost:8000"),
            ("[::1]:8000", "http://[::1]:8000"),
            ("https://ollama.example/x", "https://ollama.example/x"),
        ] {
            assert_eq!(url_from_host(host), url, "{host}");
        }
    }

    #[test]
    fn the_users_base_url_comes_before_the_providers_own() {
        let with = |base_url: &str| Settings { base_url: base_url.into(), ..Settings::default() };
        assert_eq!(
            ModelProvider::OpenAi.base_url(&with(" http://localhost:1 ")),
            "http://localhost:1"
        );
        assert_eq!(
            ModelProvider::OpenAi.default_model("https://api.openai.com/v1"),
            Some("gpt-4.1-mini")
        );
        assert_eq!(ModelProvider::OpenAi.default_model("http://localhost:1"), None);
    }
}
