//! Facts about a model: its limits and price, how private the notes are that it may see, and which one summarizes.

use std::sync::Arc;

use llm::ports::turn_policy::Summarizer;
use llm::{Capabilities, Provider};
use protocol::{ModelInfo, Privacy, Settings};

use crate::models::selection::{SelectedModel, is_cloud_model};

/// How private what `chosen` may see is at most, its server asked where its model runs.
pub(crate) async fn effective_privacy(model: &SelectedModel) -> Privacy {
    match (model.max_privacy, &model.provider) {
        (Privacy::Local, Ok(provider)) => {
            max_privacy(model, provider.capabilities(&model.model).await)
        }
        (shown, _) => shown,
    }
}

pub(crate) fn max_privacy(chosen: &SelectedModel, capabilities: Capabilities) -> Privacy {
    match chosen.max_privacy {
        // The server is here and the model is not.
        Privacy::Local if capabilities.runs_elsewhere => Privacy::Open,
        shown => shown,
    }
}

/// The model for requests that are not answers: that of `provider`, or the one that the user chose
/// for summaries.
pub(crate) async fn compaction_model_for(
    settings: &Settings,
    chosen: &SelectedModel,
    provider: Arc<dyn Provider>,
) -> Summarizer {
    let own = chosen.model.clone();
    let mut model = match settings.compaction.model.trim() {
        "" => own.clone(),
        model => model.to_owned(),
    };
    let mut capabilities = provider.capabilities(&model).await;
    // The conversation was shown to the model that answers, on this computer; no other computer reads it.
    let leaves = capabilities.runs_elsewhere || is_cloud_model(&model);
    if model != own && leaves && chosen.max_privacy == Privacy::Local {
        capabilities = provider.capabilities(&own).await;
        model = own;
    }
    let known = model_info(settings, chosen, &model, capabilities);
    let (price, window) = (known.price, context_window(&known, chosen));
    Summarizer { provider, model, price, window, prompt: settings.compaction.prompt.clone() }
}

/// Returns everything that is known of a model: the user's settings come first, then what its
/// server reports as it runs, then its provider's list or our own.
pub(crate) fn model_info(
    settings: &Settings,
    chosen: &SelectedModel,
    model: &str,
    capabilities: Capabilities,
) -> ModelInfo {
    let listed = llm::providers::model_catalog::lookup(model, &[], &chosen.status.models)
        .unwrap_or_default();
    let id = model.to_owned();
    let running = ModelInfo { id, window: capabilities.window, ..ModelInfo::default() };
    let users = settings.models.iter().find(|users| users.id == model).cloned();
    let running = running.or(listed);
    match users {
        Some(users) => users.or(running),
        None => running,
    }
}

/// The context window of the model; if it is unknown, the one that most models have.
pub(crate) fn context_window(known: &ModelInfo, model: &SelectedModel) -> u32 {
    known.window.unwrap_or(model.default_window)
}
