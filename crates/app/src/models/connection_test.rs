//! Tests a provider: whether it answers, and which models it has. For the Test button, and for keys before they are stored.

use std::sync::Arc;

use futures_util::StreamExt as _;
use llm::ModelError;
use llm::model::{ContentBlock, ModelEvent, ModelMessage, ModelRequest};
use protocol::request::{KeyTrial, ProviderTestResult};
use protocol::{AppEvent, Role};
use secrecy::SecretString;

use crate::app::App;
use crate::app::services::AppServices;
use crate::models::selection::{ModelProvider, SelectedModel, SelectionInput};
use crate::settings::secrets;
use crate::user_texts;

impl App {
    /// Asks the provider for one word, and which models it has. While no model is chosen and there is
    /// no default, its list of models shows that it answers.
    pub async fn test_provider(&self) -> ProviderTestResult {
        let chosen = self.services().model_selector.selected().await;
        if !chosen.status.has_model {
            let message = "No provider is selected, so there’s nothing to test.".to_owned();
            return ProviderTestResult { ok: true, message, unlisted: None };
        }
        self.services().config.reload_if_changed().await;
        if let Err(refused) = self.services().config.ensure_models_allowed() {
            let unlisted = Some(refused.message.clone());
            return ProviderTestResult { ok: false, message: refused.message, unlisted };
        }
        let unlisted = self.list_models(&chosen).await.err().map(|error| error.to_string());
        let answered = match (&chosen.provider, &unlisted) {
            (Ok(provider), _) => ask_one_word(&**provider, chosen.model.clone())
                .await
                .map(|()| "Connected.".to_owned())
                .map_err(|error| error.to_string()),
            (Err(_), None) if chosen.needs_model() => Ok("Connected. Choose a model.".to_owned()),
            (Err(_), Some(unlisted)) if chosen.needs_model() => Err(unlisted.clone()),
            (Err(error), _) => Err(error.message.clone()),
        };
        let ok = answered.is_ok();
        let message = answered.unwrap_or_else(|message| message);
        ProviderTestResult { ok, message, unlisted }
    }

    /// Has the selected provider try keys that are not stored, one or several: asks for one word
    /// with each. The keys are in no log and no error. Where another provider or server is selected
    /// meanwhile, they count as untried.
    pub async fn try_key(&self, keys: SecretString) -> KeyTrial {
        self.services().config.reload_if_changed().await;
        if let Err(refused) = self.services().config.ensure_models_allowed() {
            return KeyTrial::Untried { message: refused.message };
        }
        let target = self.key_target().await;
        let choice = match self.choice_for(&target).await {
            Ok(choice) => choice,
            Err(changed) => return KeyTrial::Untried { message: changed.message },
        };
        let tried = self.try_each_key(&keys, &choice, target.model_provider).await;
        match self.choice_for(&target).await {
            Ok(_) => tried,
            Err(changed) => KeyTrial::Untried { message: changed.message },
        }
    }

    async fn try_each_key(
        &self,
        keys: &SecretString,
        choice: &SelectionInput,
        provider: ModelProvider,
    ) -> KeyTrial {
        for key in secrets::several(keys) {
            let selector = &self.services().model_selector;
            let chosen = selector.with_key(choice.clone(), provider, key).await;
            let tried = match (&chosen.provider, &chosen.model_lister) {
                (Ok(provider), _) => ask_one_word(&**provider, chosen.model.clone()).await,
                // No model is chosen yet: the list of models wants the key too.
                (Err(_), Some(lists)) => lists.models().await.map(drop),
                (Err(error), None) => return KeyTrial::Untried { message: error.message.clone() },
            };
            match tried {
                Ok(()) => {}
                Err(error @ (ModelError::Auth(_) | ModelError::KeyFailed(_))) => {
                    return KeyTrial::Refused { message: error.to_string() };
                }
                Err(error) => return KeyTrial::Untried { message: error.to_string() },
            }
        }
        KeyTrial::Works
    }

    /// A provider without a list keeps the models that are known already.
    async fn list_models(&self, chosen: &Arc<SelectedModel>) -> Result<(), ModelError> {
        let Some(lists) = &chosen.model_lister else { return Ok(()) };
        let listed = lists.models().await?;
        let AppServices { model_selector: answering, feed, config, .. } = self.services();
        let users = config.get().models;
        if !listed.is_empty()
            && let Some(provider) = answering.set_model_list(chosen, listed, &users)
        {
            feed.publish(AppEvent::ProviderChanged { provider });
            // Its list may tell the context window.
            if let Some(open) = self.open_session().await {
                open.chats.meter.measure_again();
            }
        }
        Ok(())
    }
}

async fn ask_one_word(
    provider: &dyn llm::provider::Provider,
    model: String,
) -> Result<(), ModelError> {
    let request = ModelRequest {
        model,
        system: "Answer with the one word: ready".to_owned(),
        tools: Vec::new(),
        messages: vec![ModelMessage {
            role: Role::User,
            blocks: vec![ContentBlock::Text("Are you there?".to_owned())],
        }],
        max_tokens: 16,
    };
    let mut stream = provider.stream(request).await?;
    while let Some(event) = stream.next().await {
        if let ModelEvent::Stopped { .. } = event? {
            return Ok(());
        }
    }
    Err(ModelError::Network(user_texts::connection_lost()))
}
