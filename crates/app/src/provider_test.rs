//! Whether who answers does, and which models they have: the Test button, and keys before they are stored.

use std::sync::Arc;

use futures_util::StreamExt as _;
use llm::ModelError;
use llm::model::{Block, ModelEvent, ModelMessage, ModelRequest};
use protocol::request::{KeyTrial, ProviderTest};
use protocol::{AppEvent, Role};
use secrecy::SecretString;

use crate::app::App;
use crate::open_vault::Surroundings;
use crate::provider::Chosen;
use crate::secrets;

impl App {
    /// Asks the provider for one word, and which models it has.
    pub async fn test_provider(&self) -> ProviderTest {
        let chosen = self.around().answering.get().await;
        let told = |ok, message| ProviderTest { ok, message, unlisted: None };
        if !chosen.status.has_model {
            return told(true, "Commands answer without a model: nothing to test.".to_owned());
        }
        self.around().config.up_to_date().await;
        if let Err(refused) = self.around().config.may_ask() {
            return told(false, refused.message);
        }
        let unlisted = self.list_models(&chosen).await.err().map(|error| error.to_string());
        let answered = match &chosen.provider {
            Ok(provider) => {
                one_word(&**provider, chosen.model.clone()).await.map_err(|error| error.to_string())
            }
            Err(error) => Err(error.message.clone()),
        };
        let (ok, message) = match answered {
            Ok(()) => (true, "It answers.".to_owned()),
            Err(message) => (false, message),
        };
        ProviderTest { ok, message, unlisted }
    }

    /// Has whoever answers try keys that are stored nowhere, one or several: asks for one word with each.
    /// The keys are in no log and no error.
    pub async fn try_key(&self, keys: SecretString) -> KeyTrial {
        self.around().config.up_to_date().await;
        if let Err(refused) = self.around().config.may_ask() {
            return KeyTrial::Untried { message: refused.message };
        }
        let vendor = self.around().answering.get().await.vendor;
        for key in secrets::several(&keys) {
            let chosen = self.around().answering.with_key(self.choice(), vendor, key).await;
            let tried = match (&chosen.provider, &chosen.lists) {
                (Ok(provider), _) => one_word(&**provider, chosen.model.clone()).await,
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

    /// What a provider without a list has is what is known already.
    async fn list_models(&self, chosen: &Arc<Chosen>) -> Result<(), ModelError> {
        let Some(lists) = &chosen.lists else { return Ok(()) };
        let listed = lists.models().await?;
        let Surroundings { answering, feed, config, .. } = self.around();
        let users = config.get().models;
        let models = llm::models::offered(llm::models::Vendor::Other, &users, &listed);
        if !listed.is_empty()
            && let Some(provider) = answering.listed(chosen, models)
        {
            feed.tell(AppEvent::ProviderChanged { provider });
            // Its list may say how much the model takes in.
            if let Some(open) = self.opened().await {
                open.measure_again();
            }
        }
        Ok(())
    }
}

async fn one_word(provider: &dyn llm::provider::Provider, model: String) -> Result<(), ModelError> {
    let request = ModelRequest {
        model,
        system: "Answer with the one word: ready".to_owned(),
        tools: Vec::new(),
        messages: vec![ModelMessage {
            role: Role::User,
            blocks: vec![Block::Text("Are you there?".to_owned())],
        }],
        max_tokens: 16,
    };
    let mut stream = provider.stream(request).await?;
    while let Some(event) = stream.next().await {
        if let ModelEvent::Stopped { .. } = event? {
            return Ok(());
        }
    }
    Err(ModelError::Network("The answer broke off: try again.".to_owned()))
}
