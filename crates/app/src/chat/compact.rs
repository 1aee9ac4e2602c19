//! Summarizes earlier messages when the user asks for it.

use llm::service::SummarizeOutcome;
use protocol::{ConversationId, UserError};

use crate::app::App;
use crate::chat::Chats;
use crate::models::spending;
use crate::user_texts;

impl App {
    /// Summarizes the earlier messages of a conversation, so that the model reads less. Fails with
    /// the reason when it is not possible now; the feed shows the result.
    pub async fn compact(&self, conversation: &ConversationId) -> Result<(), UserError> {
        self.session().await?.chats.compact(conversation).await
    }

    /// Resolves when nothing is done for a conversation while it rests.
    pub async fn wait_for_idle_work(&self, conversation: &ConversationId) -> Result<(), UserError> {
        self.session().await?.chats.service.wait_until_idle_task_done(conversation).await;
        Ok(())
    }
}

impl Chats {
    async fn compact(&self, conversation: &ConversationId) -> Result<(), UserError> {
        let last = self.store.last_shown_turn(conversation).await?;
        let outcome = match last {
            Some(turn) => self.service.summarize(&turn).await?,
            None => SummarizeOutcome::TooShort,
        };
        let refusal = match outcome {
            SummarizeOutcome::Done => return Ok(()),
            SummarizeOutcome::NoModel => {
                if self.model_selector.selected().await.status.has_model {
                    spending::ensure_month_budget(&self.store, &self.config.get().spending).await?;
                }
                user_texts::no_model_for_summary()
            }
            SummarizeOutcome::TooShort => user_texts::nothing_to_summarize(),
            SummarizeOutcome::NoSummary => user_texts::no_shorter_summary(),
            SummarizeOutcome::Disturbed => user_texts::summary_interrupted(),
        };
        Err(UserError::other(refusal))
    }
}
