//! Keeps a request from being sent whose instructions hold hints that the turn may not hear any more.

use std::sync::Arc;

use async_trait::async_trait;
use llm::Capabilities;
use llm::model::{ModelError, ModelRequest};
use llm::provider::{ModelStream, Provider};
use protocol::chat::model::ModelInfo;
use protocol::{NotePath, TurnId};

use crate::privacy::PrivacyGuard;

/// Asks through another provider while the turn may hear the rules file that its instructions were read from. Once the
/// file is private or gone, each request is [`ModelError::Outdated`]. A file that was only edited is heard as it was
/// when the turn began.
pub(crate) struct RulesFileGate {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
    pub(crate) turn: TurnId,
    pub(crate) rules_file: NotePath,
}

#[async_trait]
impl Provider for RulesFileGate {
    fn server_id(&self) -> String {
        self.provider.server_id()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let is_shown = self.privacy_guard.shows_note_to(&self.turn, &self.rules_file).await;
        if !is_shown.unwrap_or(false) {
            return Err(ModelError::Outdated(format!(
                "`{}` was hidden or removed during this answer, so nothing more was sent. Send your message again.",
                self.rules_file
            )));
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
