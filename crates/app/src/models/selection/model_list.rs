//! The list of models that a server gives when it is asked, kept while the same server is selected.

use llm::providers::model_catalog::{self, ModelMaker};
use protocol::ModelInfo;
use protocol::event::ProviderStatus;

use super::SelectedModel;

/// A server, and the models that it listed.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerModels {
    /// The server URL; empty where nobody can be asked.
    base_url: String,
    /// As it listed them; empty until it was asked.
    listed: Vec<ModelInfo>,
}

impl ServerModels {
    /// The server at this URL has listed nothing yet.
    pub(super) const fn unasked(base_url: String) -> Self {
        Self { base_url, listed: Vec::new() }
    }
}

impl SelectedModel {
    /// Whether both ask the same server of the same provider.
    pub(super) fn shares_server(&self, other: &Self) -> bool {
        self.model_lister.is_some()
            && self.model_provider == other.model_provider
            && self.server_models.base_url == other.server_models.base_url
    }

    /// The same with the models that its server lists, beside the user's own.
    pub(super) fn with_list(self, listed: Vec<ModelInfo>, users: &[ModelInfo]) -> Self {
        let models = model_catalog::list_models(ModelMaker::Other, users, &listed);
        let status = ProviderStatus { models, ..self.status };
        let server_models = ServerModels { listed, ..self.server_models };
        Self { status, server_models, ..self }
    }

    /// The same with the list of the selection before, if the same server gave it.
    pub(super) fn with_list_of(self, before: Option<&Self>, users: &[ModelInfo]) -> Self {
        let listed = match before {
            Some(before) if self.shares_server(before) => before.server_models.listed.clone(),
            _ => Vec::new(),
        };
        if listed.is_empty() { self } else { self.with_list(listed, users) }
    }
}
