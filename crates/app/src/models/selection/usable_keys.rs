//! The keys that a server may be sent.

use protocol::ErrorCode;
use protocol::settings::KeyringTrouble;

use super::model_provider::ModelProvider;
use super::{SelectedModel, SelectionInput, closed, failed_selection, missing_key_selection};
use crate::settings::key_server;
use crate::settings::secrets::{self, Finding, FoundKeys, Secret};
use crate::user_texts;

/// Those of the found keys that are for one server.
pub(super) struct UsableKeys {
    pub(super) found: Option<FoundKeys>,
    /// Why the keyring could not be looked into, where that matters.
    pub(super) keyring: Option<KeyringTrouble>,
    /// The server that the saved key is for, where it is another one.
    other_server: Option<String>,
}

impl UsableKeys {
    /// Those of a provider at this URL. In place of a key that was saved for another server, one of the environment
    /// counts. Blocks.
    pub(super) fn new(
        choice: &SelectionInput,
        provider: ModelProvider,
        finding: Finding,
        base_url: &str,
    ) -> Self {
        let (keyring, found) = (finding.trouble(), finding.keys());
        let other_server = found.as_ref().and_then(|found| {
            key_server::other_server(&choice.data, provider, found.source, base_url)
        });
        let found = match other_server {
            Some(_) => secrets::environment_keys(Secret::Keys(provider)),
            None => found,
        };
        Self { found, keyring, other_server }
    }

    /// No model answers, and why.
    pub(super) fn missing_selection(
        &self,
        provider: ModelProvider,
        base_url: &str,
    ) -> SelectedModel {
        match (self.keyring, &self.other_server) {
            (Some(trouble), _) => closed(provider, trouble),
            (None, Some(other)) => key_of_another_server(provider, other, base_url),
            (None, None) => missing_key_selection(provider),
        }
    }
}

fn key_of_another_server(provider: ModelProvider, other: &str, base_url: &str) -> SelectedModel {
    let server = llm::transport::http::server_of(base_url).unwrap_or_default();
    let variable = provider.env_variable();
    let text = user_texts::key_of_another_server(other, server, variable);
    failed_selection(provider, ErrorCode::Key, text)
}
