//! Keeps a turn that may see notes for local models on this computer.
//!
//! A server here can be told to run a model elsewhere at any time: Ollama keeps the name and hands the requests on.

use std::sync::Arc;

use async_trait::async_trait;
use llm::Capabilities;
use llm::model::{ModelError, ModelRequest};
use llm::provider::{ModelStream, Provider};
use protocol::chat::model::ModelInfo;

use crate::privacy::PrivacyGuard;
use crate::user_texts;

/// Asks a model that ran on this computer when the turn began, and refuses once it does not. Before each
/// request the server is asked where the model runs, while there are notes that only local models may
/// see; that costs one local call.
pub(crate) struct LocalModelGate {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
}

#[async_trait]
impl Provider for LocalModelGate {
    fn server_id(&self) -> String {
        self.provider.server_id()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let model = &request.model;
        if self.privacy_guard.has_local_only() && self.provider.runs_elsewhere(model).await? {
            return Err(ModelError::NotSent(user_texts::model_no_longer_local(model.as_str())));
        }
        self.provider.stream(request).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        self.provider.models().await
    }

    async fn capabilities(&self, model: &str) -> Capabilities {
        self.provider.capabilities(model).await
    }

    async fn runs_elsewhere(&self, model: &str) -> Result<bool, ModelError> {
        self.provider.runs_elsewhere(model).await
    }
}
