//! Keeps a request from being sent that was built by other private rules than those in force.

use std::sync::Arc;

use async_trait::async_trait;
use llm::Capabilities;
use llm::model::{ModelError, ModelRequest};
use llm::provider::{ModelStream, Provider};
use protocol::chat::model::ModelInfo;

use crate::privacy::PrivacyGuard;
use crate::settings::config::Config;
use crate::user_texts;

/// Asks through another provider while the private rules are those that the requests are built by. After a
/// change, each request is [`ModelError::Outdated`].
///
/// The settings file is not read here: a [`SpendingGate`](crate::models::spending::SpendingGate) around it
/// has done so.
pub(crate) struct PrivateRulesGate {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) config: Config,
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
    /// The generation of the rules that the requests are built by, as [`PrivacyGuard::set_rules`] returned it.
    pub(crate) rules_generation: u64,
}

#[async_trait]
impl Provider for PrivateRulesGate {
    fn server_id(&self) -> String {
        self.provider.server_id()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let rules = self.config.private_rules();
        if self.privacy_guard.set_rules(rules) != self.rules_generation {
            return Err(ModelError::Outdated(user_texts::private_rules_changed()));
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
