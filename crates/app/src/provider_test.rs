//! Whether who answers does, and which models they have: the Test button.

use std::sync::Arc;

use futures_util::StreamExt as _;
use llm::model::{Block, ModelEvent, ModelMessage, ModelRequest};
use protocol::request::ProviderTest;
use protocol::{AppEvent, Role};

use crate::app::App;
use crate::open_vault::Surroundings;
use crate::provider::Chosen;

impl App {
    /// Asks the provider for one word, and which models it has.
    pub async fn test_provider(&self) -> ProviderTest {
        let chosen = self.around().answering.get().await;
        if !chosen.status.has_model {
            let message = "Commands answer without a model: nothing to test.".to_owned();
            return ProviderTest { ok: true, message };
        }
        self.around().config.up_to_date().await;
        if let Err(refused) = self.around().config.may_ask() {
            return ProviderTest { ok: false, message: refused.message };
        }
        self.list_models(&chosen).await;
        let answered = match &chosen.provider {
            Ok(provider) => one_word(&**provider, chosen.model.clone()).await,
            Err(error) => Err(error.message.clone()),
        };
        match answered {
            Ok(()) => ProviderTest { ok: true, message: "It answers.".to_owned() },
            Err(message) => ProviderTest { ok: false, message },
        }
    }

    /// What a provider without a list has is what is known already.
    async fn list_models(&self, chosen: &Arc<Chosen>) {
        let Some(lists) = &chosen.lists else { return };
        let Ok(listed) = lists.models().await else { return };
        let Surroundings { answering, feed, config, .. } = self.around();
        let users = config.get().models;
        let models = llm::models::offered(llm::models::Vendor::Other, &users, &listed);
        if !listed.is_empty()
            && let Some(provider) = answering.listed(chosen, models)
        {
            feed.tell(AppEvent::ProviderChanged { provider });
        }
    }
}

async fn one_word(provider: &dyn llm::provider::Provider, model: String) -> Result<(), String> {
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
    let mut stream = provider.stream(request).await.map_err(|error| error.to_string())?;
    while let Some(event) = stream.next().await {
        if let ModelEvent::Stopped { .. } = event.map_err(|error| error.to_string())? {
            return Ok(());
        }
    }
    Err("The answer broke off: try again.".to_owned())
}
