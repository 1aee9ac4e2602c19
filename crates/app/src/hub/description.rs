//! Has a model write the description that a hub's router reads, from the user's text about the notes and nothing else.

use std::sync::Arc;

use llm::hub_description::{DescriptionAnswer, describe};
use protocol::{ErrorCode, UserError};
use store::Store;

use crate::App;
use crate::app::services::AppServices;
use crate::models::model_info;
use crate::models::spending::{self, SpendingGate};
use crate::user_texts;

impl App {
    /// A description of the open vault for a hub, from the user's text on how the notes are
    /// organized; nothing else is sent. It is paid for and not saved. `None` when it was stopped,
    /// or another one was begun.
    pub async fn write_description(&self, organisation: &str) -> Result<Option<String>, UserError> {
        if organisation.trim().is_empty() {
            return Err(UserError::other(user_texts::nothing_to_draft_from()));
        }
        let stopped = self.description_task().restart();
        let open = self.session().await?;
        let written = stopped.run_until_cancelled(self.describe(&open.store, organisation));
        open.tasks.until_cancelled(written).await.flatten().transpose()
    }

    /// Stops writing it: the request is dropped at once.
    pub fn stop_description(&self) {
        self.description_task().restart();
    }

    async fn describe(&self, store: &Store, organisation: &str) -> Result<String, UserError> {
        let AppServices { config, model_selector, .. } = self.services();
        config.reload_if_changed().await;
        let settings = config.get();
        let chosen = model_selector.selected().await;
        if !chosen.status.has_model {
            return Err(UserError::other(user_texts::no_model_for_description()));
        }
        config.ensure_models_allowed()?;
        let config = config.clone();
        let provider = chosen.gated(|provider| Arc::new(SpendingGate { provider, config }))?;
        let by = model_info::compaction_model_for(&settings, &chosen, provider).await;
        if !spending::has_month_budget(store, &settings.spending, by.price).await? {
            return Err(UserError::new(
                ErrorCode::Spending,
                user_texts::monthly_limit_before_send(),
            ));
        }
        let DescriptionAnswer { text, usage: asked } = describe(&by, organisation).await?;
        store.record_standalone_usage(&asked).await?;
        text.ok_or_else(|| UserError::other(user_texts::no_usable_description()))
    }
}
