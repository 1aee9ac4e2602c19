//! Keeps a request from being sent that holds what was hidden from its turn since it was made.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use llm::Capabilities;
use llm::model::{ModelError, ModelRequest};
use llm::provider::{ModelStream, Provider};
use protocol::chat::model::ModelInfo;
use protocol::{NotePath, TurnId};

use crate::privacy::PrivacyGuard;
use crate::user_texts;

/// The rules file that the instructions of a turn were read from, once they are.
#[derive(Debug)]
pub(crate) struct TurnHints {
    turn: TurnId,
    rules_file: OnceLock<NotePath>,
}

impl TurnHints {
    /// Of a turn whose instructions are not written yet.
    pub(crate) fn new(turn: &TurnId) -> Arc<Self> {
        Arc::new(Self { turn: turn.clone(), rules_file: OnceLock::new() })
    }

    /// From now on each request has the hints of this file. Only the first call counts.
    pub(crate) fn set_rules_file(&self, rules_file: &NotePath) {
        let _ = self.rules_file.set(rules_file.clone());
    }
}

/// Asks through another provider while nothing is hidden from the turn that its last filtered history may show, and the
/// turn may hear the rules file that its instructions were read from. Else each request is [`ModelError::Outdated`],
/// until the history is filtered again and the rules file is back. A rules file that was only edited is heard as it was
/// when the turn began.
///
/// One answer may take several requests: a call is repaired, or asked for again without tools.
pub(crate) struct RequestPrivacyGate {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
    pub(crate) hints: Arc<TurnHints>,
}

#[async_trait]
impl Provider for RequestPrivacyGate {
    fn server_id(&self) -> String {
        self.provider.server_id()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let turn = &self.hints.turn;
        if !self.privacy_guard.is_request_current(turn).await.unwrap_or(false) {
            return Err(ModelError::Outdated(user_texts::note_became_private()));
        }
        if let Some(rules_file) = self.hints.rules_file.get() {
            let is_shown = self.privacy_guard.shows_note_to(turn, rules_file).await;
            if !is_shown.unwrap_or(false) {
                return Err(ModelError::Outdated(user_texts::rules_file_hidden(rules_file)));
            }
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
